/**
 * Writes snapshots of runs beside calls (docs/decisions/0034). A snapshot is folded from the log alone, from the snapshot
 * before it on, and never taken from the run that lives: what a restart reads is then what a fold of the records gives,
 * whatever has happened in memory. All of it is work that makes way for calls.
 */
import type { RunEvent } from "../../../core/event.ts";
import { begin, settlesOn } from "../../../core/mechanism.ts";
import {
  lastSnapshotEventsMin,
  lastSnapshotsMsMax,
  snapshotEventsMax,
  snapshotEventsMin,
  snapshotRecordsMax,
  snapshotShare,
  snapshotStateMsMax,
} from "../../ports/limits.ts";
import type { LoadedPolicy } from "../../ports/policy.ts";
import type { Services } from "../../ports/services.ts";
import type { Replayed } from "../../ports/store.ts";
import type { FoldedRun, LiveRun } from "../live-run.ts";
import { foldInto, lastRunIn } from "../refold.ts";
import type { SharedStates } from "../shared-store-state.ts";
import { fitsOf, type History, historyFrom, historyText } from "./snapshot-text.ts";
import { UnhurriedWork } from "../unhurried-work.ts";
import { UnsettledEvents } from "./unsettled-events.ts";

/** How far the last snapshot of a run lies behind, in events, and how many events it has in all. */
type Behind = { events: number; all: number };

export type RunSnapshotsSetup = {
  readonly services: Pick<Services, "log" | "clock">;
  readonly shared: SharedStates;
  readonly isOpen: (live: LiveRun) => boolean;
  /** Records that one snapshot goes further than the one before. */
  readonly recordsMax?: number;
};

/** A folded history, and the policy that it was folded under. */
type Folded = { readonly history: History; readonly policy: LoadedPolicy };

function dueAfter({ all }: Behind): number {
  return Math.max(snapshotEventsMin, Math.min(snapshotEventsMax, all / snapshotShare));
}

export class RunSnapshots {
  readonly #setup: RunSnapshotsSetup;
  readonly #behind = new WeakMap<LiveRun, Behind>();
  readonly #queue = new Set<LiveRun>();
  #working: Promise<void> | undefined;
  #work: UnhurriedWork | undefined;
  /** The last one, from which the next one of a busy run goes on. */
  #last: Folded | undefined;
  #forget: () => void = () => undefined;

  constructor(setup: RunSnapshotsSetup) {
    this.#setup = setup;
  }

  /** The run was taken up with a history of so many events since its snapshot, or since it began. */
  resumed(live: LiveRun, events: number): void {
    this.#behind.set(live, { events, all: events });
    this.#look(live, snapshotEventsMin);
  }

  /** An event was folded into the run, or so many entered the stream that this stands for. */
  moved(live: LiveRun, events = 1): void {
    const behind = this.#behind.get(live) ?? { events: 0, all: 0 };
    behind.events += events;
    behind.all += events;
    this.#behind.set(live, behind);
    this.#look(live, dueAfter(behind));
  }

  /** The gateway stops: the next one is to take up its runs at once. Resolves within a limit of time. */
  async stop(runs: Iterable<LiveRun>): Promise<void> {
    const { clock, log } = this.#setup.services;
    for (const live of runs) this.#look(live, lastSnapshotEventsMin);
    if (this.#work !== undefined) this.#work.urgent = true;
    const until = clock.monotonicMs() + lastSnapshotsMsMax;
    // Nothing else may be left that keeps the process alive: waiting for a timer of the work would end it here.
    while (this.#working !== undefined && clock.monotonicMs() < until) await log.store.idle(true);
    this.#queue.clear();
    this.#drop();
  }

  #look(live: LiveRun, due: number): void {
    if ((this.#behind.get(live)?.events ?? 0) < due || live.lost || live.ended) return;
    this.#queue.add(live);
    this.#working ??= this.#all().finally(() => (this.#working = undefined));
  }

  async #all(): Promise<void> {
    const { clock, log } = this.#setup.services;
    this.#work = new UnhurriedWork(clock, log.store);
    // What is under way in this turn goes first.
    await log.store.idle(false);
    for (const live of this.#queue) {
      this.#queue.delete(live);
      await this.#one(live, this.#work).catch(() => this.#never(live));
    }
    this.#work = undefined;
    this.#forget();
    this.#forget = clock.after(snapshotStateMsMax, () => this.#drop());
  }

  #drop(): void {
    this.#forget();
    this.#last = undefined;
  }

  /** Folding it again would give nothing that can be kept either. */
  #never(live: LiveRun): void {
    this.#behind.set(live, { events: Number.NEGATIVE_INFINITY, all: 0 });
  }

