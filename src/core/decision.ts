/** A decision about one moment, with everything that an explanation, an approval card or an audit record needs. */
import type { CallOption } from "./moment.ts";
import type { Obligation, Reason } from "./opinion.ts";
import type { Verdict } from "./verdict.ts";

export type Decision = {
  readonly verdict: Verdict;
  /** At most `reasonsMax`: those as strict as the verdict first, observed ones last. */
  readonly reasons: readonly Reason[];
  readonly obligations: readonly Obligation[];
  /** For a call: its class, and the label and path of each argument. Undefined at other moments. */
  readonly option: CallOption | undefined;
  /** The verdict if no rule were in observe mode: at least as strict as `verdict`. */
  readonly enforcedVerdict: Verdict;
};
