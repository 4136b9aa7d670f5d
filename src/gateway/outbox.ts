/**
 * The outbox (must by run end, M4): a call that a rule holds is kept and judged again, after every success of its run
 * and at the run's end. It lies with the run, not with the connection: what it waits for may happen at another server,
 * and a modern client's connection ends with each request. What is then allowed without being held is sent; its result
 * is not released, since nobody waits for it any more. What is still held at the end is dropped and reported.
 */
import type { JsonObject } from "../core/json.ts";
import { heldCallsMax } from "./limits.ts";
import type { LiveRun } from "./live-run.ts";

/** A call that waits, as it will be made: of a call before a restart there is no more than this. */
export type Held<Q> = {
  /** Id of the call that was held; what leaves the outbox names it. */
  readonly id: string;
  readonly live: LiveRun<Q>;
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly digest: string;
  /** Digest of the tool as its server listed it then: another tool under the same name is not what was held. */
  readonly toolDigest: string | undefined;
};

/** `unreachable`: nothing connects the run to the call's server now. `unadmitted`: that server is in quarantine. */
export type Flushed = "sent" | "held" | "refused" | "unreachable" | "unadmitted" | "changed";

/** Judges a held call again and sends it if its rules now permit it. */
export type Flush<Q> = (held: Held<Q>) => Promise<Flushed>;

/** A call that was never sent, and why. `failed`: a bug of ours, and nobody knows how far it had come. */
export type Dropped<Q> = { readonly held: Held<Q>; readonly cause: Exclude<Flushed, "sent"> | "failed" };

/** What goes on waiting unless the run ends. */
const waits: ReadonlySet<Dropped<unknown>["cause"]> = new Set(["held", "unreachable", "unadmitted"]);

export class Outbox<Q> {
  readonly #byRun = new Map<LiveRun<Q>, Held<Q>[]>();
  readonly #flushing = new Map<LiveRun<Q>, Promise<unknown>>();
  /** Runs in which something has succeeded while their calls were being judged. */
  readonly #again = new Set<LiveRun<Q>>();
  readonly #flush: Flush<Q>;

  constructor(flush: Flush<Q>) {
    this.#flush = flush;
  }

  /** False when the run holds too many calls already. */
  hold(call: Held<Q>): boolean {
    const held = this.#byRun.get(call.live) ?? [];
    if (held.length >= heldCallsMax) return false;
    held.push(call);
    this.#byRun.set(call.live, held);
    return true;
  }

  /** Takes a call out without a word: nobody was told that it waits. */
  forget({ live, id }: Pick<Held<Q>, "live" | "id">): void {
    const left = this.#byRun.get(live)?.filter((held) => held.id !== id) ?? [];
    if (left.length > 0) this.#byRun.set(live, left);
    else this.#byRun.delete(live);
  }

  /** Whether anything of the run waits. */
  holds(live: LiveRun<Q>): boolean {
    return this.#byRun.has(live) || this.#flushing.has(live);
  }

  /**
   * Judges what is held again, in the order in which it came, and gives what will never be sent. `last` = the run
   * ends: what is still held then is dropped as well.
   */
  async flush(live: LiveRun<Q>, last: boolean): Promise<readonly Dropped<Q>[]> {
    for (let before = this.#flushing.get(live); before !== undefined; before = this.#flushing.get(live)) {
      if (!last) {
        this.#again.add(live);
        return [];
      }
      // The end waits for what is on its way, or what that keeps would be kept for ever.
      await before;
    }
    const flushing = this.#turns(live, last);
    this.#flushing.set(live, flushing);
    try {
      return await flushing;
    } finally {
      this.#flushing.delete(live);
    }
  }

  async #turns(live: LiveRun<Q>, last: boolean): Promise<readonly Dropped<Q>[]> {
    const dropped: Dropped<Q>[] = [];
    do {
      this.#again.delete(live);
      dropped.push(...(await this.#turn(live, last)));
    } while (this.#again.has(live) && this.#byRun.has(live));
    this.#again.delete(live);
    return dropped;
  }

  async #turn(live: LiveRun<Q>, last: boolean): Promise<readonly Dropped<Q>[]> {
    const taken = this.#byRun.get(live) ?? [];
    // Taken out first: a call that is being flushed must not be flushed twice by two successes.
    this.#byRun.delete(live);
    const kept: Held<Q>[] = [];
    const dropped: Dropped<Q>[] = [];
    for (const held of taken) {
      const cause = await this.#flush(held).catch(() => "failed" as const);
      if (cause === "sent") continue;
      if (last || !waits.has(cause)) dropped.push({ held, cause });
      else kept.push(held);
    }
    if (kept.length > 0) this.#byRun.set(live, [...kept, ...(this.#byRun.get(live) ?? [])]);
    return dropped;
  }
}
