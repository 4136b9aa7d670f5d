/**
 * The ask-and-answer loop around `step` (system.md 3). The common case, in which nothing must be asked, is decided in
 * the same turn and allocates no promise. When answers were needed, the last `step` runs on the state of the moment at
 * which they arrived, and `commit` runs in that same turn, so nothing can change between decision and event.
 */
import type { Decision } from "../../core/decision.ts";
import { roundsMax } from "../../core/limits.ts";
import type { Moment } from "../../core/moment.ts";
import type { Answer, Answers, NoAnswer, Question, Reason } from "../../core/opinion.ts";
import { step } from "../../core/step.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { AskedFor, Oracle } from "../ports/services.ts";

const noAnswers: Answers = new Map<string, Answer>();

export type MaybePromise<T> = T | Promise<T>;

/**
 * The oracle, and answers known beforehand: evidence that the gateway has itself, so that the oracle is not asked for
 * it.
 */
export type Evidence = { readonly oracle: Oracle; readonly known?: Answers | undefined };

/** Decides a moment of a run and commits the decision; answers that were used come along for the log. */
export function decide<T>(
  live: LiveRun,
  { oracle, known = noAnswers }: Evidence,
  moment: Moment,
  commit: (decision: Decision, answers: Answers) => T,
): MaybePromise<T> {
  const first = step(live.policy.engine, live.state, moment, known);
  if (first.kind === "decided") return commit(first.decision, known);
  return ask({ live, oracle, known, moment }, first.questions, commit);
}

type Asking = {
  readonly live: LiveRun;
  readonly oracle: Oracle;
  readonly known: Answers;
  readonly moment: Moment;
};

async function ask<T>(
  { live, oracle, known, moment }: Asking,
  questions: readonly Question[],
  commit: (decision: Decision, answers: Answers) => T,
): Promise<T> {
  const answers = new Map<string, Answer>(known);
  const about = { policy: live.policy.digest, run: live.key };
  let open = questions;
  for (let round = 0; round < roundsMax; round += 1) {
    for (const answer of await answered({ oracle, about }, open, live.policy.settings.answerWaitMsMax)) {
      answers.set(answer.question.key, answer);
    }
    const next = step(live.policy.engine, live.state, moment, answers);
    if (next.kind === "decided") return commit(next.decision, answers);
    open = next.questions;
  }
  return commit(denial("SG-ROUNDS", { rounds: roundsMax }), answers);
}

/** Every question gets an answer: one that the oracle leaves out, or fails at, is unavailable. */
async function answered(
  { oracle, about }: { readonly oracle: Oracle; readonly about: AskedFor },
  open: readonly Question[],
  budgetMs: number,
): Promise<readonly Answer[]> {
  let given: readonly Answer[] = [];
  let none: NoAnswer = { silence: "late", cause: "no answer" };
  try {
    given = await oracle.answer(open, budgetMs, about);
  } catch {
    none = { silence: "down", cause: "the oracle failed" };
  }
  const byKey = new Map(given.map((answer) => [answer.question.key, answer]));
  return open.map((question) => {
    const answer = byKey.get(question.key);
    // The question is ours, never the copy that came back: its floors must not change on the way.
    if (answer?.kind === "known") return { ...answer, question };
    if (answer === undefined) return { kind: "unavailable", question, ...none };
    const { cause, silence } = answer;
    return { kind: "unavailable", question, cause, ...(silence === undefined ? {} : { silence }) };
  });
}

/** A deny by the gateway itself, for what it cannot do or does not know. */
export function denial(code: string, facts: Reason["facts"] = {}, way?: string): Decision {
  const reason: Reason = { mechanism: "gateway", code, verdict: "deny", facts, ...(way === undefined ? {} : { way }) };
  return { verdict: "deny", enforcedVerdict: "deny", reasons: [reason], obligations: [], option: undefined };
}
