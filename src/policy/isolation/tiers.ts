/** What the tiers of isolation differ in, as far as a policy has to know. */
import type { IsolationTier } from "../../core/scope.ts";

/** Whether a server of this tier has a network of its own, which `net: open` would take it out of. */
export function tierHasNetwork(tier: IsolationTier): boolean {
  return tier === "A" || tier === "A-";
}
