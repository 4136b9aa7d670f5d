/**
 * Finds the clients to notify that a list has changed because the state of a run did (formal.md 4.5: the list is a
 * function of the state). After a fold the lists that the run's clients were shown are judged again, all folds of a
 * moment at once, and a client is notified when, and only when, it would be shown something else now. A client that
 * gets no notice, or does not listen, is as safe as before: calls are judged by their option at dispatch, never by what
 * was listed.
 */
import type { ListMethod } from "../upstream/listed-tools.ts";
import { listLookShare, listLookWaitMsMax, listQuietMs } from "../ports/limits.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { Clock } from "../ports/services.ts";

/** The signature of a list of which nothing is hidden, marked or left out. */
export const plainSignature = "";

/** One way to a client: its connection, or a stream of changes that it asked for. */
export type Ear = {
  readonly server: string;
  /** Signature of each list as the client was last shown it, or notified of its change. */
  readonly told: Map<ListMethod, string>;
  /** A stream hears of lists that were shown on other connections of the run. */
  readonly stream: boolean;
  current(): LiveRun | undefined;
  /** The signature that the list has for the run now; undefined when the list is not known. */
  signature(live: LiveRun, method: ListMethod): Promise<string | undefined>;
  /** Notifies the client that these lists changed, if it may be notified. */
  tell(methods: readonly ListMethod[]): void;
};

export type Shown = {
  readonly live: LiveRun;
  readonly server: string;
  readonly method: ListMethod;
  readonly signature: string;
};

export class ListWatch {
  readonly #clock: Clock;
  readonly #ears = new Set<Ear>();
  readonly #moved = new Set<LiveRun>();
  /** The signature that each run was shown last, by server and list, on whatever connection. */
  readonly #shown = new WeakMap<LiveRun, Map<string, string>>();
  /** Lists on their way to a client: a client that gets the new list needs no notice of it. */
  readonly #answering = new WeakMap<LiveRun, Map<string, number>>();
  #timed = false;
  /** How long it took to look at lists last, in ms. */
  #busyMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A stream that opens now heard of whatever the run was shown before. */
  add(ear: Ear): void {
    const live = ear.current();
    const shown = live === undefined || !ear.stream ? undefined : this.#shown.get(live);
    for (const [key, signature] of shown ?? []) {
      const [method, ...server] = key.split(" ");
      if (server.join(" ") === ear.server) ear.told.set(method as ListMethod, signature); // keys are made by `keyOf`
    }
    this.#ears.add(ear);
    if (live !== undefined) this.moved(live);
  }

  remove(ear: Ear): void {
    this.#ears.delete(ear);
  }

  /** A list request is being answered; the returned function says that it was. */
  answering(live: LiveRun, server: string, method: ListMethod): () => void {
    const counts = this.#answering.get(live) ?? new Map<string, number>();
    this.#answering.set(live, counts);
    const key = keyOf(server, method);
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return () => {
      const left = (counts.get(key) ?? 1) - 1;
      if (left > 0) counts.set(key, left);
      else counts.delete(key);
      this.moved(live);
    };
  }

  /** A run was shown a list; true when it shows something else than the last one did. */
  shown({ live, server, method, signature }: Shown): boolean {
    const known = this.#shown.get(live) ?? new Map<string, string>();
    this.#shown.set(live, known);
    const before = known.get(keyOf(server, method)) ?? plainSignature;
    known.set(keyOf(server, method), signature);
    for (const ear of this.#ears) {
      if (ear.stream && ear.server === server && ear.current() === live) ear.told.set(method, signature);
    }
    return before !== signature;
  }

  /** Something that lists may depend on has changed in a run. */
  moved(live: LiveRun): void {
    if (this.#ears.size === 0) return;
    this.#moved.add(live);
    if (this.#timed) return;
    this.#timed = true;
    // A server may list so much that looking takes longer than calls do; a client that only calls must not wait.
    const restMs = Math.min(this.#busyMs * listLookShare, listLookWaitMsMax);
    this.#clock.after(Math.max(listQuietMs, restMs), () => {
      this.#timed = false;
      this.#busyMs = 0;
      const moved = new Set(this.#moved);
      this.#moved.clear();
      for (const ear of this.#ears) void this.#look(ear, moved);
    });
  }

  /** The same of several runs whose lists depend on their state. */
  stirred(members: Iterable<LiveRun>): void {
    if (this.#ears.size === 0) return;
    for (const live of members) if (live.policy.regulated && !live.ended) this.moved(live);
  }

  /** The run is over, and what hid something with it: the next message begins another one. */
  ended(live: LiveRun): void {
    for (const ear of this.#ears) {
      if (ear.current() !== live) continue;
      const hidden = [...ear.told].filter(([, signature]) => signature !== plainSignature).map(([method]) => method);
      for (const method of hidden) ear.told.set(method, plainSignature);
      if (hidden.length > 0) ear.tell(hidden);
    }
  }

  /** A throw is a bug of ours, and costs a notice only. */
  async #look(ear: Ear, moved: ReadonlySet<LiveRun>): Promise<void> {
    const live = ear.current();
    if (live === undefined || live.ended || !moved.has(live)) return;
    const changed: ListMethod[] = [];
    for (const [method, told] of ear.told) {
      if (this.#answering.get(live)?.has(keyOf(ear.server, method)) === true) continue;
      const begun = this.#clock.monotonicMs();
      const signature = await ear.signature(live, method).catch(() => undefined);
      this.#busyMs += this.#clock.monotonicMs() - begun;
      // The client may have been shown the list, or gone, while it was judged.
      if (signature === undefined || signature === told || ear.told.get(method) !== told || !this.#ears.has(ear)) {
        continue;
      }
      ear.told.set(method, signature);
      changed.push(method);
    }
    if (changed.length > 0) ear.tell(changed);
  }
}

function keyOf(server: string, method: ListMethod): string {
  return `${method} ${server}`;
}
