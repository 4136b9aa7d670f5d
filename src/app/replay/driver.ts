/**
 * Drives runs of an engine without servers, in the order of the gateway: decide, dispatch, outcome, release. Nothing is
 * executed or written. Besides the gateway's own runs this is the only place that folds events.
 */
import type { Decision } from "../../core/decision.ts";
import type { RunEvent } from "../../core/event.ts";
import type { Json } from "../../core/json.ts";
import { roundsMax } from "../../core/limits.ts";
import { type Engine, begin } from "../../core/mechanism.ts";
import type { CallMoment, CallOption, Moment, ReleaseMoment } from "../../core/moment.ts";
import { filtersAmong } from "../../core/questions/prediction.ts";
import type { Answer, Answers, Question } from "../../core/opinion.ts";
import type { Result } from "../../core/result.ts";
import type { ModelState, Run } from "../../core/run.ts";
import { evolve, step } from "../../core/step.ts";
import type { Verdict } from "../../core/verdict.ts";
import { denial } from "../../gateway/decision/ask-loop.ts";
import type { LoadedPolicy, PolicyShares } from "../../gateway/ports/policy.ts";
import { releaseLabel, scopeOf } from "../../gateway/decision/release-label.ts";

export type AnswerTo = (question: Question) => Answer;

type Evidence = {
  readonly answer: AnswerTo;
  /** Evidence that is known before anything is asked. */
  readonly known?: Answers;
};

/** Answers every question with "unavailable". */
export const unanswered =
  (cause: string): AnswerTo =>
  (question) => ({ kind: "unavailable", question, cause });

/** A decision, and everything that it was decided with. */
export type Decided = { readonly decision: Decision; readonly answers: Answers };

/** Decides a moment as the gateway's ask loop does, with answers that are there at once. */
export function decide(engine: Engine, run: Run, moment: Moment, evidence: Evidence): Decision {
  return decideWith(engine, run, moment, evidence).decision;
}

function decideWith(engine: Engine, run: Run, moment: Moment, { answer, known }: Evidence): Decided {
  const answers = new Map(known);
  for (let round = 0; ; round += 1) {
    const found = step(engine, run, moment, answers);
    if (found.kind === "decided") return { decision: found.decision, answers };
    if (round === roundsMax) return { decision: denial("SG-ROUNDS", { rounds: roundsMax }), answers };
    for (const question of found.questions) answers.set(question.key, answer(question));
  }
}

/** The run after an event; an event that is not a move of the model is an error. */
export const moved = (engine: Engine, run: Run, event: RunEvent): Result<Run, string> => evolve(engine, run, event);

/** The event that puts a decided call on its way. */
export function dispatchOf(moment: CallMoment, option: CallOption): Extract<RunEvent, { kind: "dispatched" }> {
  const { at, call, method, arguments: given, digest } = moment;
  return { kind: "dispatched", at, call, method, option, arguments: given, digest };
}

/** A `tools/call` before it is decided. */
type Asked = Pick<CallMoment, "call" | "contract" | "arguments" | "digest"> & Partial<Pick<CallMoment, "workspace">>;

/** The result of a call, and what becomes of it by the verdict on it. */
export type Returned = {
  readonly value: Json;
  readonly failed?: boolean;
  readonly handing: (verdict: Verdict) => "pass" | "withhold" | "reject";
};

/** One run that goes on from event to event; an event that is not a move of the model throws. */
export class OfflineRun {
  readonly engine: Engine;
  readonly #answer: AnswerTo;
  readonly #principal: string;
  run: Run;
  /** Monotonic milliseconds of the next moment or event. */
  at: number;

  /** Begins a run at the time `at`, for a principal that the caller makes up. */
  constructor(
    engine: Engine,
    answer: AnswerTo,
    { key, principal, at }: { key: string; principal: string; at: number },
  ) {
    this.engine = engine;
    this.#answer = answer;
    this.#principal = principal;
    this.at = at;
    this.run = begin(engine, key, undefined);
    this.fold({ kind: "begun", at: 0, principal });
  }

