/**
 * What the gateway owes a run besides its calls: the outbox is judged again after every success, its behaviour is
 * looked back at, and at its end the operator learns what was never sent and what is still owed (formal.md 4.3, M4).
 */
import { appendBatch, Batch } from "./journal.ts";
import type { LiveRun } from "./live-run.ts";
import { outboxMoment } from "./log/waiting.ts";
import type { Dropped, Flush, Held } from "./outbox.ts";
import { Outbox } from "./outbox.ts";
import type { Occasion } from "./reflections.ts";
import { Reflections } from "./reflections.ts";
import type { CallName, LostCause } from "./resumed-outbox.ts";
import { resumedCall } from "./resumed-outbox.ts";
import type { Shared } from "./scene.ts";
import type { Waiting } from "./store-port.ts";

export class RunDuties<Q> {
  readonly #shared: () => Shared<Q>;
  readonly #outbox: Outbox<Q>;
  readonly #reflections = new Reflections<Q>();
  /** Sentences about calls that a restart lost, which the end of their run repeats. */
  readonly #lost = new WeakMap<LiveRun<Q>, readonly string[]>();

  /** `shared` is asked late: it holds this very object. */
  constructor(shared: () => Shared<Q>, flush: Flush<Q>) {
    this.#shared = shared;
    this.#outbox = new Outbox(flush);
  }

  /** Keeps a call until its rule lets it go; false when the run holds too many already. */
  hold(held: Held<Q>): boolean {
    return this.#outbox.hold(held);
  }

  /** Takes back what was held, before anybody was told of it. */
  unhold(held: Pick<Held<Q>, "live" | "id">): void {
    this.#outbox.forget(held);
  }

  /** A run is taken up again: what the log shows waiting is held again, or given up on record and with a word. */
  resumed(live: LiveRun<Q>, waiting: readonly Waiting[]): void {
    const { secrets } = this.#shared().services;
    const given: Given[] = [];
    const sentences: string[] = [];
    for (const one of waiting.filter(({ what }) => what === "call")) {
      const resumed = resumedCall(live, one, secrets.hash);
      if (resumed.kind === "held") {
        this.#outbox.hold(resumed.held);
        continue;
      }
      sentences.push(sentenceOf(resumed.name, resumed.cause));
      if (resumed.kind === "lost") given.push(resumed);
    }
    if (sentences.length > 0) this.#lost.set(live, sentences);
    if (given.length > 0) this.#tell(live, "lost", given);
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
    return [...(this.#lost.get(live) ?? []), ...dropped, ...owed];
  }

  /** Gives a sentence for each call that will never be sent; all of them are on record and told to the operator. */
  async #flush(live: LiveRun<Q>, last: boolean): Promise<readonly string[]> {
    const dropped = await this.#outbox.flush(live, last);
    const given = dropped.map(({ held, cause }) => ({ call: held.id, name: held, cause }));
    return given.length === 0 ? [] : this.#tell(live, "dropped", given);
  }

  /** `lost` are those of which the end of the run has yet to speak. */
  #tell(live: LiveRun<Q>, how: "dropped" | "lost", given: readonly Given[]): readonly string[] {
    const { log, human } = this.#shared().services;
    const batch = new Batch<Q>();
    batch.parts.push({ live, events: [] });
    const calls = given.map(({ call, cause }) => `${call} ${cause}`);
    void appendBatch(log, batch, { notes: { moment: outboxMoment, [how]: calls } });
    const sentences = given.map(({ name, cause }) => sentenceOf(name, cause));
    for (const sentence of sentences) human.notify(`Run ${live.key}: ${sentence}`.slice(0, 240));
    return sentences;
  }
}

type Cause = Dropped<unknown>["cause"] | LostCause;
type Given = { readonly call: string; readonly name: CallName; readonly cause: Cause };

const causes: Readonly<Record<Cause, string>> = {
  held: "what its rule waits for did not happen",
  refused: "the policy does not permit it any more",
  unreachable: "its server is not connected any more",
  unadmitted: "its server is not admitted any more",
  changed: "its server lists another tool under that name now",
  failed: "the gateway failed, and it may have left",
  unreadable: "its arguments were not kept over a restart of the gateway",
  policy: "the policy has changed since, over a restart of the gateway",
  repeated: "the same call was made since, before a restart of the gateway",
};

function sentenceOf({ server, tool }: CallName, cause: Cause): string {
  const never = cause === "failed" ? "was held and not seen to be sent" : "was held and never sent";
  const way = cause === "failed" ? "Check, before it is made again." : "Make the call again if it is still wanted.";
  return `\`${tool}\` of \`${server}\` ${never}: ${causes[cause]}. ${way}`;
}
