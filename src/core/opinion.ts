/** The opinion of a mechanism about a moment: a verdict with reasons and obligations, or open questions. Plain data. */
import type { Json } from "./json.ts";
import type { LabelRange } from "./label.ts";
import { type Verdict, stricter } from "./verdict.ts";

/** Reason of a verdict. `code` is stable (docs/errors.md); the renderer puts `facts` into its sentence. */
export type Reason = {
  readonly mechanism: string;
  readonly code: string;
  readonly verdict: Verdict;
  /** Id of the rule or hazard that decided. */
  readonly rule?: string;
  /** The operator's own sentence from the policy. */
  readonly why?: string;
  /** Names from the policy, numbers and times, never a value. `risks`: what a consent accepts, each `HAZARD MOVE`. */
  readonly facts: Readonly<Record<string, string | number | readonly string[]>>;
  /** Ids of hazards, requirements or losses that the rule serves. */
  readonly serves?: readonly string[];
  /** Remedy, a clause: the missing call, or the approver to ask. */
  readonly way?: string;
  /**
   * Set where the rule, server or policy is in observe mode: the reason is reported and does not decide. With the verdict
   * `allow` it is a warning: the call is permitted, and costs a tool that the policy wants to keep.
   */
  readonly observed?: true;
};

/** A duty of the gateway while the verdict stands. An obligation that it cannot meet makes the verdict a deny. */
export type Obligation =
  /** Open a window in the projection; `scope` is a `CallScope` as canonical JSON. */
  | { readonly kind: "isolate"; readonly scope: string }
  /** Label the result: `range` as a whole, `fields` where a part has another label. */
  | { readonly kind: "label"; readonly range: LabelRange; readonly fields: readonly FieldLabel[] }
  /** Blank the part of the result at this JSON Pointer. */
  | { readonly kind: "redact"; readonly pointer: string }
  /** Make this call of the gateway's own, in the name of the rule. */
  | {
      readonly kind: "perform";
      readonly rule: string;
      readonly server: string;
      readonly tool: string;
      readonly arguments: Json;
    }
  /**
   * Keep the call in the outbox until the rule lets it go; `way` names the condition. `since` is the place in the history
   * of the run at which it began to wait, for the moment at which it is judged again.
   */
  | { readonly kind: "hold"; readonly rule: string; readonly since: number; readonly way?: string }
  /** Refuse the moment and end the run: continuing it is too dangerous. */
  | { readonly kind: "end-run"; readonly rule: string }
  /** Only with a rejected result: take the server's admission back, and with `end` also end its process. */
  | { readonly kind: "revoke"; readonly server: string; readonly end: boolean; readonly rule: string }
  | { readonly kind: "notify"; readonly rule: string; readonly text: string };

/** Label of a part of a result; `pointer` is a JSON Pointer in which `*` stands for every element. */
export type FieldLabel = { readonly pointer: string; readonly range: LabelRange };

/**
 * A fact that a mechanism needs. Questions with one `key` share one answer, so they must agree on mechanism, kind and mode;
 * the engine denies where they do not. A required question without an answer counts as its `unavailable` verdict. An
 * advisory one counts as `without`, and its answer can only be stricter than that.
 */
export type Question = {
  readonly key: string;
  readonly mechanism: string;
  readonly kind: string;
  readonly content: Json;
} & (
  | { readonly mode: "required"; readonly unavailable: "deny" | "confirm" }
  | { readonly mode: "advisory"; readonly without: Verdict }
);

/**
 * How an oracle failed to answer: not in time, with a text that cannot be read, without a connection (or with an error in
 * place of an answer), or because its own limits forbade the question.
 */
export const silences = ["late", "garbled", "down", "unasked"] as const;
export type Silence = (typeof silences)[number];

/** Why there is no answer; `cause` is a clause. */
export type NoAnswer = { readonly silence: Silence; readonly cause: string };

/** Answer to a question; `cause` is a clause that says why there is none, `silence` its kind, where that is known. */
export type Answer =
  | { readonly kind: "known"; readonly question: Question; readonly value: Json }
  | {
      readonly kind: "unavailable";
      readonly question: Question;
      readonly cause: string;
      readonly silence?: Silence;
    };

/** Answers by the `key` of their question. */
export type Answers = ReadonlyMap<string, Answer>;

/** An opinion without open questions. */
export type Settled = {
  readonly kind: "settled";
  readonly verdict: Verdict;
  readonly reasons: readonly Reason[];
  readonly obligations: readonly Obligation[];
};

export type Opinion = Settled | { readonly kind: "needs"; readonly questions: readonly Question[] };

/** No objection, which is not a permission: the mechanism `tiers` permits. */
export const noObjection: Settled = { kind: "settled", verdict: "allow", reasons: [], obligations: [] };

const nothing: readonly Obligation[] = [];

/** The opinion with these reasons: as strict as the strictest reason that is not only observed. */
export function settled(reasons: readonly Reason[], obligations: readonly Obligation[] = nothing): Settled {
  if (reasons.length === 0 && obligations.length === 0) return noObjection;
  let verdict: Verdict = "allow";
  for (const reason of reasons) {
    if (reason.observed !== true) verdict = stricter(verdict, reason.verdict);
  }
  return { kind: "settled", verdict, reasons, obligations };
}
