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
};

export type ProjectionSettings = {
  readonly order: (server: string) => IsolationOrder | undefined;
  readonly lattice: Lattice;
  /** Digest of a canonical value: keys of questions. */
  readonly digest: (value: Json) => string;
  /** Programs whose start no judge is asked about (`exec_trace_whitelisted`); traced like all others. */
  readonly unjudged?: true | readonly string[];
  readonly judge?: JudgeUse;
};
