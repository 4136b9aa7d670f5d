/**
 * The first message of a key: the run is taken up from the log, or it begins with what restricts those before it. In
 * doubt it holds everything; where nobody can say whom it must join it is not served at all.
 */
import type { RunEvent } from "../core/event.ts";
import type { Result } from "../core/result.ts";
import { begin } from "../core/mechanism.ts";
import type { DormantRuns } from "./dormant-runs.ts";
import type { Inherited, Open } from "./earlier-runs.ts";
import { ancestryOf, conversationRuns, inheritedFrom, openIn } from "./earlier-runs.ts";
import { appendBatch, Batch, recordLate } from "./journal.ts";
import { resumeMsMax } from "./limits.ts";
import type { LiveRun, RunRequest } from "./live-run.ts";
import { asSpent, closedTo, isSpent, recognise, rowOf, toTop } from "./live-run.ts";
import { Images } from "./lineage.ts";
import { foldHistory, foldsPerLook, lastRunIn } from "./refold.ts";
import type { Relatives } from "./relatives.ts";
import { settleArrived } from "./relatives.ts";
import { conversationOf, earlyKeyOf, lineageOf, mintedPrefix } from "./run-keys.ts";
import type { Services } from "./services-port.ts";
import type { SharedStates } from "./shared-states.ts";
import type { OpenCall, RunRow, Waiting } from "./store-port.ts";

/** Calls of all runs that the log has open, and why nobody waits for them any more. */
export type Abandoned = { readonly open: readonly OpenCall[]; readonly cause: string };

export type ResumptionSetup<Q> = {
  readonly services: Services<Q>;
  readonly shared: SharedStates<Q>;
  readonly dormant: DormantRuns<Q>;
  readonly relatives: Relatives<Q>;
  readonly find: (key: string) => LiveRun<Q> | undefined;
  /** Folds an event of the run itself, and tells its relatives. */
  readonly fold: (live: LiveRun<Q>, event: RunEvent, batch: Batch<Q>) => Result<void, string>;
  /** Folds what others told, and tells nobody. */
  readonly foldOne: (live: LiveRun<Q>, event: RunEvent, batch: Batch<Q>) => Result<void, string>;
  /** The open run of a key, taken up if it must be. */
  readonly awake: (key: string, principal: string) => Promise<LiveRun<Q> | undefined>;
  /** Ends a run whose facts another one has taken over. */
  readonly retire: (key: string) => Promise<void>;
  readonly resumed: (live: LiveRun<Q>, history: readonly RunEvent[], waiting: readonly Waiting[]) => void;
};

/** What the store says of a run that is open, and what it did not hear of yet. */
type Known = { readonly row: RunRow | undefined; readonly early: Open };

type Beginning<Q> = RunRequest<Q> & { readonly early: Open };

export class Resumption<Q> {
  readonly #setup: ResumptionSetup<Q>;

  constructor(setup: ResumptionSetup<Q>) {
    this.#setup = setup;
  }

