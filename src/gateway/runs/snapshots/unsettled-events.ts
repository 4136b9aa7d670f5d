/**
 * The part of a run's history that is more than its state: what calls in doubt and results behind consent are found in
 * (`in-doubt.ts`, `consent/withheld-recovery.ts`). All the rest of a long history is settled, and said by the state.
 *
 * The same call may be made again and again, and each of its events may settle what the ones before left open. So events
 * are kept by the digest of their call, and leave together once nothing of that digest is open.
 */
import { harmsTwice } from "../../../core/contract.ts";
import type { RunEvent } from "../../../core/event.ts";
import { leavesDoubt } from "../in-doubt.ts";

/** Calls after which a call that has its outcome, and never a result, gets none any more. */
const resultWaitCallsMax = 1_000;

/** What is open of all calls with one digest. */
type Open = {
  events: RunEvent[];
  /** Calls without a result, each with its number among all calls. */
  readonly calls: Map<string, number>;
  doubt: boolean;
  /** The call whose result waits behind consent. */
  withheld: string | undefined;
};

/** The events that later ones can still be about, in order. */
export function unsettledEvents(events: readonly RunEvent[]): readonly RunEvent[] {
  const byDigest = new Map<string, Open>();
  const digests = new Map<string, string>();
  let count = 0;
  for (const event of events) {
    if (!("call" in event) || event.call === undefined) continue;
    if (event.kind === "dispatched") {
      count += 1;
      digests.set(event.call, event.digest);
    }
    const digest = digests.get(event.call);
    if (digest === undefined) continue;
    const open: Open = byDigest.get(digest) ?? { events: [], calls: new Map(), doubt: false, withheld: undefined };
    byDigest.set(digest, open);
    open.events.push(event);
    happened(open, event, { call: event.call, count });
    if (isSettled(open, count)) byDigest.delete(digest);
  }
  for (const [digest, open] of byDigest) if (isSettled(open, count)) byDigest.delete(digest);
  const kept = new Set([...byDigest.values()].flatMap((open) => open.events));
  return events.filter((event) => kept.has(event));
}

/** Forgets what is settled of one digest; whether that is all. `count`: calls so far. */
function isSettled(open: Open, count: number): boolean {
  if (open.doubt || open.withheld !== undefined) return false;
  const before = open.calls.size;
  for (const [call, since] of open.calls) if (count - since > resultWaitCallsMax) open.calls.delete(call);
  if (open.calls.size === 0) return true;
  const isOpen = (event: RunEvent): boolean => "call" in event && open.calls.has(event.call ?? "");
  if (before !== open.calls.size || !open.events.every(isOpen)) open.events = open.events.filter(isOpen);
  return false;
}

function happened(
  open: Open,
  event: RunEvent,
  { call, count }: { readonly call: string; readonly count: number },
): void {
  if (event.kind === "dispatched") {
    if (event.consent !== undefined) open.doubt = false;
    // The repetition has a result of its own.
    open.withheld = undefined;
    open.calls.set(call, count);
  } else if (event.kind === "unknown") {
    if (leavesDoubt(event.cause) && harms(open, call)) open.doubt = true;
    open.calls.delete(call);
  } else if (event.kind === "released") {
    if (harms(open, call)) open.doubt = false;
    if (event.how === "withhold") open.withheld = call;
    else if (open.withheld === call) open.withheld = undefined;
    open.calls.delete(call);
  }
}

function harms({ events }: Open, call: string): boolean {
  return events.some((one) => one.kind === "dispatched" && one.call === call && harmsTwice(one.option.contract));
}
