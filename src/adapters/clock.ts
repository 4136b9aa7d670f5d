import { performance } from "node:perf_hooks";

/** Time as adapters and the gateway read it; tests pass their own. */
export type Clock = {
  /** Monotonic milliseconds since an arbitrary start: for waits, expiries and moments. Never steps back. */
  readonly monotonicMs: () => number;
  /** Milliseconds since 1970, for people and for timestamps that leave this process. May step. */
  readonly wallMs: () => number;
};

export const systemClock: Clock = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };
