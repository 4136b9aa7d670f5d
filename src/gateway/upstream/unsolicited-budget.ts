/**
 * Messages that a server sends beside its answers: log lines, progress in words, questions. No client asked for them,
 * so the server alone decides how many come, and each one is judged, recorded and kept: without a bound one server
 * could take the disk, and the one thread that serves all of them (docs/decisions/0020). Messages beyond the bound are
 * dropped before they are judged, so nothing of them reaches an agent and no label is missed; their number is on record
 * in their run.
 */
import type { Message } from "../../wire/message.ts";
import {
  chatterCharactersMax,
  chatterCharactersPerSecond,
  chatterMessagesMax,
  chatterOverheadCharacters,
  chatterRecordMs,
  chatterUsersPerMessage,
} from "../ports/limits.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { Clock } from "../ports/services.ts";

/** How many messages of each run were dropped since that was put on record last. */
export type DroppedCounts = ReadonlyMap<LiveRun, number>;

const secondMs = 1_000;

/** The account of one connection to a server. */
export class UnsolicitedBudget {
  readonly #clock: Clock;
  readonly #record: (dropped: DroppedCounts) => void;
  #left = chatterCharactersMax;
  #paidAt: number;
  #second: number;
  #messages = 0;
  #dropped = new Map<LiveRun, number>();
  #timed = false;

  constructor(clock: Clock, record: (dropped: DroppedCounts) => void) {
    this.#clock = clock;
    this.#record = record;
    this.#paidAt = clock.monotonicMs();
    this.#second = this.#paidAt;
  }

  /** Whether a message may be judged and recorded in a run; one that may not is counted there. */
  take(message: Message, live: LiveRun): boolean {
    const now = this.#clock.monotonicMs();
    const earned = ((now - this.#paidAt) / secondMs) * chatterCharactersPerSecond;
    this.#left = Math.min(chatterCharactersMax, this.#left + earned);
    this.#paidAt = now;
    const cost = chatterOverheadCharacters + charactersOf(message);
    if (cost <= this.#left) {
      this.#left -= cost;
      return true;
    }
    this.#dropped.set(live, (this.#dropped.get(live) ?? 0) + 1);
    // The first goes on record at once, so that a crash forgets how much it was, and not that it was.
    if (!this.#timed) this.flush();
    return false;
  }

  /**
   * Counts a message that goes to so many users, whatever its ruling; true when the server should rest a second. To
   * hand a message on is far less than to read one, so only many users count.
   */
  isHasty(users: number): boolean {
    const now = this.#clock.monotonicMs();
    if (now - this.#second >= secondMs) [this.#second, this.#messages] = [now, 0];
    const before = Math.floor(this.#messages / chatterMessagesMax);
    this.#messages += Math.max(1, users / chatterUsersPerMessage);
    return Math.floor(this.#messages / chatterMessagesMax) > before;
  }

  /** Puts on record what was dropped. */
  flush(): void {
    if (this.#dropped.size === 0) return;
    const dropped = this.#dropped;
    this.#dropped = new Map();
    this.#record(dropped);
    if (this.#timed) return;
    this.#timed = true;
    this.#clock.after(chatterRecordMs, () => {
      this.#timed = false;
      this.flush();
    });
  }
}

/** Size of a message: in bytes as it came, and of one that was translated in characters of its JSON. */
function charactersOf(message: Message): number {
  if (message.kind === "response" || message.kind === "error") return 0;
  return message.raw?.length ?? JSON.stringify(message.params ?? null).length;
}
