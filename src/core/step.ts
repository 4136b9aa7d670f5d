/**
 * The decision core: `step` decides one moment, `evolve` folds one event.
 *
 * Precedence, in this order:
 *  1. a mechanism that throws denies;
 *  2. a settled deny decides, whatever is still unknown;
 *  3. open questions are asked;
 *  4. the strictest opinion wins; reasons and obligations of all add up.
 * A call is also judged as an entry of the list, so that what is hidden cannot be called. An answer that is
 * unavailable is never looser than what its question states for that case.
 */
import type { Decision } from "./decision.ts";
import type { RunEvent } from "./event.ts";
import { questionsMax, reasonsMax } from "./limits.ts";
import type { Engine, Judged, SealedMechanism } from "./mechanism.ts";
import type { ArgumentLabel, CallMoment, CallOption, Moment } from "./moment.ts";
import type { Answers, Obligation, Opinion, Question, Reason, Settled } from "./opinion.ts";
import { noObjection } from "./opinion.ts";
import { err, ok } from "./result.ts";
import type { Result } from "./result.ts";
import type { Run } from "./run.ts";
import type { Verdict } from "./verdict.ts";
import { atLeastAsStrict, stricter } from "./verdict.ts";

export type Step =
  | { readonly kind: "asking"; readonly questions: readonly Question[] }
  | { readonly kind: "decided"; readonly decision: Decision };

const noOption: Result<undefined, string> = ok(undefined);

/** Decides a moment of a run, or says what must be known first. Pure and total. */
export function step<Q>(engine: Engine<Q>, run: Run<Q>, moment: Moment, answers: Answers): Step {
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
 * Folds one event into a run. An event that is no move of the model is an error: the caller must deny (R3). A throw is
 * such an error, too: a value that makes a mechanism fail must neither pass nor stop the process.
 */
export function evolve<Q>(engine: Engine<Q>, run: Run<Q>, event: RunEvent): Result<Run<Q>, string> {
  try {
    return folded(engine, run, event);
  } catch (thrown) {
    return err(`the event could not be folded: ${textOf(thrown)}`);
  }
}

function folded<Q>(engine: Engine<Q>, run: Run<Q>, event: RunEvent): Result<Run<Q>, string> {
  const next = engine.model.next(run.q, event);
  if (!next.ok) return next;
  const moved: Run<Q> = { key: run.key, q: next.value, memories: run.memories };
  let memories: Map<string, unknown> | undefined;
  for (const mechanism of engine.mechanisms) {
    const before = run.memories.get(mechanism.id);
    const after = mechanism.remember(before, event, moved);
    // Most memories are an index of their own, or nothing: there is no new map for what stays the same.
    if (after !== before) (memories ??= new Map(run.memories)).set(mechanism.id, after);
  }
  return ok(memories === undefined ? moved : { ...moved, memories });
}

/** The moment itself, and for a call also the list entry: the same function decides both, so they cannot differ. */
function views(moment: Moment, option: CallOption | undefined): readonly Judged[] {
  if (moment.kind !== "call") return [{ moment, option }];
  const entry: Moment = { kind: "expose", at: moment.at, contract: moment.contract };
  return [
    { moment: entry, option },
    { moment, option },
  ];
}

function optionOf<Q>(engine: Engine<Q>, run: Run<Q>, moment: CallMoment): Result<CallOption, string> {
  const labels = labelsOf(engine, run, moment);
  if (!labels.ok) return labels;
  try {
    return ok({ class: engine.model.classify(moment), contract: moment.contract, arguments: labels.value });
  } catch (thrown) {
    return err(`the call could not be classified: ${textOf(thrown)}`);
  }
}

/** What the arguments of a call are labelled, in the run as it is now. */
export function labelsOf<Q>(
  engine: Engine<Q>,
  run: Run<Q>,
  moment: CallMoment,
): Result<ReadonlyMap<string, ArgumentLabel>, string> {
  try {
    const labeller = engine.mechanisms.find((mechanism) => mechanism.labels);
    const known = labeller?.label(moment, run, run.memories.get(labeller.id)) ?? new Map<string, ArgumentLabel>();
    // Every argument must have a label: one that the labeller forgot keeps the worst.
    const complete = Object.keys(moment.arguments).every((name) => known.has(name));
    return ok(complete ? known : new Map([...engine.model.unknownLabels(moment), ...known]));
  } catch (thrown) {
    return err(`the call could not be labelled: ${textOf(thrown)}`);
  }
}

/** `own`: the view is the moment itself. What answers are missing counts there, once for all views of a moment. */
type Hearing<Q> = { readonly run: Run<Q>; readonly answers: Answers; readonly own: boolean };

function opinionOf<Q>(mechanism: SealedMechanism<Q>, judged: Judged, { run, answers, own }: Hearing<Q>): Opinion {
  let opinion: Opinion;
  try {
    opinion = mechanism.consider(judged, run, run.memories.get(mechanism.id), answers);
  } catch (thrown) {
    return fault(mechanism.id, textOf(thrown));
  }
  if (opinion.kind === "needs") {
    const open = opinion.questions.filter((question) => !answers.has(question.key));
    if (open.length > 0) return { kind: "needs", questions: open };
    // Without a question nothing would state what its silence is worth.
    if (opinion.questions.length === 0) return fault(mechanism.id, "it needs answers and asks for none");
    // It asks again for what was answered: it will not settle, so its questions count as unavailable.
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

/** Raises an opinion to what its questions state for the case that they stay unanswered. */
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
  let unobserved: Verdict = "allow";
  const reasons: Reason[] = [];
  const obligations: Obligation[] = [];
  for (const opinion of opinions) {
    verdict = stricter(verdict, opinion.verdict);
    // Obligations hold together with the verdict, so they are kept even where another mechanism asks for more.
    for (const obligation of opinion.obligations) obligations.push(obligation);
    for (const reason of opinion.reasons) {
      // Why something is fine is nobody's question; that it costs something is.
      if (reason.verdict === "allow" && reason.observed !== true) continue;
      unobserved = stricter(unobserved, reason.verdict);
      if (!reasons.some((other) => sameReason(other, reason))) reasons.push(reason);
    }
  }
  unobserved = stricter(unobserved, verdict);
  sortReasons(reasons, verdict);
  obligations.sort((left, right) => byText(JSON.stringify(left), JSON.stringify(right)));
  return {
    kind: "decided",
    decision: { verdict, unobserved, reasons: reasons.slice(0, reasonsMax), obligations, option },
  };
}

/** What decided comes first, and what is only observed last. */
function sortReasons(reasons: Reason[], verdict: Verdict): void {
  const weight = (reason: Reason): number => (reason.observed === true ? 2 : reason.verdict === verdict ? 0 : 1);
  reasons.sort((left, right) => weight(left) - weight(right) || byText(reasonKey(left), reasonKey(right)));
}

/** What is said and asked must not depend on the order of mechanisms. */
function byText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function reasonKey(reason: Reason): string {
  return `${reason.mechanism} ${reason.code} ${reason.rule ?? ""} ${JSON.stringify(reason.facts)}`;
}

function sameReason(left: Reason, right: Reason): boolean {
  return left.verdict === right.verdict && reasonKey(left) === reasonKey(right) && left.observed === right.observed;
}

/** Equal questions are one. Of two that differ under one key, one would be worth the other's when nobody answers. */
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

/** Who asks, and what no answer is worth. The content is in the key. */
function meaningOf(question: Question): string {
  const floor = question.mode === "required" ? question.unavailable : question.without;
  return JSON.stringify([question.mechanism, question.kind, question.mode, floor]);
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : "unknown fault";
}
