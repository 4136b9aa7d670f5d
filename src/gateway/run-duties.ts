/**
 * What the gateway owes a run besides its calls: the outbox is judged again after every success, its behaviour is
 * looked back at, and at its end the operator learns what was never sent and what is still owed (formal.md 4.3, M4).
 */
import type { Call } from "./call.ts";
import { appendBatch, Batch } from "./journal.ts";
import type { LiveRun } from "./live-run.ts";
import type { Dropped, Flush } from "./outbox.ts";
import { Outbox } from "./outbox.ts";
import type { Occasion } from "./reflections.ts";
import { Reflections } from "./reflections.ts";
import type { Shared } from "./scene.ts";

export class RunDuties<Q> {
  readonly #shared: () => Shared<Q>;
  readonly #outbox: Outbox<Q>;
  readonly #reflections = new Reflections<Q>();

  /** `shared` is asked late: it holds this very object. */
  constructor(shared: () => Shared<Q>, flush: Flush<Q>) {
    this.#shared = shared;
    this.#outbox = new Outbox(flush);
  }

  /** Keeps a call until its rule lets it go; false when the run holds too many already. */
  hold(call: Call<Q>): boolean {
    return this.#outbox.hold(call);
  }

  /** An outcome of a call: a success may free what the outbox holds, at whatever server. */
  settled(live: LiveRun<Q>, server: string, succeeded: boolean): void {
    this.#reflections.settled(this.#shared(), live, server);
    if (succeeded && this.#outbox.holds(live)) void this.#flush(live, false);
  }

  /** Looks back at a run; undefined where nothing had to be asked, so that the caller need not wait. */
  look(live: LiveRun<Q>, occasion: Occasion): Promise<unknown> | undefined {
    const looked = this.#reflections.look(this.#shared(), live, occasion);
    return looked instanceof Promise ? looked : undefined;
  }

  periodic(): void {
    this.#reflections.periodic(this.#shared());
  }

  /** The outbox is judged a last time, then what is still owed is said, one sentence for each debt. */
  async ending(live: LiveRun<Q>): Promise<readonly string[]> {
    const dropped = await this.#flush(live, true);
    const owed = await this.#reflections.look(this.#shared(), live, { cause: "end", server: undefined });
    return [...dropped, ...owed];
  }

  /** Gives a sentence for each call that will never be sent; all of them are on record and told to the operator. */
  async #flush(live: LiveRun<Q>, last: boolean): Promise<readonly string[]> {
    const dropped = await this.#outbox.flush(live, last);
    if (dropped.length === 0) return [];
    const { log, human } = this.#shared().services;
    const batch = new Batch<Q>();
    batch.parts.push({ live, events: [] });
    const calls = dropped.map(({ call, cause }) => `${call.id} ${cause}`);
    void appendBatch(log, batch, { notes: { moment: "outbox", dropped: calls } });
    const sentences = dropped.map(sentenceOf);
    for (const sentence of sentences) human.notify(`Run ${live.key}: ${sentence}`.slice(0, 240));
    return sentences;
  }
}

const causes: Readonly<Record<Dropped<unknown>["cause"], string>> = {
  held: "what its rule waits for did not happen",
  refused: "the policy does not permit it any more",
  unreachable: "its server is not connected any more",
};

function sentenceOf({ call, cause }: Dropped<unknown>): string {
  const { server, tool } = call.contract;
  return `\`${tool}\` of \`${server}\` was held and never sent: ${causes[cause]}. Make the call again if it is still wanted.`;
}
