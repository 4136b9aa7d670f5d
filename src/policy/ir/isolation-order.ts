/** The isolation orders of a policy for its servers, as the gateway requests them. */
import type { IsolationOrder } from "../../core/isolation/scope.ts";

export type EffectsJudge = {
  /** Its name among the judges of the policy. */
  readonly use: string;
  readonly effects: boolean;
  readonly domains: boolean;
  readonly onDistrust: "deny" | "confirm";
  /** Programs whose start it is not asked about. */
  readonly programs: readonly string[];
};

export type Isolation = {
  /** Orders of servers that the policy speaks of by name, in alphabetical order. */
  readonly named: ReadonlyMap<string, IsolationOrder>;
  /** Order for any server; one that is not named gets the defaults. */
  readonly orderOf: (server: string) => IsolationOrder;
  /** Trusted servers that the judge is not asked about (`exec_trace_whitelisted: false`). Never a reason to trace less. */
  readonly unjudged: ReadonlySet<string>;
  readonly judge: EffectsJudge | undefined;
};

/** The order for a server; undefined where the policy does not speak of isolation at all. */
export function isolationOrder(
  compiled: { readonly isolation: Isolation | undefined },
  server: string,
): IsolationOrder | undefined {
  return compiled.isolation?.orderOf(server);
}
