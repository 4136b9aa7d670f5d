/**
 * Handles the first message of a key: the run is resumed from the log, or it begins with the restrictions of the runs
 * before it. In doubt it counts as holding everything; where the runs that it must join are unknown it is not served at
 * all.
 */
import type { RunEvent } from "../../core/event.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { begin } from "../../core/mechanism.ts";
import {
  type Inherited,
  type Open,
  ancestryOf,
  conversationRuns,
  inheritedFrom,
  openIn,
} from "./conversation-history.ts";
import { appendBatch, EventBatch, flushDeferred } from "./event-batch.ts";
import { resumeMsMax } from "../ports/limits.ts";
import {
  type LiveRun,
  type RunRequest,
  asSpent,
  closedTo,
  hasExited,
  isLostIn,
  isSpent,
  recognise,
  rowOf,
  streamIn,
  toTop,
  unreadIn,
} from "./live-run.ts";
import { type HeritageSetup, type StreamPlace, takeOver } from "./heritage.ts";
import { foldHistory } from "./refold.ts";
import { goOnFrom, type ReadHistory, readHistory, shortHistory, wholeHistory } from "./snapshots/run-history.ts";
import { conversationOf, earlyKeyOf, lineageOf, mintedPrefix } from "./run-key.ts";
import type { SharedStates } from "./shared-store-state.ts";
import type { OpenCall, ReplayWay, RunRow, Waiting } from "../ports/store.ts";

/** Calls of all runs that the log has open, and why no client waits for them any more. */
export type Abandoned = { readonly open: readonly OpenCall[]; readonly cause: string };

export type ResumptionSetup = HeritageSetup & {
  readonly shared: SharedStates;
  readonly all: () => Iterable<LiveRun>;
  /** Ends the runs whose client process is gone, so that what they held ends with them. */
  readonly endExited: () => Promise<void>;
  /** Folds an event of the run itself, and passes it on to its relatives. */
  readonly fold: (live: LiveRun, event: RunEvent, batch: EventBatch) => Result<void, string>;
  /** The open run of a key, taken up if it must be. */
  readonly awake: (key: string, principal: string) => Promise<LiveRun | undefined>;
  /** Ends a run whose facts another one has taken over. */
  readonly retire: (key: string) => Promise<void>;
  readonly resumed: (live: LiveRun, history: readonly RunEvent[], waiting: readonly Waiting[]) => void;
};

/** The row of an open run in the store, and the early run of its client process, which it has not taken over yet. */
type Known = { readonly row: RunRow | undefined; readonly early: Open };

type Beginning = RunRequest & {
  readonly early: Open;
  /** An earlier run of the key ended with its client process, which turns out to live. */
  readonly exited: boolean;
};

export class Resumption {
  readonly #setup: ResumptionSetup;

  constructor(setup: ResumptionSetup) {
    this.#setup = setup;
  }

