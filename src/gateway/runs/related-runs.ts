/**
 * Passes the restrictions of a run on to its relatives: its ancestors, and the runs that may hold the same conversation
 * as it or one of them (gateway.md 4). Relations are kept by key, so that they hold whichever of the two is resumed
 * first; a relative that is not resumed gets the events in its log, in the same transaction, and folds them when it is
 * resumed. A run gets everything that restricts and nothing that permits, as events, so it goes through the same
 * `evolve` and the same log as everything else: a dispatch becomes a dispatch of unknown outcome (arms and counts,
 * unlocks nothing), a released value becomes a value held, and registered text, grants, consents and successes do not
 * travel.
 */
import type { RunEvent } from "../../core/event.ts";
import { evolve } from "../../core/step.ts";
import type { Result } from "../../core/result.ts";
import type { DormantRuns } from "./dormant-runs.ts";
import type { EventBatch } from "./event-batch.ts";
import { sameJson } from "./same-json.ts";
import { type Arrival, type LiveRun, sameLattice, toTop } from "./live-run.ts";

type Kin = { readonly key: string; readonly ancestors: readonly string[]; readonly groups: readonly string[] };

export type RelatedRunsSetup = {
  readonly find: (key: string) => LiveRun | undefined;
  readonly dormant: DormantRuns;
  readonly fold: (live: LiveRun, image: RunEvent, batch: EventBatch) => Result<void, string>;
};

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

  leave(live: LiveRun): void {
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

  /** Passes the restrictions of a run to all its relatives; all events that must be logged go into the batch. */
  tell(live: LiveRun, images: readonly RunEvent[], batch: EventBatch): void {
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

  #tellOne(from: LiveRun, to: LiveRun, images: readonly RunEvent[], batch: EventBatch): void {
    if (!sameLattice(from.policy, to.policy)) {
      batch.addAbsent(from, to.key, images); // the log knows in which labels it was written
      return toTop(to, [from.key]);
    }
    for (const image of images) {
      if (this.#setup.fold(to, image, batch).ok) continue;
      toTop(to);
      batch.add(to, image); // folded again after a restart it leads there again
    }
  }

  #isAlone({ ancestors, groups }: LiveRun): boolean {
    if (ancestors.length > 0) return false;
    const { dormant } = this.#setup;
    return groups.every((group) => this.#members.get(group)?.size === 1 && dormant.ofLineage(group).size === 0);
  }

  /** Keys of all open relatives, each once: ancestors and lineages of relatives are relatives. */
  #of(live: LiveRun): readonly string[] {
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
 * Folds the events that a run received while its history was read, unless they are among `read` and so folded already.
 * Gives the events that are not in its own log yet.
 */
export function settleArrived(live: LiveRun, read: readonly RunEvent[]): readonly Arrival[] {
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

type Released = Extract<RunEvent, { kind: "released" }>;

/** Images, each once: a call is identified by its id, which is never given twice, a value by all its members. */
export class Images {
  readonly #byMark = new Map<string, RunEvent[]>();

  constructor(images: Iterable<RunEvent> = []) {
    for (const image of images) this.add(image);
  }

  add(image: RunEvent): void {
    const mark = markOf(image);
    const alike = this.#byMark.get(mark);
    if (alike === undefined) this.#byMark.set(mark, [image]);
    else if (!alike.some((other) => sameImage(other, image))) alike.push(image);
  }

  has(image: RunEvent): boolean {
    return this.#byMark.get(markOf(image))?.some((other) => sameImage(other, image)) === true;
  }

  /** In the order in which they came, but those that share a mark together. */
  all(): readonly RunEvent[] {
    return [...this.#byMark.values()].flat();
  }
}

/**
 * A mark that nearly always distinguishes images: a value itself may be megabytes, and is compared only for equal
 * marks.
 */
function markOf(image: RunEvent): string {
  if (image.kind === "released") return `released ${image.at} ${image.server}\n${image.tool}`;
  return `${image.kind} ${"call" in image ? image.call : image.at}`;
}

function sameImage(left: RunEvent, right: RunEvent): boolean {
  if (left === right || left.kind !== "released" || right.kind !== "released") return true;
  return aside(left) === aside(right) && sameJson(left.value ?? null, right.value ?? null);
}

/** Everything but the value, and the run that passed it on. */
function aside({ value, from: _by, ...rest }: Released): string {
  return JSON.stringify({ ...rest, without: value === undefined });
}

/** Why the outcome of a call of another run is unknown here: that run knows it, so it leaves no doubt in this one. */
export const joinedCause = "joined from another run";

/** Whether a dispatch on record is the image of one of another run: it was decided there, not here. */
export function isJoined(events: readonly RunEvent[], call: string): boolean {
  return events.some((event) => event.kind === "unknown" && event.call === call && event.cause === joinedCause);
}

/**
 * The restrictive image of an event of the run `key`; empty for what only permits or does not matter to others. It keeps
 * the name of the run in which it happened, however often it is passed on.
 */
export function restrictiveImage(event: RunEvent, key: string): readonly RunEvent[] {
  switch (event.kind) {
    case "dispatched": {
      const { consent: _lapses, ...rest } = event;
      return [
        { ...rest, from: event.from ?? key },
        { kind: "unknown", at: event.at, call: event.call, cause: joinedCause },
      ];
    }
    case "released":
      return event.how === "pass" ? [{ ...event, call: undefined, from: event.from ?? key }] : [];
    case "begun":
    case "registered":
    case "refused":
    case "succeeded":
    case "failed":
    case "unknown":
    case "foreseen":
    case "granted":
    case "ended":
      return [];
  }
}
