/**
 * Long work beside calls: it stops after a few milliseconds and lets everything go first that is ready. Its limit counts
 * the time that it worked, not the time that others took meanwhile.
 */
import type { Clock } from "../ports/services.ts";
import type { Store } from "../ports/store.ts";

/** Work without a pause, in milliseconds: a call that comes meanwhile waits for that. */
const stretchMsMax = 2;

export class UnhurriedWork {
  readonly #clock: Clock;
  readonly #store: Pick<Store, "idle">;
  #since: number;
  #workedMs = 0;
  /** A call waits for it. */
  urgent = false;

  constructor(clock: Clock, store: Pick<Store, "idle">) {
    this.#clock = clock;
    this.#store = store;
    this.#since = clock.monotonicMs();
  }

  /** Milliseconds of work so far. */
  get workedMs(): number {
    return this.#workedMs + this.#clock.monotonicMs() - this.#since;
  }

  /** Makes way if this stretch was long; undefined where there is no need to wait. */
  pause(): Promise<void> | undefined {
    return this.#clock.monotonicMs() - this.#since < stretchMsMax ? undefined : this.#wait();
  }

  async #wait(): Promise<void> {
    this.#workedMs = this.workedMs;
    await this.#store.idle(this.urgent);
    this.#since = this.#clock.monotonicMs();
  }
}