  async #one(live: LiveRun, work: UnhurriedWork): Promise<void> {
    const behind = this.#behind.get(live);
    if (behind === undefined || !this.#setup.isOpen(live)) return;
    const before = behind.events;
    const made = await this.#history(live, work);
    if (made?.folded === 0) {
      // It only heard of others, which is read from their stream in any case.
      behind.events -= before;
      return;
    }
    const text = made === undefined ? undefined : await this.#text(made.history, work);
    if (made === undefined || text === undefined) return this.#never(live);
    const { policy } = live;
    // Under a new policy no reader would take it; an ended run is not taken up again.
    if (this.#last?.policy !== policy || !this.#setup.isOpen(live) || live.ended) return;
    const { run, place, sinceWallMs, events: all } = made.history;
    const kept = await this.#setup.services.log.keepSnapshot({ run, place, sinceWallMs, fits: fitsOf(policy), text });
    if (!kept.ok) return;
    behind.events = Math.max(0, behind.events - (made.more ? made.folded : before));
    behind.all = Math.max(behind.all, all);
    this.#look(live, dueAfter(behind));
  }

  async #text(history: History, work: UnhurriedWork): Promise<string | undefined> {
    const steps = historyText(history);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value.ok ? step.value.value : undefined;
      const made = work.pause();
      if (made !== undefined) await made;
    }
  }

  /** The run folded further, and by how many events; undefined where it cannot be, or has nothing to fold. */
  async #history(live: LiveRun, work: UnhurriedWork): Promise<Further | undefined> {
    const { key, policy } = live;
    const base = await this.#base(live);
    this.#last = undefined; // its state is changed from here on
    const pause = (): Promise<void> | undefined => work.pause();
    const after = base === undefined ? {} : { after: base };
    const { services, recordsMax = snapshotRecordsMax } = this.#setup;
    const read = await services.log.replay(key, policy.lattice, { pause, recordsMax, ...after });
    if (!read.ok || !read.value.complete) return undefined;
    const place = placeOf(base, read.value);
    if (place === undefined) return undefined;
    const { events, isNew } = lastOf(base, read.value.events);
    const from = isNew ? undefined : base;
    const folded: FoldedRun =
      from === undefined ? await this.#fresh(live) : { ...from.folded, key, policy, ended: false };
    const unsettled = new UnsettledEvents();
    for (const event of from?.unsettled ?? []) unsettled.add(event);
    for (const event of events) {
      if (!foldInto(folded, event).ok) return undefined;
      unsettled.add(event);
      const made = work.pause();
      if (made !== undefined) await made;
    }
    if (folded.ended) return undefined;
    // Whoever takes it up is not to wait for what its mechanisms have put off.
    while (settlesOn(policy.engine, folded.state)) {
      const made = work.pause();
      if (made !== undefined) await made;
    }
    const { state, sources, inFlight } = folded;
    const history: History = {
      run: key,
      ...place,
      folded: { state, sources, inFlight },
      unsettled: unsettled.list(),
      waiting: read.value.waiting,
      heard: read.value.last === undefined ? base?.heard : read.value.last.heard,
      events: (from?.events ?? 0) + events.length,
    };
    this.#last = { history, policy };
    return { history, folded: read.value.events.length, more: read.value.last?.more === true };
  }

  async #fresh({ key, policy, principal }: LiveRun): Promise<FoldedRun> {
    const state = begin(policy.engine, key, await this.#setup.shared.of(principal, policy));
    return { key, policy, state, sources: new Map(), inFlight: new Set(), ended: false };
  }

  /** The snapshot to go on from: the last one of this process, or that of the log. */
  async #base({ key, policy }: LiveRun): Promise<History | undefined> {
    const last = this.#last;
    if (last?.policy === policy && last.history.run === key) return last.history;
    const snapshot = await this.#setup.services.log.snapshot(key, fitsOf(policy));
    return snapshot === undefined ? undefined : historyFrom(snapshot);
  }
}

type Further = { readonly history: History; readonly folded: number; readonly more: boolean };

/** The events of the run that is open now: those after the base, unless another run began under its key since. */
function lastOf(
  base: History | undefined,
  events: readonly RunEvent[],
): { events: readonly RunEvent[]; isNew: boolean } {
  const last = lastRunIn(events);
  return base === undefined || last.length < events.length ? { events: last, isNew: true } : { events, isNew: false };
}

function placeOf(base: History | undefined, { last }: Replayed): Pick<History, "place" | "sinceWallMs"> | undefined {
  if (base === undefined) return last;
  return { place: last?.place ?? base.place, sinceWallMs: base.sinceWallMs };
}
