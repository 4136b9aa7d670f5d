/**
 * The part of a run's history that is more than its state: what calls in doubt and results behind consent are found in
 * (`in-doubt.ts`, `consent/withheld-recovery.ts`). All the rest of a long history is settled, and said by the state.
 *
 * The same call may be made again and again, and each of its events may settle what the ones before left open. So events
 * are kept by the digest of their call, and while one of that digest is in doubt or behind consent, all of them are.
 *
 * The work of each event does not depend on how many there were, since a history may have a million.
 */
import { harmsTwice } from "../../../core/contract.ts";
import type { RunEvent } from "../../../core/event.ts";
import { leavesDoubt } from "../in-doubt.ts";

/** Calls after which a call that has its outcome, and never a result, gets none any more. */
const resultWaitCallsMax = 1_000;

/** An event and its number among all of the history. */
type Numbered = { readonly number: number; readonly event: RunEvent };

/** What is open of all calls with one digest. */
type Open = {
  /** The events that are kept, by call. */
  readonly events: Map<string, Numbered[]>;
  /** Calls without a result, each with its number among all calls, the oldest first. */
  readonly calls: Map<string, number>;
  /** Calls of `events` that are none of these any more. */
  readonly closed: Set<string>;
  doubt: boolean;
  /** The call whose result waits behind consent. */
  withheld: string | undefined;
};

/** Events of one history, added in their order. */
export class UnsettledEvents {
  readonly #byDigest = new Map<string, Open>();
  readonly #digests = new Map<string, string>();
  #calls = 0;
  #events = 0;

  add(event: RunEvent): void {
    const number = (this.#events += 1);
    if (!("call" in event) || event.call === undefined) return;
    const { call } = event;
    if (event.kind === "dispatched") {
      this.#calls += 1;
      this.#digests.set(call, event.digest);
    }
    const digest = this.#digests.get(call);
    if (digest === undefined) return;
    const open = this.#byDigest.get(digest) ?? nothingOpen();
    this.#byDigest.set(digest, open);
    const known = open.events.get(call);
    if (known === undefined) open.events.set(call, [{ number, event }]);
    else known.push({ number, event });
    happened(open, event, { call, count: this.#calls });
    if (isSettled(open, this.#calls)) this.#byDigest.delete(digest);
  }

  /** The events that later ones can still be about, in order. */
  list(): readonly RunEvent[] {
    for (const [digest, open] of this.#byDigest) if (isSettled(open, this.#calls)) this.#byDigest.delete(digest);
    const kept = [...this.#byDigest.values()].flatMap(({ events }) => [...events.values()].flat());
    return kept.toSorted((left, right) => left.number - right.number).map(({ event }) => event);
  }
}

function nothingOpen(): Open {
  return { events: new Map(), calls: new Map(), closed: new Set(), doubt: false, withheld: undefined };
}

/** Forgets what is settled of one digest; whether that is all. `count`: calls so far. */
function isSettled({ events, calls, closed, doubt, withheld }: Open, count: number): boolean {
  if (doubt || withheld !== undefined) return false;
  for (const [call, since] of calls) {
    if (count - since <= resultWaitCallsMax) break;
    calls.delete(call);
    closed.add(call);
  }
  for (const call of closed) events.delete(call);
  closed.clear();
  return calls.size === 0;
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
    open.closed.delete(call);
  } else if (event.kind === "unknown") {
    if (leavesDoubt(event.cause) && harms(open, call)) open.doubt = true;
    close(open, call);
  } else if (event.kind === "released") {
    if (harms(open, call)) open.doubt = false;
    if (event.how === "withhold") open.withheld = call;
    else if (open.withheld === call) open.withheld = undefined;
    close(open, call);
  } else if (!open.calls.has(call)) open.closed.add(call);
}

function close({ calls, closed }: Open, call: string): void {
  calls.delete(call);
  closed.add(call);
}

function harms({ events }: Open, call: string): boolean {
  const known = events.get(call) ?? [];
  return known.some(({ event }) => event.kind === "dispatched" && harmsTwice(event.option.contract));
}