  /** Leaves the run for a new one of the same owner: what runs share stays. */
  beginAnother(key: string): void {
    this.run = begin(this.engine, key, this.run.q);
    this.fold({ kind: "begun", at: this.at, principal: this.#principal });
  }

  /** Registers the text of the user. */
  instruct(value: string): void {
    this.fold({ kind: "registered", at: this.at, text: { source: "instruction", value } });
  }

  fold(event: RunEvent): void {
    const next = moved(this.engine, this.run, event);
    if (!next.ok) throw new Error(`an event is not a move of the model: ${next.error}`);
    this.run = next.value;
  }

  /** Decides a moment; what models say of the present list becomes an event, as in the gateway. */
  decide(moment: Moment): Decision {
    return this.#decide(moment).decision;
  }

  #decide(moment: Moment): Decided {
    const decided = decideWith(this.engine, this.run, moment, { answer: this.#answer });
    const { list } = filtersAmong(decided.answers);
    if (list !== undefined) this.fold({ kind: "foreseen", at: this.at, filter: list });
    return decided;
  }

  /** Decides a call; it is not on its way yet. */
  ask(asked: Asked): { readonly moment: CallMoment } & Decided {
    const moment: CallMoment = { kind: "call", at: this.at, method: "tools/call", workspace: [], ...asked };
    return { moment, ...this.#decide(moment) };
  }

  refuse(moment: CallMoment, { reasons }: Decision): void {
    const { call, digest } = moment;
    const { server, tool } = moment.contract;
    const codes = reasons.map(({ code }) => code);
    this.fold({ kind: "refused", at: this.at, call, server, tool, digest, codes });
  }

  /** Puts a decided call on its way, with what models said of the list after it. */
  dispatch(moment: CallMoment, option: CallOption, answers: Answers): void {
    const { call: filter } = filtersAmong(answers);
    this.fold({ ...dispatchOf(moment, option), ...(filter === undefined ? {} : { filter }) });
  }

  /** Ends a dispatched call with its result; the result is decided about and handed on, withheld or rejected. */
  settle({ call, contract }: CallMoment, option: CallOption, { value, failed = false, handing }: Returned): Verdict {
    const { at } = this;
    this.fold(failed ? { kind: "failed", at, call, noEffect: false } : { kind: "succeeded", at, call });
    const outcome = failed ? "failed" : "succeeded";
    const moment: ReleaseMoment = { kind: "release", at, call, contract, option, outcome, value };
    const { verdict, obligations } = this.decide(moment);
    const how = handing(verdict);
    const known = releaseLabel(obligations, contract, option);
    const { range: label, fields } = known;
    const { server, tool } = contract;
    const shown = how === "pass" ? { value } : {};
    this.fold({ kind: "released", at, call, server, tool, how, label, fields, ...scopeOf(known), ...shown });
    return verdict;
  }
}

/** Every run of an owner by its key, with the state that they share; a new key begins a run over it. */
export class SharedRuns {
  readonly #runs = new Map<string, Run>();
  readonly #engine: Engine;
  readonly #policy: PolicyShares;
  #shared: ModelState | undefined;

  constructor(policy: Pick<LoadedPolicy, "engine" | keyof PolicyShares>) {
    this.#engine = policy.engine;
    this.#policy = policy;
  }

  at(key: string): Run {
    const known = this.#runs.get(key);
    if (known !== undefined) return known;
    const begun = begin(this.#engine, key, this.#shared);
    this.#runs.set(key, begun);
    return begun;
  }

  set(key: string, run: Run): void {
    this.#runs.set(key, run);
  }

  end(key: string): void {
    this.#runs.delete(key);
  }

  /** Runs that begin from now on find nothing shared. */
  forgetShared(): void {
    this.#shared = undefined;
  }

  /** Folds an event, and lets every other run see what it changed of the shared state; the error leaves all as they were. */
  fold(key: string, event: RunEvent): Result<Run, string> {
    const before = this.at(key);
    const next = moved(this.#engine, before, event);
    if (!next.ok) return next;
    const { q } = next.value;
    this.#runs.set(key, next.value);
    if (!this.#policy.sharedChanged(before.q, q)) return next;
    this.#shared = q;
    for (const [other, run] of this.#runs)
      if (other !== key) this.#runs.set(other, { ...run, q: this.#policy.withShared(run.q, q) });
    return next;
  }
}
