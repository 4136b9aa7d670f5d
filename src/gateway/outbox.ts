/**
 * The outbox (must by run end, M4): a call that a rule holds is kept and judged again, after every success of its run
 * and at the run's end. It lies with the run, not with the connection: what it waits for may happen at another server,
 * and a modern client's connection ends with each request. What is then allowed without being held is sent; its result
 * is not released, since nobody waits for it any more. What is still held at the end is dropped and reported.
 */
import type { Call } from "./call.ts";
import { heldCallsMax } from "./limits.ts";
import type { LiveRun } from "./live-run.ts";

/** `unreachable`: nothing connects the run to the call's server now. */
export type Flushed = "sent" | "held" | "refused" | "unreachable";

/** Judges a held call again and sends it if its rules now permit it. */
export type Flush<Q> = (call: Call<Q>) => Promise<Flushed>;

/** A call that was never sent, and why. */
export type Dropped<Q> = { readonly call: Call<Q>; readonly cause: Exclude<Flushed, "sent"> };

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

  /** Whether anything of the run waits. */
  holds(live: LiveRun<Q>): boolean {
    return this.#byRun.has(live);
  }

  /**
   * Judges what is held again, in the order in which it came, and gives what will never be sent. `last` = the run
   * ends: what is still held then is dropped as well.
   */
  async flush(live: LiveRun<Q>, last: boolean): Promise<readonly Dropped<Q>[]> {
    const held = this.#byRun.get(live);
    if (held === undefined) return [];
    // Taken out first: a call that is being flushed must not be flushed twice by two successes.
    this.#byRun.delete(live);
    const kept: Call<Q>[] = [];
    const dropped: Dropped<Q>[] = [];
    for (const call of held) {
      const flushed = await this.#flush(call);
      if (flushed === "sent") continue;
      if (last || flushed === "refused") dropped.push({ call, cause: flushed });
      else kept.push(call);
    }
    if (kept.length > 0) this.#byRun.set(live, [...kept, ...(this.#byRun.get(live) ?? [])]);
    return dropped;
  }
}