  /** Fills a run of which nothing is folded; false when it must not be served. */
  async resume(live: LiveRun<Q>, request: RunRequest<Q>): Promise<boolean> {
    const { services, shared, dormant, fold } = this.#setup;
    const { log, clock } = services;
    void dormant.prepare(live.principal, live.policy);
    const common = await shared.of(live.principal, live.policy);
    live.state = begin(live.policy.engine, live.key, common);
    const row = await log.store.run(live.key);
    const known = !row.ok || (row.value !== undefined && row.value.endedWallMs === undefined);
    const minted = live.key.startsWith(mintedPrefix);
    if (row.ok && minted && closedTo(live, row.value)) return false;
    const batch = new Batch<Q>();
    const spent: RunRow[] = [];
    const early = await this.#early(live);
    if (known) {
      if (!(await this.#takeUp(live, { row: row.ok ? row.value : undefined, early }, batch))) return false;
    } else spent.push(...(await this.#begin(live, { ...request, early }, batch)));
    const at = clock.monotonicMs();
    for (const text of request.registered ?? []) fold(live, { kind: "registered", at, text }, batch);
    if (batch.parts.length === 0) return true;
    const handedOn = spent.filter(({ key }) => this.#setup.find(key) === undefined);
    batch.runs = [...handedOn.map(asSpent), rowOf(live, clock.wallMs())];
    const durable = await appendBatch(log, batch);
    // The next conversation of the process would take it over again, and a cleared one is to begin clean.
    if (durable && early.key !== undefined) void this.#setup.retire(early.key);
    return true;
  }

  /**
   * What the client did before its hook named the conversation: its calls ran under the process alone. From now on the
   * conversation hears of what such a call still brings, as a parent does of its child.
   */
  async #early(live: LiveRun<Q>): Promise<Open> {
    const key = earlyKeyOf(live.key, live.principal);
    if (key === undefined) return { key: undefined, lost: false };
    const open = await this.#setup.awake(key, live.principal);
    if (open === undefined) return openIn(this.#setup.services.log.store, key);
    if (!open.ancestors.includes(live.key)) open.ancestors = [live.key, ...open.ancestors];
    // What it has folded so far is in the log, or refused, after this.
    await recordLate(this.#setup.services.log, open);
    return { key, lost: open.lost };
  }

  /** Calls that nobody will answer any more become unknown, even where a history cut short does not show them. */
  abandon(live: LiveRun<Q>, { open, cause }: Abandoned, batch: Batch<Q>): void {
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
  async #takeUp(live: LiveRun<Q>, { row, early }: Known, batch: Batch<Q>): Promise<boolean> {
    const { services, dormant, relatives } = this.#setup;
    const { log } = services;
    const above = await ancestryOf(log.store, row?.parent);
    if (!above.ok || (row === undefined && live.key.startsWith(mintedPrefix))) return false;
    live.spent ||= row !== undefined && isSpent(row);
    recognise(live, row?.resume);
    live.ancestors = above.value.map(({ key }) => key);
    live.groups = above.value.flatMap(({ key, principal }) => lineageOf(key, principal) ?? []);
    relatives.join(live);
    const conversation = await conversationRuns(log.store, live);
    this.#note([...above.value, ...(conversation.ok ? conversation.value : [])], live);
    live.lost = row?.top === true;
    // What others have told it is in the log once an append behind it has its answer.
    await recordLate(log, live);
    const before = await inheritedFrom(log, early.key === undefined ? [] : [early.key], live.policy.lattice);
    const read = await this.#replayInto(live, row === undefined || live.lost || !conversation.ok);
    const known = new Images(read);
    const images = before.images.filter((image) => !known.has(image));
    this.#inherit(live, { images, whole: before.whole && !early.lost }, batch);
    if (before.stopped) this.#stop(live, batch);
    this.abandon(live, { open: log.store.opening.inFlight, cause: "the gateway stopped while it ran" }, batch);
    dormant.forget(live.key);
    return true;
  }

  /** Open runs that are not known because there are too many: they must hear of what restricts this one. */
  #note(rows: readonly RunRow[], live: LiveRun<Q>): void {
    const { dormant, find } = this.#setup;
    for (const row of rows) {
      const isOpen = row.endedWallMs === undefined && row.key !== live.key && find(row.key) === undefined;
      if (isOpen && dormant.find(row.key) === undefined) dormant.note(row);
    }
  }

  async #replayInto(live: LiveRun<Q>, top: boolean): Promise<readonly RunEvent[]> {
    const { services, resumed } = this.#setup;
    const history = await services.log.replay(live.key, live.policy.lattice);
    const events = history.ok ? lastRunIn(history.value.events) : [];
    // What waits was told to somebody: it is looked for also where the rest cannot be read.
    const waiting = history.ok ? history.value.waiting : await services.log.waiting(live.key);
    resumed(live, events, waiting);
    const limit = { clock: services.clock, msMax: resumeMsMax };
    const folded = history.ok && foldHistory(live, events, limit).ok;
    live.ended = events.some((event) => event.kind === "ended" && event.cause === "unsafe");
    settleArrived(live, events);
    if (top || !folded || !history.value.complete) toTop(live);
    return events;
  }

  /** Gives the rows of ended runs whose facts it has taken over. */
  async #begin(live: LiveRun<Q>, { parent, isNew, early }: Beginning<Q>, batch: Batch<Q>): Promise<readonly RunRow[]> {
    const { services, dormant, relatives, fold } = this.#setup;
    const { log, clock } = services;
    live.begins = true;
    if (parent?.ready !== undefined) await parent.ready;
    if (parent !== undefined) {
      live.ancestors = [parent.key, ...parent.ancestors];
      live.groups = parent.groups;
    }
    const members = live.lineage === undefined ? [] : relatives.keysOf(live.lineage);
    const above = [...(parent === undefined ? [] : [parent.key]), ...(early.key === undefined ? [] : [early.key])];
    relatives.join(live);
    const open = [...above, ...members].flatMap((key) => this.#setup.find(key) ?? []);
    // Members tell each other everything, so the history of one that has begun says it for all.
    const [heard] = members.filter((key) => this.#setup.find(key)?.begins !== true);
    // Nobody is asked who has not said all: what others have folded is in the log, or refused, after this.
    if (parent !== undefined || live.lineage !== undefined) {
      for (const one of [live, ...open]) await recordLate(log, one);
    }
    const earlier = await conversationRuns(log.store, live);
    const rows = earlier.ok ? earlier.value : [];
    this.#note(rows, live);
    const sources = [...above, ...(heard === undefined ? [] : [heard]), ...rows.map(({ key }) => key)];
    const before = await inheritedFrom(log, sources, live.policy.lattice);
    // A run that is minted now is new for certain; one that was minted before has lost its row and its parents with it,
    // and every other key may name a conversation whose history went with the log.
    const minted = live.key.startsWith(mintedPrefix);
    const gone = isNew !== true && (minted || services.historyLost?.() === true);
    const unseen = dormant.more && live.lineage !== undefined && conversationOf(live.key, live.principal) === undefined;
    const asleep = members.flatMap((key) => dormant.find(key) ?? []);
    const lost =
      early.lost || gone || unseen || !earlier.ok || [...rows, ...asleep].some(({ top }) => top) || open.some(isLost);
    const at = clock.monotonicMs();
    const facts = parent === undefined ? {} : { parent: parent.key };
    fold(live, { kind: "begun", at, principal: live.principal, ...facts }, batch);
    this.#inherit(live, { ...before, whole: before.whole && !lost }, batch);
    // Another session of a conversation that was stopped is no way around that.
    if (before.stopped || open.some(ended) || (parent !== undefined && ended(parent))) this.#stop(live, batch);
    return rows.filter(({ key, endedWallMs }) => endedWallMs !== undefined && key !== live.key);
  }

  #stop(live: LiveRun<Q>, batch: Batch<Q>): void {
    const at = this.#setup.services.clock.monotonicMs();
    this.#setup.fold(live, { kind: "ended", at, cause: "unsafe" }, batch);
  }

  /** In one turn: what was read, then what came while it was. From now on the run hears of its relatives itself. */
  #inherit(live: LiveRun<Q>, { images, whole }: Omit<Inherited, "stopped">, batch: Batch<Q>): void {
    const { services, foldOne } = this.#setup;
    const until = services.clock.monotonicMs() + resumeMsMax;
    let fits = whole;
    for (const [index, image] of images.entries()) {
      if (index % foldsPerLook === 0 && services.clock.monotonicMs() > until) fits = false;
      if (fits && foldOne(live, image, batch).ok) continue;
      // It goes on record in any case: what this run cannot say, one after it may be able to.
      batch.add(live, image);
      fits = false;
    }
    for (const { event, from } of settleArrived(live, images)) batch.addAbsent(from, live.key, [event]);
    if (fits) return;
    live.lost = true;
    toTop(live);
  }
}

function isLost({ lost }: { readonly lost: boolean }): boolean {
  return lost;
}

/** Asked after a wait: a field that somebody else may have changed meanwhile. */
function ended(live: { readonly ended: boolean }): boolean {
  return live.ended;
}
