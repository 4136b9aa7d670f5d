/** Rebuilding a run from its log: the same fold that ran live, so the result is the same (system.md 3.2). */
import type { RunEvent } from "../../core/event.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { evolve } from "../../core/step.ts";
import { type FoldedRun, type LiveRun, noteSource, trackCalls } from "./live-run.ts";
import type { Clock } from "../ports/services.ts";

/**
 * Events of the last run of a key, its ends included: a stopped run receives events of other runs after that, and stays
 * stopped; events that a run receives before it has begun are its own.
 */
export function lastRunIn(events: readonly RunEvent[]): readonly RunEvent[] {
  const begun = events.findLastIndex(({ kind }) => kind === "begun");
  const before = begun < 0 ? events : events.slice(0, begun);
  return events.slice(before.findLastIndex(({ kind }) => kind === "ended") + 1);
}

/**
 * Whether events are moves of a run, one after the other. They are tried on the model alone: a memory of a mechanism may
 * be a mutable index, so a fold cannot be undone.
 */
export function wouldMove(
  { ended, policy, state }: Pick<LiveRun, "ended" | "policy" | "state">,
  events: readonly RunEvent[],
): Result<void, string> {
  if (ended) return err("the run has ended");
  let { q } = state;
  try {
    for (const event of events) {
      const next = policy.engine.model.next(q, event);
      if (!next.ok) return next;
      q = next.value;
    }
  } catch {
    return err("the event could not be tried");
  }
  return ok(undefined);
}

/** How many events are folded between two looks at the clock. */
export const foldsPerLook = 256;

/** Folds one event of a history in place. */
export function foldInto(live: FoldedRun, event: RunEvent): Result<void, string> {
  const before = live.state.q;
  const next = evolve(live.policy.engine, live.state, event);
  if (!next.ok) return next;
  live.state = next.value;
  noteSource(live, event, before);
  trackCalls(live, event);
  return ok(undefined);
}

/** Folds a history in place; an error when an event is not a move of this policy's model or the time is used up. */
export function foldHistory(
  live: LiveRun,
  events: readonly RunEvent[],
  { clock, msMax }: { readonly clock: Clock; readonly msMax: number },
): Result<void, string> {
  const start = clock.monotonicMs();
  let folded = 0;
  for (const event of events) {
    const next = foldInto(live, event);
    if (!next.ok) return next;
    folded += 1;
    if (folded % foldsPerLook === 0 && clock.monotonicMs() - start > msMax) {
      return err(`the run has ${events.length} events, folding them takes longer than ${msMax} ms`);
    }
  }
  return ok(undefined);
}
