/**
 * The outbox (must by run end, M4): a call that a rule holds is kept and judged again, after every success of its run
 * and at the run's end. What is then allowed without being held is sent; its result is not released, since nobody
 * waits for it any more. What is still held at the end is dropped and reported.
 */
import type { Call } from "./call.ts";
import { heldCallsMax } from "./limits.ts";
import type { LiveRun } from "./live-run.ts";

/** Sends a held call if its rules now permit it; `last` = the run ends, there is no later. */
export type Flush<Q> = (call: Call<Q>, last: boolean) => Promise<"sent" | "held" | "dropped">;

export class Outbox<Q> {
  readonly #byRun = new Map<LiveRun<Q>, Call<Q>[]>();
  readonly #flush: Flush<Q>;

  constructor(flush: Flush<Q>) {
    this.#flush = flush;
  }

  /** False when the run holds too many calls already. */
  hold(call: Call<Q>): boolean {
    const held = this.#byRun.get(call.live) ?? [];
    if (held.length >= heldCallsMax) return false;
    held.push(call);
    this.#byRun.set(call.live, held);
    return true;
  }

  held(live: LiveRun<Q>): readonly Call<Q>[] {
    return this.#byRun.get(live) ?? [];
  }

  /** Judges what is held again, in the order in which it came. */
  async flush(live: LiveRun<Q>, last: boolean): Promise<void> {
    const held = this.#byRun.get(live);
    if (held === undefined) return;
    // Taken out first: a call that is being flushed must not be flushed twice by two successes.
    this.#byRun.delete(live);
    const kept: Call<Q>[] = [];
    for (const call of held) if ((await this.#flush(call, last)) === "held") kept.push(call);
    if (kept.length > 0) this.#byRun.set(live, [...kept, ...(this.#byRun.get(live) ?? [])]);
  }
}
