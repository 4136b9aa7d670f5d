/** Rebuilding a run from its log: the same fold that ran live, so the result is the same (DESIGN 3, laws). */
import type { RunEvent } from "../core/event.ts";
import type { Result } from "../core/result.ts";
import { err, ok } from "../core/result.ts";
import { evolve } from "../core/step.ts";
import type { LiveRun } from "./live-run.ts";
import { trackCalls } from "./live-run.ts";
import type { Clock } from "./services-port.ts";

/**
 * Events of the last run of a key, its ends included: a run that was stopped is told of others after that, and is stopped
 * all the same; what a run is told before it has begun is its own.
 */
export function lastRunIn(events: readonly RunEvent[]): readonly RunEvent[] {
  const begun = events.findLastIndex(({ kind }) => kind === "begun");
  const before = begun < 0 ? events : events.slice(0, begun);
  return events.slice(before.findLastIndex(({ kind }) => kind === "ended") + 1);
}

/** How many events are folded between two looks at the clock. */
export const foldsPerLook = 256;

/** Folds a history in place; an error when an event is no move of this policy's model or the time is used up. */
export function foldHistory<Q>(
  live: LiveRun<Q>,
  events: readonly RunEvent[],
  { clock, msMax }: { readonly clock: Clock; readonly msMax: number },
): Result<void, string> {
  const start = clock.monotonicMs();
  let folded = 0;
  for (const event of events) {
    const next = evolve(live.policy.engine, live.state, event);
    if (!next.ok) return err(next.error);
    live.state = next.value;
    trackCalls(live, event);
    folded += 1;
    if (folded % foldsPerLook === 0 && clock.monotonicMs() - start > msMax) {
      return err(`the run has ${events.length} events, folding them takes longer than ${msMax} ms`);
    }
  }
  return ok(undefined);
}
