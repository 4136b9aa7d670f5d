/** Lets old runs leave the log of a gateway while it serves, and destroys the keys of old days; never of a log in doubt. */
import type { EventLog, LogKeys } from "../../gateway/ports/store.ts";
import { prune } from "../../gateway/runs/retention/run-retention.ts";

const dayMs = 86_400_000;

/** Between two looks for what is old enough, and before the first one: a start has other work. */
const everyMs = 3_600_000;
const firstMs = 60_000;

/** Pauses are so many times as long as the work before them, and at least so long: a tenth of one processor. */
const pauseShare = 9;
const pauseMsMin = 10;

export type RetentionSetup = {
  readonly log: EventLog;
  readonly keys: Pick<LogKeys, "destroyBefore">;
  /** `audit.keepDays` of the policy whose settings hold for the log. */
  readonly keepDays: number;
  readonly clock: { readonly wallMs: () => number; readonly monotonicMs: () => number };
  readonly isOpen: (run: string) => boolean;
  /** False while the log is being checked, and for good where it cannot be believed: what is left of it is evidence. */
  readonly mayPrune: () => boolean;
  readonly tell: (sentence: string) => void;
};

/** Begins to look after the log; resolves the stop once nothing of it is under way any more. */
export function logRetention(setup: RetentionSetup): { readonly stop: () => Promise<void> } {
  const { log, keys, keepDays, clock, isOpen, mayPrune, tell } = setup;
  let stopped = false;
  let working: Promise<unknown> | undefined;
  let wake: () => void = () => undefined;
  const pause = async (workedMs: number): Promise<boolean> => {
    await new Promise<void>((resolve) => {
      wake = resolve;
      setTimeout(resolve, Math.max(pauseMsMin, pauseShare * workedMs)).unref();
    });
    return !stopped && mayPrune() && log.health().kind === "ok";
  };
  const sweep = (): void => {
    if (working !== undefined || stopped) return;
    const wallMs = clock.wallMs();
    try {
      keys.destroyBefore(wallMs - keepDays * dayMs);
    } catch {
      tell("Keys of old days cannot be destroyed: check that the key folder and its disk can be written.");
    }
    if (!mayPrune()) return;
    const way = { keepDays, wallMs, atMs: clock.monotonicMs, isOpen, pause };
    // A failure of the store is reported where its health is watched; the next look goes on where this one ended.
    const done = (): void => (working = undefined);
    working = prune(log, way).then(done, done);
  };
  const first = setTimeout(sweep, firstMs).unref();
  const later = setInterval(sweep, everyMs).unref();
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(first);
      clearInterval(later);
      wake();
      await working;
    },
  };
}
