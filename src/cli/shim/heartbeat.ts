/**
 * Notices a daemon that is connected and dead: frozen, or stuck in a loop. A request may take as long as its tool does,
 * so silence alone proves nothing; a daemon that answers no ping in time is lost.
 */
import { heartbeatMs, heartbeatMsMax } from "../../adapters/daemon/daemon-limits.ts";

export type HeartbeatSetup = {
  /** Whether the daemon answers, within a limit. */
  readonly ping: () => Promise<boolean>;
  readonly lost: () => void;
};

export class Heartbeat {
  readonly #setup: HeartbeatSetup;
  #timer: NodeJS.Timeout | undefined;
  /** The daemon has sent nothing since the client sent something. */
  #waiting = false;
  #waitMs = heartbeatMs;
  #stopped = false;

  constructor(setup: HeartbeatSetup) {
    this.#setup = setup;
  }

  /** The client has sent bytes. */
  sent(): void {
    if (!this.#waiting) this.#waitMs = heartbeatMs;
    this.#waiting = true;
    this.#arm();
  }

  /** The daemon has sent bytes. */
  received(): void {
    this.#waiting = false;
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#waiting) void this.#look();
    }, this.#waitMs);
  }

  async #look(): Promise<void> {
    const answers = await this.#setup.ping();
    if (this.#stopped || !this.#waiting) return;
    if (!answers) return this.#setup.lost();
    // A tool that works for long costs a ping a minute.
    this.#waitMs = Math.min(2 * this.#waitMs, heartbeatMsMax);
    this.#arm();
  }
}
