/**
 * Messages to the client, in order. A message that waits for the log holds those behind it, so that progress never
 * overtakes the answer and order on the wire is order in the log. With nothing waiting, a message leaves at once.
 */
import { deliveriesMax } from "../ports/limits.ts";

export class Deliveries {
  #tail: Promise<void> | undefined;
  #waiting = 0;

  /** Runs `act` once the promise has resolved and everything before it has left. */
  after<T>(durable: Promise<T>, act: (value: T) => void): Promise<void> {
    this.#waiting += 1;
    const before = this.#tail;
    const mine = this.#deliver(before, durable, act);
    this.#tail = mine;
    return mine;
  }

  /** Runs `act` when everything before it has left. */
  now(act: () => void): void {
    if (this.#tail === undefined) return act();
    void this.after(Promise.resolve(), act);
  }

  /** The same for a message that the client does not wait for: false when too many wait already; then it is dropped. */
  offer(act: () => void): boolean {
    if (this.#waiting >= deliveriesMax) return false;
    this.now(act);
    return true;
  }

  async #deliver<T>(before: Promise<void> | undefined, durable: Promise<T>, act: (value: T) => void): Promise<void> {
    if (before !== undefined) await before;
    try {
      act(await durable);
    } catch {
      // A message that cannot be written is lost; those behind it must not wait for it.
    } finally {
      // Not before it has left: a message that comes in between would overtake it.
      this.#done();
    }
  }

  #done(): void {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#tail = undefined;
  }
}
