/**
 * Passes the restrictions of a run on to its relatives: its ancestors, and the runs that may hold the same conversation
 * as it or one of them (gateway.md 4). The open runs of a lineage have a stream for that, which each event enters once.
 * An ancestor outside of these gets the events in its own log: one that is not resumed in the same transaction, and it
 * folds them when it is resumed. Relations are kept by key, so that they hold whichever of the two is resumed first.
 */
import type { RunEvent } from "../../core/event.ts";
import { evolve } from "../../core/step.ts";
import type { Result } from "../../core/result.ts";
import type { DormantRuns } from "./dormant-runs.ts";
import type { EventBatch } from "./event-batch.ts";
import { type Arrival, type LiveRun, sameLattice, toTop } from "./live-run.ts";
import type { LineageStream } from "./streams/lineage-stream.ts";
import type { LineageStreams } from "./streams/lineage-streams.ts";
import { Images } from "./restrictive-images.ts";

type Kin = {
  readonly key: string;
  readonly ancestors: readonly string[];
  readonly groups: readonly string[];
  readonly lineage: string | undefined;
};

export type RelatedRunsSetup = {
  readonly find: (key: string) => LiveRun | undefined;
  readonly dormant: DormantRuns;
  readonly streams: LineageStreams;
  readonly fold: (live: LiveRun, image: RunEvent, batch: EventBatch) => Result<void, string>;
};

type Receivers = { readonly streams: ReadonlySet<LineageStream>; readonly keys: readonly string[] };

export class RelatedRuns {
  readonly #setup: RelatedRunsSetup;
  readonly #members = new Map<string, Set<LiveRun>>();

  constructor(setup: RelatedRunsSetup) {
    this.#setup = setup;
  }

  /** From now on the run hears of the others of its lineage, and they of it. */
  join(live: LiveRun): void {
    const { lineage } = live;
    if (lineage === undefined || live.spent) return;
    live.groups = [lineage, ...live.groups];
    const members = this.#members.get(lineage) ?? new Set();
    this.#members.set(lineage, members.add(live));
  }

  /** The stream of the lineage that a run belongs to, where there is one. */
  streamOf(live: LiveRun): LineageStream | undefined {
    return this.#streamIn(live);
  }

  #streamIn({ lineage, groups }: Pick<Kin, "lineage" | "groups">): LineageStream | undefined {
    return lineage === undefined || !groups.includes(lineage) ? undefined : this.#setup.streams.of(lineage);
  }

  leave(live: LiveRun, batch?: EventBatch): void {
    const { lineage } = live;
    if (lineage === undefined) return;
    this.#setup.streams.of(lineage)?.leave(live, batch);
    const members = this.#members.get(lineage);
    members?.delete(live);
    if (members?.size === 0) this.#members.delete(lineage);
    live.groups = live.groups.filter((group) => group !== lineage);
  }

  /** Keys of the open runs of a lineage, taken up or not. */
  keysOf(lineage: string): readonly string[] {
    const live = [...this.liveOf(lineage)].map(({ key }) => key);
    return [...live, ...this.#setup.dormant.ofLineage(lineage)];
  }

  /** The open runs of a lineage that are in memory. */
  liveOf(lineage: string): Iterable<LiveRun> {
    return this.#members.get(lineage) ?? [];
  }

  /** Passes the restrictions of a run to all its relatives; all events that must be logged go into the batch. */
  tell(live: LiveRun, images: readonly RunEvent[], batch: EventBatch): void {
    if (this.#isAlone(live)) return;
    const { policy, principal } = live;
    const { streams, keys } = this.#receivers(live);
    for (const stream of streams) {
      stream.post(live, images, batch);
      this.#setup.dormant.restrictLineage(stream.lineage, images, policy);
    }
    for (const key of keys) {
      const one = this.#setup.find(key);
      if (one === undefined) {
        batch.addAbsent(live, key, images);
        this.#setup.dormant.restrict(key, images, policy);
      } else if (one.arrived !== undefined) {
        // Its history is being read, with or without these. A run that only begins will read them in ours.
        for (const event of images) one.arrived.push({ event, from: { policy, principal }, logged: !one.begins });
        if (!one.begins) batch.addAbsent(live, key, images);
      } else this.#tellOne(live, one, images, batch);
    }
  }

  #tellOne(from: LiveRun, to: LiveRun, images: readonly RunEvent[], batch: EventBatch): void {
    if (!sameLattice(from.policy, to.policy)) {
      batch.addAbsent(from, to.key, images); // the log knows in which labels it was written
      return toTop(to, [from.key]);
    }
    to.restricts = true;
    for (const image of images) {
      if (this.#setup.fold(to, image, batch).ok) continue;
      toTop(to);
      batch.add(to, image); // folded again after a restart it leads there again
    }
  }

  #isAlone({ ancestors, groups }: LiveRun): boolean {
    if (ancestors.length > 0) return false;
    const { dormant, streams } = this.#setup;
    return groups.every(
      (group) =>
        streams.of(group) === undefined && this.#members.get(group)?.size === 1 && dormant.ofLineage(group).size === 0,
    );
  }

  /**
   * All open relatives, each once: ancestors and lineages of relatives are relatives. Those whose lineage has a stream
   * are behind that.
   */
  #receivers(live: LiveRun): Receivers {
    const found = new Set([live.key]);
    const streams = new Set<LineageStream>();
    const keys: string[] = [];
    const kin: Kin[] = [live];
    const visit = (key: string): void => {
      if (found.has(key)) return;
      const one = this.#setup.find(key) ?? this.#setup.dormant.kin(key);
      if (one === undefined || ("ended" in one && one.ended)) return;
      found.add(key);
      kin.push(one);
      if (this.#streamIn(one) === undefined) keys.push(key);
    };
    for (const { ancestors, groups } of kin) {
      for (const group of groups) {
        const stream = this.#setup.streams.of(group);
        if (stream !== undefined && streams.has(stream)) continue;
        if (stream !== undefined) streams.add(stream);
        for (const key of stream === undefined ? this.keysOf(group) : this.#outward(group)) visit(key);
      }
      for (const key of ancestors) visit(key);
    }
    return { streams, keys };
  }

  /** Runs of a lineage that have relatives outside of it. */
  #outward(lineage: string): readonly string[] {
    const found: string[] = [];
    for (const { key, ancestors, groups } of this.liveOf(lineage)) {
      if (ancestors.length > 0 || groups.length > 1) found.push(key);
    }
    for (const key of this.#setup.dormant.ofLineage(lineage)) if (this.#setup.dormant.isChild(key)) found.push(key);
    return found;
  }
}

/**
 * Folds the events that a run received while its history was read, unless they are among `read` and so folded already.
 * Gives those that it folded.
 */
export function settleArrived(live: LiveRun, read: readonly RunEvent[]): readonly Arrival[] {
  const arrived = live.arrived ?? [];
  live.arrived = undefined;
  if (arrived.length === 0) return arrived;
  const known = new Images(read);
  const own = arrived.filter(({ event }) => !known.has(event));
  for (const { event, from } of own) {
    const next = sameLattice(from.policy, live.policy) ? evolve(live.policy.engine, live.folded, event) : undefined;
    if (next?.ok === true) live.folded = next.value;
    else toTop(live);
  }
  return own;
}
