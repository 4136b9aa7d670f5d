/**
 * The decision core (system.md 3): `step` decides one moment, `evolve` folds one event.
 *
 * Precedence, in this order:
 *  1. a mechanism that throws denies;
 *  2. a settled deny decides, whatever is still unknown;
 *  3. open questions are asked;
 *  4. the strictest opinion wins; reasons and obligations of all add up.
 * A call is judged as an entry of the list as well, so a hidden tool cannot be called. Where an answer is missing, the
 * verdict is at least the one that its question states for that case.
 */
import type { Decision } from "./decision.ts";
import type { RunEvent } from "./event.ts";
import { questionsMax, reasonsMax } from "./limits.ts";
import type { Engine, MomentWithOption, SealedMechanism } from "./mechanism.ts";
import type { ArgumentLabel, CallMoment, CallOption, Moment } from "./moment.ts";
import {
  type Answers,
  type Obligation,
  type Opinion,
  type Question,
  type Reason,
  type Settled,
  noObjection,
} from "./opinion.ts";
import { err, ok, type Result } from "./result.ts";
import type { Run } from "./run.ts";
import { type Verdict, atLeastAsStrict, stricter } from "./verdict.ts";

/** Open questions, or the decision. The caller answers questions and calls `step` again with all answers so far. */
export type Step =
  | { readonly kind: "asking"; readonly questions: readonly Question[] }
  | { readonly kind: "decided"; readonly decision: Decision };

const noOption: Result<undefined, string> = ok(undefined);

/** Decides a moment of a run, or asks for the facts that it needs first. Pure and total. */
export function step(engine: Engine, run: Run, moment: Moment, answers: Answers): Step {
  const option = moment.kind === "call" ? optionOf(engine, run, moment) : noOption;
  if (!option.ok) return decided([fault("core", option.error)], undefined);
  const opinions: Settled[] = [];
  const open: Question[] = [];
  for (const judged of views(moment, option.value)) {
    for (const mechanism of engine.mechanisms) {
      const opinion = opinionOf(mechanism, judged, { run, answers, own: judged.moment === moment });
      if (opinion.kind === "needs") open.push(...opinion.questions);
      else opinions.push(opinion);
    }
  }
  const denied = opinions.some((opinion) => opinion.verdict === "deny");
  if (!denied && open.length > questionsMax) {
    return decided([...opinions, fault("core", `more than ${questionsMax} open questions`)], option.value);
  }
  if (denied || open.length === 0) return decided(opinions, option.value);
  const questions = distinct(open);
  if (questions.ok) return { kind: "asking", questions: questions.value };
  return decided([...opinions, fault("core", questions.error)], option.value);
}

/**
 * Folds one event into a run. An event that is not a move of the model is an error: the caller must deny. So is a throw: a
 * value that makes a mechanism fail must neither pass nor stop the process.
 */
export function evolve(engine: Engine, run: Run, event: RunEvent): Result<Run, string> {
  try {
    return folded(engine, run, event);
  } catch (thrown) {
    return err(`the event could not be folded: ${textOf(thrown)}`);
  }
}

function folded(engine: Engine, run: Run, event: RunEvent): Result<Run, string> {
  const next = engine.model.next(run.q, event);
  if (!next.ok) return next;
  const moved: Run = { key: run.key, q: next.value, memories: run.memories };
  let memories: Map<string, unknown> | undefined;
  for (const mechanism of engine.mechanisms) {
    const before = run.memories.get(mechanism.id);
    const after = mechanism.remember(before, event, moved);
    // Most memories are a mutable index, or nothing: no new map where none is replaced.
    if (after !== before) (memories ??= new Map(run.memories)).set(mechanism.id, after);
  }
  return ok(memories === undefined ? moved : { ...moved, memories });
}

/** The moment itself, and for a call also the list entry: the same function decides both, so they cannot differ. */
function views(moment: Moment, option: CallOption | undefined): readonly MomentWithOption[] {
  if (moment.kind !== "call") return [{ moment, option }];
  const entry: Moment = { kind: "expose", at: moment.at, contract: moment.contract };
  return [
    { moment: entry, option },
    { moment, option },
  ];
}

function optionOf(engine: Engine, run: Run, moment: CallMoment): Result<CallOption, string> {
  const labels = labelsOf(engine, run, moment);
  if (!labels.ok) return labels;
  try {
    return ok({ class: engine.model.classify(moment), contract: moment.contract, arguments: labels.value });
  } catch (thrown) {
    return err(`the call could not be classified: ${textOf(thrown)}`);
  }
}

/** Labels of the arguments of a call in the run as it is now, one for each. The error is a clause: the caller must deny. */
export function labelsOf(
  engine: Engine,
  run: Run,
  moment: CallMoment,
): Result<ReadonlyMap<string, ArgumentLabel>, string> {
  try {
    const labeller = engine.mechanisms.find((mechanism) => mechanism.labels);
    const known = labeller?.label(moment, run, run.memories.get(labeller.id)) ?? new Map<string, ArgumentLabel>();
    // An argument that the mechanism left out keeps the worst label.
    const complete = Object.keys(moment.arguments).every((name) => known.has(name));
    return ok(complete ? known : new Map([...engine.model.unknownLabels(moment), ...known]));
  } catch (thrown) {
    return err(`the call could not be labelled: ${textOf(thrown)}`);
  }
}

