/**
 * Calls that may have happened and whose result nobody has: after a crash or a lost answer. Made again they would happen
 * twice, so the same call asks first (gateway.md 9). Read from the history of a run, so that a doubt outlives any number
 * of restarts. A result that was withheld leaves no doubt that it happened (`kept-results.ts`).
 */
import type { RunEvent } from "../core/event.ts";
import { harmsTwice } from "./call.ts";
import { doubtsMax } from "./limits.ts";
import { joinedCause } from "./lineage.ts";

/** By digest of the call, when it was allowed: in ms since 1970, which moments count from in production. */
export function doubtsIn(events: readonly RunEvent[]): ReadonlyMap<string, number> {
  const calls = new Map<string, { readonly digest: string; readonly at: number }>();
  const doubts = new Map<string, number>();
  for (const event of events) {
    if (event.kind === "allowed") {
      // Consent to make it again has settled the question.
      if (event.consent !== undefined) doubts.delete(event.digest);
      if (harmsTwice(event.option.contract)) calls.set(event.call, event);
    } else if (event.kind === "unknown" || event.kind === "released") {
      const call = event.call === undefined ? undefined : calls.get(event.call);
      if (call === undefined) continue;
      if (event.kind === "released") doubts.delete(call.digest);
      else if (event.cause !== "cancelled" && event.cause !== joinedCause) doubts.set(call.digest, call.at);
    }
    const oldest = doubts.size > doubtsMax ? doubts.keys().next() : undefined;
    if (oldest?.done === false) doubts.delete(oldest.value);
  }
  return doubts;
}
