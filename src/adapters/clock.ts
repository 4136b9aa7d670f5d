import { performance } from "node:perf_hooks";

/** Time source of adapters and gateway; tests pass their own. */
export type Clock = {
  /** Monotonic milliseconds since an arbitrary start: for waits, expiries and moments. Never steps back. */
  readonly monotonicMs: () => number;
  /** Milliseconds since 1970, for display and for timestamps that leave this process. May step. */
  readonly wallMs: () => number;
};

export const systemClock: Clock = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };

/** The clock of moments, which are logged and folded again by a later process. */
export type MomentClock = {
  /** Milliseconds; begins at the wall time of the process, and from then on only counts up. */
  readonly nowMs: () => number;
  /** Never before this: the last process may have stopped at a later time than the wall clock shows by now. */
  readonly goOnFrom: (at: number) => void;
};

/** Interval between two checks whether the machine was asleep. */
const lookMs = 1_000;

/** The two counts are taken one after the other, and the uptime is in hundredths of a second. */
const sleepMsMin = 1_000;

/**
 * On Linux the monotonic clock stands still while the machine sleeps, and the uptime does not (clock_gettime(2),
 * proc_uptime(5)): a permission for ten minutes must not outlast a night. `uptimeMs` gives undefined where it is not
 * known.
 */
export function momentClock(source: {
  readonly startWallMs: number;
  readonly runningMs: () => number;
  readonly uptimeMs: () => number | undefined;
}): MomentClock {
  const { runningMs, uptimeMs } = source;
  let start = source.startWallMs;
  let looked = runningMs();
  const uptimeAtStart = uptimeMs();
  const runningAtStart = looked;
  let slept = 0;
  const look = (running: number): void => {
    looked = running;
    const uptime = uptimeMs();
    if (uptime === undefined || uptimeAtStart === undefined) return;
    const missing = uptime - uptimeAtStart - (running - runningAtStart);
    if (missing - slept > sleepMsMin) slept = missing;
  };
  const nowMs = (): number => {
    const running = runningMs();
    if (running - looked >= lookMs) look(running);
    return start + running + slept;
  };
  return { nowMs, goOnFrom: (at) => (start += Math.max(0, at - nowMs())) };
}