/** `own`: the view is the moment itself. Missing answers count there, once for all views of a moment. */
type Hearing = { readonly run: Run; readonly answers: Answers; readonly own: boolean };

function opinionOf(mechanism: SealedMechanism, judged: MomentWithOption, { run, answers, own }: Hearing): Opinion {
  let opinion: Opinion;
  try {
    opinion = mechanism.consider(judged, run, run.memories.get(mechanism.id), answers);
  } catch (thrown) {
    return fault(mechanism.id, textOf(thrown));
  }
  if (opinion.kind === "needs") {
    const open = opinion.questions.filter((question) => !answers.has(question.key));
    if (open.length > 0) return { kind: "needs", questions: open };
    // Without a question there is no verdict for a missing answer.
    if (opinion.questions.length === 0) return fault(mechanism.id, "it needs answers and asks for none");
    // All its questions are answered and it asks again: they count as unavailable, so that the loop ends.
    return floors(mechanism.id, opinion.questions, () => true, noObjection);
  }
  if (answers.size === 0 || !own) return opinion;
  const asked = [...answers.values()].filter((answer) => answer.question.mechanism === mechanism.id);
  const unavailable = new Set(
    asked.filter((answer) => answer.kind === "unavailable").map((answer) => answer.question.key),
  );
  return floors(
    mechanism.id,
    asked.map((answer) => answer.question),
    (question) => unavailable.has(question.key),
    opinion,
  );
}

/** Raises an opinion to the verdicts that its questions state for missing answers. */
function floors(
  id: string,
  questions: readonly Question[],
  missing: (question: Question) => boolean,
  opinion: Settled,
): Settled {
  let raised = opinion;
  for (const question of questions) {
    const floor: Verdict =
      question.mode === "advisory" ? question.without : missing(question) ? question.unavailable : "allow";
    if (atLeastAsStrict(raised.verdict, floor)) continue;
    const reason: Reason = {
      mechanism: id,
      code: "SG-ANSWER-UNAVAILABLE",
      verdict: floor,
      facts: { question: question.kind },
    };
    raised = { ...raised, verdict: stricter(raised.verdict, floor), reasons: [...raised.reasons, reason] };
  }
  return raised;
}

function fault(mechanism: string, detail: string): Settled {
  const reason: Reason = { mechanism, code: "SG-INTERNAL", verdict: "deny", facts: { detail } };
  return { kind: "settled", verdict: "deny", reasons: [reason], obligations: [] };
}

function decided(opinions: readonly Settled[], option: CallOption | undefined): Step {
  let verdict: Verdict = "allow";
  let enforcedVerdict: Verdict = "allow";
  const reasons: Reason[] = [];
  const obligations: Obligation[] = [];
  for (const opinion of opinions) {
    verdict = stricter(verdict, opinion.verdict);
    // Obligations hold together with the verdict, so they are kept even where another mechanism asks for more.
    for (const obligation of opinion.obligations) obligations.push(obligation);
    for (const reason of opinion.reasons) {
      // A reason to allow is not reported; a warning is.
      if (reason.verdict === "allow" && reason.observed !== true) continue;
      enforcedVerdict = stricter(enforcedVerdict, reason.verdict);
      if (!reasons.some((other) => sameReason(other, reason))) reasons.push(reason);
    }
  }
  enforcedVerdict = stricter(enforcedVerdict, verdict);
  sortReasons(reasons, verdict);
  obligations.sort((left, right) => byText(JSON.stringify(left), JSON.stringify(right)));
  return {
    kind: "decided",
    decision: { verdict, enforcedVerdict, reasons: reasons.slice(0, reasonsMax), obligations, option },
  };
}

/** Deciding reasons first, observed ones last. */
function sortReasons(reasons: Reason[], verdict: Verdict): void {
  const weight = (reason: Reason): number => (reason.observed === true ? 2 : reason.verdict === verdict ? 0 : 1);
  reasons.sort((left, right) => weight(left) - weight(right) || byText(reasonKey(left), reasonKey(right)));
}

/** Order by text: reasons and questions must not depend on the order of mechanisms. */
function byText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function reasonKey(reason: Reason): string {
  return `${reason.mechanism} ${reason.code} ${reason.rule ?? ""} ${JSON.stringify(reason.facts)}`;
}

function sameReason(left: Reason, right: Reason): boolean {
  return left.verdict === right.verdict && reasonKey(left) === reasonKey(right) && left.observed === right.observed;
}

/** Merges equal questions. An error where two differ under one key: a missing answer would count as the other's verdict. */
function distinct(questions: readonly Question[]): Result<readonly Question[], string> {
  const byKey = new Map<string, Question>();
  const torn: string[] = [];
  for (const question of questions) {
    const known = byKey.get(question.key);
    if (known === undefined) byKey.set(question.key, question);
    else if (meaningOf(known) !== meaningOf(question)) torn.push(question.key);
  }
  const [first] = torn.toSorted(byText);
  if (first !== undefined) return err(`two questions have one key: ${first}`);
  return ok([...byKey.values()].toSorted((left, right) => byText(left.key, right.key)));
}

/** Asking mechanism, kind, and the verdict for a missing answer. The content is in the key. */
function meaningOf(question: Question): string {
  const floor = question.mode === "required" ? question.unavailable : question.without;
  return JSON.stringify([question.mechanism, question.kind, question.mode, floor]);
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : "unknown fault";
}
