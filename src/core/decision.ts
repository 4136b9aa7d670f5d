/** What was decided, with everything an explanation, an approval card or an audit record needs. */
import type { CallOption } from "./moment.ts";
import type { Obligation, Reason } from "./opinion.ts";
import type { Verdict } from "./verdict.ts";

export type Decision = {
  readonly verdict: Verdict;
  /** Reasons as strict as the verdict first; observed ones last. */
  readonly reasons: readonly Reason[];
  readonly obligations: readonly Obligation[];
  /** For a call: the option that was judged, with the label path of each argument. */
  readonly option: CallOption | undefined;
  /** Verdict had no rule been in observe mode; equal to `verdict` otherwise. */
  readonly unobserved: Verdict;
};