  /** Fills a run of which nothing is folded; false when it must not be served. */
  async resume(live: LiveRun, request: RunRequest): Promise<boolean> {
    const { services, shared, dormant, fold } = this.#setup;
    const { log, clock } = services;
    void dormant.prepare(live.principal, live.policy);
    const common = await shared.of(live.principal, live.policy);
    live.state = begin(live.policy.engine, live.key, common);
    const row = await log.store.run(live.key);
    const known = !row.ok || (row.value !== undefined && row.value.endedWallMs === undefined);
    const minted = live.key.startsWith(mintedPrefix);
    if (row.ok && minted && closedTo(live, row.value)) return false;
    const batch = new EventBatch();
    const spent: RunRow[] = [];
    const early = await this.#early(live, batch);
    if (known) {
      if (!(await this.#takeUp(live, { row: row.ok ? row.value : undefined, early }, batch))) return false;
    } else {
      const exited = row.ok && row.value !== undefined && hasExited(row.value) && !isSpent(row.value);
      const begun = await this.#begin(live, { ...request, early, exited }, batch);
      if (begun === undefined) return false;
      spent.push(...begun);
    }
    const at = clock.monotonicMs();
    for (const text of request.registered ?? []) fold(live, { kind: "registered", at, text }, batch);
    if (batch.parts.length === 0 && batch.runs === undefined) return true;
    const handedOn = spent.filter(({ key }) => this.#setup.find(key) === undefined);
    batch.addRows(...handedOn.map(asSpent), rowOf(live, clock.wallMs()));
    const durable = await appendBatch(log, batch);
    // The next conversation of the process would take it over again, and a cleared one is to begin clean.
    if (durable && early.key !== undefined) void this.#setup.retire(early.key);
    return true;
  }

  /**
   * The run of the client's calls from before its hook named the conversation: they ran under the process alone. From
   * now on the conversation receives the restrictions of such a call, as a parent does of its child.
   */
  async #early(live: LiveRun, batch: EventBatch): Promise<Open> {
    const key = earlyKeyOf(live.key, live.principal);
    if (key === undefined) return { key: undefined, lost: false };
    const open = await this.#setup.awake(key, live.principal);
    if (open === undefined) return openIn(this.#setup.services.log.store, key);
    // The hook said which conversation this is, so from now on other clients are none of its business.
    this.#setup.relatives.leave(open, batch);
    if (!open.ancestors.includes(live.key)) open.ancestors = [live.key, ...open.ancestors];
    // Events that it has folded so far are in the log, or refused, after this.
    await flushDeferred(this.#setup.services.log, open);
    return { key, lost: open.lost };
  }

  /** Calls that will get no answer become unknown, even where a history that was cut short does not show them. */
  abandon(live: LiveRun, { open, cause }: Abandoned, batch: EventBatch): void {
    const at = this.#setup.services.clock.monotonicMs();
    const known = open.filter(({ run }) => run === live.key);
    for (const call of new Set([...live.inFlight, ...known.map(({ call }) => call)])) {
      const event = { kind: "unknown", at, call, cause } as const;
      // In its worst state a run knows no calls; the log must not keep this one open for ever.
      if (!this.#setup.fold(live, event, batch).ok) batch.add(live, event);
      live.inFlight.delete(call);
    }
  }

  /** A run of the log that is open; without a row the store cannot be read, and then nothing is known of a child. */
  async #takeUp(live: LiveRun, { row, early }: Known, batch: EventBatch): Promise<boolean> {
    const { services, dormant, relatives } = this.#setup;
    const { log, clock } = services;
    const above = await ancestryOf(log.store, row?.parent);
    if (!above.ok || (row === undefined && live.key.startsWith(mintedPrefix))) return false;
    live.spent ||= row !== undefined && isSpent(row);
    recognise(live, row?.resume);
    live.ancestors = above.value.map(({ key }) => key);
    live.groups = above.value.flatMap(({ key, principal }) => lineageOf(key, principal) ?? []);
    relatives.join(live);
    const conversation = await conversationRuns(log.store, live);
    this.#note([...above.value, ...(conversation.ok ? conversation.value : [])], live);
    live.lost = row !== undefined && isLostIn(row);
    live.storesLost = row?.top !== false || early.lost;
    const stream = this.#placeIn(live);
    // Events that others passed to it are in the log once an append behind them has its answer.
    await flushDeferred(log, live, ...(stream === undefined ? [] : [stream.stream]));
    const sources = early.key === undefined ? [] : [early.key];
    const before = await inheritedFrom(log, sources, live.policy.lattice, { ownOnly: early.key });
    const top = row === undefined || live.lost || !conversation.ok;
    const read = await this.#replayInto(live, { top, until: stream?.until, of: row && streamIn(row) });
    const isMember = read.member !== undefined && read.member === stream?.stream.key;
    const shared = stream === undefined || isMember ? nothing : await this.#readStream(live, stream);
    const lost = early.lost || (!isMember && stream?.stream.lost === true);
    const apart = before.images.length === 0 && this.#holdsApart(live, isMember ? stream : undefined);
    // Where others are to have what it holds, or it theirs, each of its events is needed and not only its state.
    const every = read.before === undefined || apart ? read : await wholeHistory(log, live, stream?.until);
    live.restricts ||= read.before !== undefined;
    const own = { held: every.events, member: isMember };
    const whole = before.whole && !lost && every.whole === read.whole;
    takeOver(this.#setup, live, { own, place: stream, shared, before: { ...before, whole } }, batch);
    // Rows of before do not say it, and without it a run that begins reads all of this one.
    if (isMember && row !== undefined && streamIn(row) !== read.member) batch.addRows(rowOf(live, clock.wallMs()));
    if (before.stopped) this.#stop(live, batch);
    this.abandon(live, { open: log.store.opening.inFlight, cause: "the gateway stopped while it ran" }, batch);
    dormant.forget(live.key);
    return true;
  }

  /** Open runs that are not known because there are too many: they must hear of what restricts this one. */
  #note(rows: readonly RunRow[], live: LiveRun): void {
    const { dormant, find } = this.#setup;
    for (const row of rows) {
      const isOpen = row.endedWallMs === undefined && row.key !== live.key && find(row.key) === undefined;
      if (isOpen && dormant.find(row.key) === undefined) dormant.note(row);
    }
  }

  /** Nothing of its history has to be compared with that of others: it goes on in its stream, or is alone. */
  #holdsApart(live: LiveRun, place: StreamPlace | undefined): boolean {
    const { relatives } = this.#setup;
    const { key, lineage } = live;
    if (lineage === undefined) return true;
    const stream = relatives.streamOf(live);
    if (stream !== undefined) return stream === place?.stream;
    return place === undefined && relatives.keysOf(lineage).every((other) => other === key);
  }

  async #replayInto(
    live: LiveRun,
    { top, until, of }: { readonly top: boolean; readonly until: ReplayWay["until"]; readonly of: string | undefined },
  ): Promise<ReadHistory> {
    const { services, resumed } = this.#setup;
    const read = await readHistory(services.log, live, until, of);
    const { before, events, waiting, whole } = read;
    resumed(live, before === undefined ? events : [...before.unsettled, ...events], waiting);
    if (before !== undefined) goOnFrom(live, before);
    const limit = { clock: services.clock, msMax: resumeMsMax };
    const folded = foldHistory(live, events, limit).ok;
    live.ended = events.some((event) => event.kind === "ended" && event.cause === "unsafe");
    if (top || !folded || !whole) toTop(live, [live.key]);
    return read;
  }

  /** The stream of its lineage and the number up to which the log is read; later entries are folded from memory. */
  #placeIn(live: LiveRun): StreamPlace | undefined {
    const stream = this.#setup.relatives.streamOf(live);
    return stream === undefined ? undefined : { stream, until: { of: stream.key, n: stream.count } };
  }

  /** A run that is open in the log alone, and may hold what the stream does not have. */
  #isUnheard(key: string, { stream }: StreamPlace): boolean {
    const row = this.#setup.dormant.find(key);
    return this.#setup.find(key) === undefined && (row === undefined || streamIn(row) !== stream.key);
  }

