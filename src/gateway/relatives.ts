/**
 * Who must learn of what restricts a run: its ancestors, and the runs that may hold the same conversation as it or one
 * of them (gateway.md 4). Relations are kept by key, so that they hold whoever of the two is taken up first; to one
 * that nobody has taken up what it must learn is told in its log, in the same transaction, and it folds it then.
 */
import type { RunEvent } from "../core/event.ts";
import { evolve } from "../core/step.ts";
import type { Result } from "../core/result.ts";
import type { DormantRuns } from "./dormant-runs.ts";
import type { Batch } from "./journal.ts";
import { Images } from "./lineage.ts";
import type { Arrival, LiveRun } from "./live-run.ts";
import { sameLattice, toTop } from "./live-run.ts";

type Kin = { readonly key: string; readonly ancestors: readonly string[]; readonly groups: readonly string[] };

export type RelativesSetup<Q> = {
  readonly find: (key: string) => LiveRun<Q> | undefined;
  readonly dormant: DormantRuns<Q>;
  readonly fold: (live: LiveRun<Q>, image: RunEvent, batch: Batch<Q>) => Result<void, string>;
};

export class Relatives<Q> {
  readonly #setup: RelativesSetup<Q>;
  readonly #members = new Map<string, Set<LiveRun<Q>>>();

  constructor(setup: RelativesSetup<Q>) {
    this.#setup = setup;
  }

  /** From now on the run hears of the others of its lineage, and they of it. */
  join(live: LiveRun<Q>): void {
    const { lineage } = live;
    if (lineage === undefined || live.spent) return;
    live.groups = [lineage, ...live.groups];
    const members = this.#members.get(lineage) ?? new Set();
    this.#members.set(lineage, members.add(live));
  }

  leave(live: LiveRun<Q>): void {
    const { lineage } = live;
    if (lineage === undefined) return;
    const members = this.#members.get(lineage);
    members?.delete(live);
    if (members?.size === 0) this.#members.delete(lineage);
    live.groups = live.groups.filter((group) => group !== lineage);
  }

  /** Keys of the open runs of a lineage, taken up or not. */
  keysOf(lineage: string): readonly string[] {
    const live = [...(this.#members.get(lineage) ?? [])].map(({ key }) => key);
    return [...live, ...this.#setup.dormant.ofLineage(lineage)];
  }

  /** Tells all relatives of a run what restricts it; all that must be logged goes into the batch. */
  tell(live: LiveRun<Q>, images: readonly RunEvent[], batch: Batch<Q>): void {
    if (this.#isAlone(live)) return;
    const { policy, principal } = live;
    for (const key of this.#of(live)) {
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

  #tellOne(from: LiveRun<Q>, to: LiveRun<Q>, images: readonly RunEvent[], batch: Batch<Q>): void {
    if (!sameLattice(from.policy, to.policy)) {
      batch.addAbsent(from, to.key, images); // the log knows in which labels it was written
      return toTop(to);
    }
    for (const image of images) {
      if (this.#setup.fold(to, image, batch).ok) continue;
      toTop(to);
      batch.add(to, image); // folded again after a restart it leads there again
    }
  }

  #isAlone({ ancestors, groups }: LiveRun<Q>): boolean {
    if (ancestors.length > 0) return false;
    const { dormant } = this.#setup;
    return groups.every((group) => this.#members.get(group)?.size === 1 && dormant.ofLineage(group).size === 0);
  }

  /** Keys of all open relatives, each once: ancestors and lineages of relatives are relatives. */
  #of(live: LiveRun<Q>): readonly string[] {
    const found = new Set([live.key]);
    const kin: Kin[] = [live];
    const visit = (key: string): void => {
      if (found.has(key)) return;
      const one = this.#setup.find(key) ?? this.#setup.dormant.kin(key);
      if (one === undefined || ("ended" in one && one.ended)) return;
      found.add(key);
      kin.push(one);
    };
    for (const { ancestors, groups } of kin) {
      for (const key of ancestors) visit(key);
      for (const group of groups) for (const key of this.keysOf(group)) visit(key);
    }
    found.delete(live.key);
    return [...found];
  }
}

/**
 * Folds what a run was told while its history was read, unless it is among `read` and so folded already. Gives what is
 * in no log of its own yet.
 */
export function settleArrived<Q>(live: LiveRun<Q>, read: readonly RunEvent[]): readonly Arrival<Q>[] {
  const arrived = live.arrived ?? [];
  live.arrived = undefined;
  if (arrived.length === 0) return arrived;
  const known = new Images(read);
  const own = arrived.filter(({ event }) => !known.has(event));
  for (const { event, from } of own) {
    const next = sameLattice(from.policy, live.policy) ? evolve(live.policy.engine, live.state, event) : undefined;
    if (next?.ok === true) live.state = next.value;
    else toTop(live);
  }
  return own.filter(({ logged }) => !logged);
}
