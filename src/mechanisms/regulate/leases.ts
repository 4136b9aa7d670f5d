/**
 * Leases (foresight.md 3): tools that are there for a number of calls, or for a time after the run began. A tool under
 * several leases needs all of them. What is used up stays so within the run: only a trusted act starts a new one.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { RunEvent } from "../../core/event.ts";
import type { Reason } from "../../core/opinion.ts";
import { selects } from "../../policy/semantics/patterns.ts";
import type { Lease } from "../../policy/sections/regulation.ts";

/** `used` has one number for each lease that was used, by its place in the policy. */
export type Leases = { readonly begunAt: number | undefined; readonly used: ReadonlyMap<number, number> };

export const noLeases: Leases = { begunAt: undefined, used: new Map() };

/** Use of leases; a run whose history is lost may have used everything, for the longest time. */
export function leasesOf(leases: readonly Lease[], memory: Leases, lost: boolean): Leases {
  if (!lost) return memory;
  const used = new Map(leases.map((_, index) => [index, Number.POSITIVE_INFINITY] as const));
  return { begunAt: Number.NEGATIVE_INFINITY, used };
}

/** `until` is a monotonic time in milliseconds; undefined where the lease has no end in time. */
export type LeaseState =
  | { readonly kind: "open"; readonly callsLeft: number | undefined; readonly until: number | undefined }
  | { readonly kind: "used-up" }
  | { readonly kind: "over" };

/** Calls count from `dispatched`, so that calls in flight cannot share the last one. */
export function leasesAfter(leases: readonly Lease[], memory: Leases, event: RunEvent): Leases {
  // Without its beginning, a run is as old as the first thing that is known of it.
  const begunAt = event.kind === "begun" ? event.at : (memory.begunAt ?? event.at);
  if (event.kind !== "dispatched") return begunAt === memory.begunAt ? memory : { ...memory, begunAt };
  const used = new Map(memory.used);
  for (const [index, lease] of leases.entries()) {
    if (covers(lease, event.option.contract)) used.set(index, (used.get(index) ?? 0) + 1);
  }
  return { begunAt, used };
}

function covers(lease: Lease, contract: ToolContract): boolean {
  return lease.tools.some((selector) => selects(selector, contract));
}

/** State of the lease that stands at `index`, at a time. A lease has ended at the instant that its time is over. */
export function leaseState(lease: Lease, index: number, memory: Leases, at: number): LeaseState {
  const until = lease.forMs === undefined ? undefined : (memory.begunAt ?? at) + lease.forMs;
  if (until !== undefined && at >= until) return { kind: "over" };
  const callsLeft = lease.callsMax === undefined ? undefined : lease.callsMax - (memory.used.get(index) ?? 0);
  if (callsLeft !== undefined && callsLeft <= 0) return { kind: "used-up" };
  return { kind: "open", callsLeft, until };
}

/** The leases of a tool that have ended, as reasons: it is neither shown nor called. */
export function leaseReasons(
  leases: readonly Lease[],
  memory: Leases,
  contract: ToolContract,
  at: number,
): readonly Reason[] {
  return leases.flatMap((lease, index): readonly Reason[] => {
    if (!covers(lease, contract)) return [];
    const { kind } = leaseState(lease, index, memory, at);
    if (kind === "open") return [];
    const limit =
      kind === "over"
        ? `${Math.round((lease.forMs ?? 0) / 1_000)} s after the run began`
        : lease.callsMax === 1
          ? "1 call"
          : `${lease.callsMax} calls`;
    const facts = { ended: kind, limit };
    return [{ mechanism: "regulate", code: "SG-LEASE", verdict: "deny", facts, way: "start a new run for it" }];
  });
}

/** The next instant at which a lease ends by itself and a list has to change; undefined if none will. */
export function nextLeaseEnd(leases: readonly Lease[], memory: Leases, at: number): number | undefined {
  const ends = leases.flatMap((lease, index) => {
    const state = leaseState(lease, index, memory, at);
    return state.kind === "open" && state.until !== undefined ? [state.until] : [];
  });
  return ends.length === 0 ? undefined : Math.min(...ends);
}