  /** Folds the stream from its snapshot on, where it has one, so that neither this run nor a later one reads all of it. */
  async #recall(live: LiveRun, { stream, until }: StreamPlace): Promise<void> {
    const { services, shared } = this.#setup;
    if (stream.lost || stream.remembers(live)) return;
    const plain = stream.alone(live, await shared.of(live.principal, live.policy));
    const read = await shortHistory(services.log, plain, until);
    if (read === undefined) return;
    goOnFrom(plain, read.before);
    if (!foldHistory(plain, read.events, { clock: services.clock, msMax: resumeMsMax }).ok) return;
    stream.recall(plain, until.n, read.events.length);
  }

  #readStream(live: LiveRun, { stream, until }: StreamPlace): Promise<Inherited> {
    return inheritedFrom(this.#setup.services.log, [stream.key], live.policy.lattice, { until });
  }

  /** Gives the rows of ended runs whose facts it has taken over; undefined where a run above it cannot be joined. */
  async #begin(
    live: LiveRun,
    { parent: given, above: guarded = [], isNew, early, exited }: Beginning,
    batch: EventBatch,
  ): Promise<readonly RunRow[] | undefined> {
    const { services, dormant, relatives, fold } = this.#setup;
    const { log, clock } = services;
    live.begins = true;
    if (live.lineage !== undefined && services.clients !== undefined) await this.#setup.endExited();
    const guards = guarded.length === 0 ? ok([]) : await this.#guardsOf(live, guarded);
    if (!guards.ok) return undefined;
    const parent = given ?? guards.value[0];
    if (parent?.ready !== undefined) await parent.ready;
    if (parent !== undefined) {
      live.ancestors = [parent.key, ...parent.ancestors];
      live.groups = parent.groups;
    }
    const members = live.lineage === undefined ? [] : relatives.keysOf(live.lineage);
    const above = [
      ...(parent === undefined ? [] : [parent.key]),
      ...guards.value.map(({ key }) => key),
      ...(early.key === undefined ? [] : [early.key]),
    ];
    relatives.join(live);
    const open = [...above, ...members].flatMap((key) => this.#setup.find(key) ?? []);
    const stream = this.#placeIn(live);
    // Members hold all the same, so the history of one that has begun says it for all, and the stream for those in memory.
    const settled = members.filter((key) => this.#setup.find(key)?.begins !== true);
    const [heard] = stream === undefined ? settled : settled.filter((key) => this.#isUnheard(key, stream));
    // No run is read before its events are written: after this, the folded events are in the log, or refused.
    const alone = above.length === 0 && members.length === 0 && conversationOf(live.key, live.principal) === undefined;
    if (!alone || stream !== undefined) {
      await flushDeferred(log, live, ...open, ...(stream === undefined ? [] : [stream.stream]));
    }
    const earlier = await conversationRuns(log.store, live);
    const rows = earlier.ok ? earlier.value : [];
    this.#note(rows, live);
    const sources = [
      ...above,
      ...(exited ? [live.key] : []),
      ...(heard === undefined ? [] : [heard]),
      ...rows.map(({ key }) => key),
    ];
    const before = await inheritedFrom(log, sources, live.policy.lattice, { ownOnly: early.key });
    if (stream !== undefined) await this.#recall(live, stream);
    const alike = stream !== undefined && relatives.streamOf(live) === stream.stream;
    // In the turn in which the stream says so nothing of it has to be read.
    const quick = alike && sources.length === 0 && early.key === undefined && stream.stream.remembers(live);
    const shared = stream === undefined || quick ? nothing : await this.#readStream(live, stream);
    const asleep = members.flatMap((key) => dormant.find(key) ?? []);
    const known = [...rows, ...asleep];
    const isUnread = early.lost || !earlier.ok || this.#mayHaveHistory(live, isNew);
    live.storesLost = isUnread || known.some(({ top }) => top) || open.some(({ storesLost }) => storesLost);
    const lost =
      live.storesLost ||
      known.some(isLostIn) ||
      open.some(({ lost }) => lost) ||
      (stream !== undefined && stream.stream.lost);
    const origins = [...known.flatMap(({ resume }) => unreadIn(resume)), ...open.flatMap(({ unread: keys }) => keys)];
    const at = clock.monotonicMs();
    const facts = parent === undefined ? {} : { parent: parent.key };
    const begun = { kind: "begun", at, principal: live.principal, ...facts } as const;
    fold(live, begun, batch);
    const all = { ...before, unread: [...new Set([...origins, ...before.unread])], whole: before.whole && !lost };
    takeOver(this.#setup, live, { own: undefined, place: stream, shared, before: all, quick, begun }, batch);
    // Another session of a stopped conversation must be stopped as well.
    const stopped = (run: LiveRun): boolean => run.ended && this.#setup.find(run.key) === run;
    if (before.stopped || open.some(stopped) || (parent !== undefined && stopped(parent))) this.#stop(live, batch);
    return rows.filter(({ key, endedWallMs }) => endedWallMs !== undefined && key !== live.key);
  }

  /** Whether the run may have a history that is not found: its stores hold what no log tells. */
  #mayHaveHistory(live: LiveRun, isNew: boolean | undefined): boolean {
    const { services, dormant } = this.#setup;
    // A run that is minted now is new for certain; one that was minted before has lost its row and its parents with it,
    // and every other key may name a conversation whose history went with the log.
    const minted = live.key.startsWith(mintedPrefix);
    const gone = isNew !== true && (minted || services.historyLost?.() === true);
    const unseen = dormant.more && live.lineage !== undefined && conversationOf(live.key, live.principal) === undefined;
    return gone || unseen;
  }

  /**
   * Open runs of guarded processes that started the client of this one, by the starts of their keys, nearest first: the
   * agent may have started it, with what it holds. An error where one is open and cannot be taken up.
   */
  async #guardsOf(live: LiveRun, guarded: readonly string[]): Promise<Result<readonly LiveRun[], string>> {
    const { all, awake, dormant } = this.#setup;
    // A run that only begins holds nothing yet, and may wait for this one.
    const settled = [...all()].filter((run) => !run.begins && !run.ended);
    const open = [...settled, ...dormant.all()].filter(({ principal }) => principal === live.principal);
    const found = new Set<LiveRun>();
    for (const start of guarded) {
      for (const { key, principal } of open) {
        const isBelow = start.endsWith("/") ? key.startsWith(start) : key === start || key.startsWith(`${start}/`);
        // What its own lineage holds it takes over anyway.
        if (!isBelow || key === live.key || lineageOf(key, principal) === live.lineage) continue;
        const run = await awake(key, principal);
        if (run === undefined) return err("the run of a process above the client cannot be taken up");
        found.add(run);
      }
    }
    return ok([...found]);
  }

  #stop(live: LiveRun, batch: EventBatch): void {
    const at = this.#setup.services.clock.monotonicMs();
    this.#setup.fold(live, { kind: "ended", at, cause: "unsafe" }, batch);
  }
}

/** Nothing was read. */
const nothing = { images: [], whole: true } as const;
