/** Lets old runs leave the log of a gateway while it serves, and destroys the keys of old days; never of a log in doubt. */
import type { Clock } from "../../gateway/ports/services.ts";
import type { EventLog, LogKeys } from "../../gateway/ports/store.ts";
import { type Over, type RetentionWay, prune } from "../../gateway/runs/retention/run-retention.ts";
import { many } from "./sentences.ts";

const dayMs = 86_400_000;

/** Between two looks for what is old enough, and before the first one: a start has other work. */
const everyMs = 3_600_000;
const firstMs = 60_000;

/** Pauses are so many times as long as the work before them, and at least so long: a tenth of one processor. */
const pauseShare = 9;
const pauseMsMin = 10;

/** A clock that goes forward by more than that was set, and how long it has to go on evenly before it is believed. */
const stepMs = 3_600_000;
const steadyMs = dayMs;

const mebibyte = 1_048_576;

/** What the policy keeps whose settings hold for the log: `audit.keepDays` and `audit.keepMb`. */
export type Keeping = Pick<RetentionWay, "keepDays" | "keepBytes">;

export type RetentionSetup = Keeping &
  Pick<RetentionWay, "isOpen" | "clients"> & {
    readonly log: EventLog;
    readonly keys: Pick<LogKeys, "destroyBefore">;
    readonly clock: Clock;
    /** False while the log is being checked, and for good where it cannot be believed: what is left of it is evidence. */
    readonly mayPrune: () => boolean;
    readonly tell: (sentence: string) => void;
  };

/** Why a log stays larger than its limit, for the operator. */
export function overSentence({ bytes, openRuns }: Over, keepBytes: number): string {
  const size = `The event log needs ${inMebibytes(bytes)}, more than its limit of ${inMebibytes(keepBytes)}`;
  return openRuns === 0
    ? `${size}: what is left does not leave, such as the starts of gateways, policies, and runs with a call in doubt. Raise \`audit.keepMb\`.`
    : `${size}: ${many(openRuns, "open run")} hold the rest, and an open run does not leave. \`sluicegate runs\` shows them and \`runs close\` ends one; or raise \`audit.keepMb\`.`;
}

export function inMebibytes(bytes: number): string {
  return `${(bytes / mebibyte).toFixed(1)} MiB`;
}

/** Destroys the keys of days that are too old; those that cannot be are reported, and tried again in an hour. */
export function destroyOldKeys(
  { keys, keepDays, tell }: Pick<RetentionSetup, "keys" | "keepDays" | "tell">,
  wallMs: number,
): void {
  try {
    keys.destroyBefore(wallMs - keepDays * dayMs);
  } catch {
    tell("Keys of old days cannot be destroyed: check that the key folder and its disk can be written.");
  }
}

/**
 * Whether the wall clock can be believed with what cannot be taken back. One that was set forward by mistake would make every
 * key and run old at once; for a day after such a step nothing is, so that it can be put right.
 */
function steadyClock({ clock, tell }: Pick<RetentionSetup, "clock" | "tell">): () => boolean {
  const ahead = (): number => clock.wallMs() - clock.monotonicMs();
  let known = ahead();
  let steadySince = Number.NEGATIVE_INFINITY;
  return () => {
    const now = ahead();
    if (now - known > stepMs) {
      steadySince = clock.monotonicMs();
      tell(
        "The clock of this machine was set forward: for a day no key is destroyed and nothing leaves the event log.",
      );
    }
    known = now;
    return clock.monotonicMs() - steadySince >= steadyMs;
  };
}

/** Begins to look after the log; resolves the stop once nothing of it is under way any more. */
export function logRetention(setup: RetentionSetup): { readonly stop: () => Promise<void> } {
  const { log, keys, keepDays, keepBytes, clock, isOpen, clients, mayPrune, tell } = setup;
  const isSteady = steadyClock(setup);
  let stopped = false;
  let told = false;
  let working: Promise<unknown> | undefined;
  let wake: () => void = () => undefined;
  const pause = async (workedMs: number): Promise<boolean> => {
    await new Promise<void>((resolve) => {
      wake = resolve;
      clock.after(Math.max(pauseMsMin, pauseShare * workedMs), resolve);
    });
    return !stopped && mayPrune() && log.health().kind === "ok";
  };
  const swept = async (wallMs: number): Promise<void> => {
    const atMs = (): number => clock.monotonicMs();
    const done = await prune(log, { keepDays, keepBytes, wallMs, atMs, isOpen, clients, pause });
    // A failure of the store is reported where its health is watched; the next look goes on where this one ended.
    if (!done.ok) return;
    const { over } = done.value;
    if (over !== undefined && !told) tell(overSentence(over, keepBytes ?? 0));
    told = over !== undefined;
  };
  const sweep = (): void => {
    next = clock.after(everyMs, sweep);
    if (!isSteady() || working !== undefined || stopped) return;
    const wallMs = clock.wallMs();
    destroyOldKeys({ keys, keepDays, tell }, wallMs);
    if (!mayPrune()) return;
    const done = (): void => (working = undefined);
    working = swept(wallMs).then(done, done);
  };
  let next = clock.after(firstMs, sweep);
  return {
    stop: async () => {
      stopped = true;
      next();
      wake();
      await working;
    },
  };
}
