/** Settings of the mechanism `projection`. */
import type { Json } from "../../core/json.ts";
import type { Lattice } from "../../core/label.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";

/** A model that is asked where rules do not speak. It chooses among names and tightens; it lifts nothing. */
export type JudgeUse = {
  /** Asked which of the names it is shown a call may connect to. */
  readonly domains: boolean;
  /** Asked about events that nothing explains. */
  readonly effects: boolean;
  /** Verdict on a result that the judge distrusts. */
  readonly onDistrust: "deny" | "confirm";
  /** Programs whose start it is not asked about; traced like all others. */
  readonly programs?: readonly string[];
};

export type ProjectionSettings = {
  readonly order: (server: string) => IsolationOrder | undefined;
  readonly lattice: Lattice;
  /** Digest of a canonical value: keys of questions. */
  readonly digest: (value: Json) => string;
  /** Trusted servers whose effects no judge is asked about (`exec_trace_whitelisted: false`); traced like all others. */
  readonly unjudged?: ReadonlySet<string>;
  readonly judge?: JudgeUse;
};
