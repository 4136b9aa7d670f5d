/** A question to a judge, `judge(question, evidence, schema) -> verdict` (foresight.md 4), as plain data and one reader. */
import type { JsonObject } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import type { ModelReply } from "../../gateway/ports/model.ts";

export type JudgeQuestion<V> = {
  /** The kind of question, with its version: answers to other questions are never mixed up with these. */
  readonly id: string;
  /** Constant words of ours. Evidence is never interpolated into them. */
  readonly instructions: string;
  readonly evidence: Evidence;
  /** JSON Schema of the answer; absent = the form that `instructions` describe. */
  readonly schema?: JsonObject;
  readonly probabilities?: true;
  readonly outputTokensMax: number;
  /** The verdict in an answer, or why there is none. Bounded and total: the text is as hostile as the evidence. */
  readonly read: (reply: ModelReply) => Result<V, string>;
  /** The same question with known evidence that holds an order, and how to see that the order was obeyed. */
  readonly canary?: { readonly question: JudgeQuestion<V>; readonly obeyed: (verdict: V) => boolean };
};

export type Evidence = {
  /** Names of the restrictions of everything in it (`restrictionNames`). */
  readonly labels: readonly string[];
  /** Everything, delimited, escaped and capped. */
  readonly values: () => string;
  /** Only what says nothing of the data: names that are public by nature, kinds, label names. */
  readonly shapes: () => string;
};
