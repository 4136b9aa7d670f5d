/** What a mechanism thinks of a moment, what it still has to ask, and what it wants done. All plain data. */
import type { Json } from "./json.ts";
import type { LabelRange } from "./label.ts";
import type { Verdict } from "./verdict.ts";
import { stricter } from "./verdict.ts";

/** Why a verdict was reached. `code` is stable (docs/errors.md); `facts` fill the sentence of the renderer. */
export type Reason = {
  readonly mechanism: string;
  readonly code: string;
  readonly verdict: Verdict;
  /** Rule, hazard or label that decided. */
  readonly rule?: string;
  /** The operator's own sentence from the policy. */
  readonly why?: string;
  /** `risks`, each `HAZARD MOVE`: what nobody could stop any more once a person has consented. */
  readonly facts: Readonly<Record<string, string | number | readonly string[]>>;
  /** Hazard, requirement or loss that the rule serves. */
  readonly serves?: readonly string[];
  /** What would change the verdict: the missing call, the question to a person. */
  readonly way?: string;
  /**
   * Set where the rule, server or policy is in observe mode: it is reported, and does not decide. With the verdict
   * `allow` it is a warning: the call is fine, and costs something that the user wanted to keep.
   */
  readonly observed?: true;
};

/** What the gateway must do if the verdict stands; one that it cannot do makes the verdict a deny. */
export type Obligation =
  | { readonly kind: "isolate"; readonly scope: string }
  | { readonly kind: "label"; readonly range: LabelRange; readonly fields: readonly FieldLabel[] }
  | { readonly kind: "redact"; readonly pointer: string }
  | {
      readonly kind: "perform";
      readonly rule: string;
      readonly server: string;
      readonly tool: string;
      readonly arguments: Json;
    }
  /** Keep the call until the rule lets it go; `way` names what that takes. */
  | { readonly kind: "hold"; readonly rule: string; readonly way?: string }
  /** Refuse what was judged, and end the run: what it holds has become too dangerous to go on with. */
  | { readonly kind: "end-run"; readonly rule: string }
  /** With a rejected result: the server loses its admission, and with `end` its life. A pass leaves both. */
  | { readonly kind: "revoke"; readonly server: string; readonly end: boolean; readonly rule: string }
  | { readonly kind: "notify"; readonly rule: string; readonly text: string };

export type FieldLabel = { readonly pointer: string; readonly range: LabelRange };

/**
 * A fact a mechanism needs. `key` is the question's content in canonical form: equal questions share an answer.
 * A required question that stays unanswered counts as its `unavailable` verdict; an advisory one as `without`, and its
 * answer can only be stricter than that.
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

export type Answer =
  | { readonly kind: "known"; readonly question: Question; readonly value: Json }
  | { readonly kind: "unavailable"; readonly question: Question; readonly cause: string };

export type Answers = ReadonlyMap<string, Answer>;

export type Settled = {
  readonly kind: "settled";
  readonly verdict: Verdict;
  readonly reasons: readonly Reason[];
  readonly obligations: readonly Obligation[];
};

export type Opinion = Settled | { readonly kind: "needs"; readonly questions: readonly Question[] };

/** "No objection": not a permission. Permission is what the mechanism `tiers` gives. */
export const noObjection: Settled = { kind: "settled", verdict: "allow", reasons: [], obligations: [] };

const nothing: readonly Obligation[] = [];

/** The opinion that these reasons make: as strict as the strictest of them that is not merely observed. */
export function settled(reasons: readonly Reason[], obligations: readonly Obligation[] = nothing): Settled {
  if (reasons.length === 0 && obligations.length === 0) return noObjection;
  let verdict: Verdict = "allow";
  for (const reason of reasons) {
    if (reason.observed !== true) verdict = stricter(verdict, reason.verdict);
  }
  return { kind: "settled", verdict, reasons, obligations };
}
