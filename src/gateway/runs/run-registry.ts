/**
 * The runs that live in memory, and what they share: stores, audiences, open channels of one owner. All changes are
 * synchronous, which is the one lock that formal.md annex 13 asks for: an event of one run, and what it does to the
 * others, is one turn.
 */
import type { EndCause, RunEvent } from "../../core/event.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { evolve } from "../../core/step.ts";
import { exitedRuns, isHandedOn } from "./client-exit.ts";
import { endIdle } from "./run-expiry.ts";
import { DormantRuns } from "./dormant-runs.ts";
import { conversationRuns } from "./conversation-history.ts";
import { appendBatch, EventBatch, flushDeferred, type Basis } from "./event-batch.ts";
import type { HeritageSetup } from "./heritage.ts";
import type { LineageStream } from "./streams/lineage-stream.ts";
import { LineageStreams } from "./streams/lineage-streams.ts";
import { RelatedRuns } from "./related-runs.ts";
import { restrictiveImage } from "./restrictive-images.ts";
import {
  type LiveRun,
  type RunRequest,
  clientIn,
  idleIn,
  idleMsOf,
  newRun,
  noteSource,
  rowOf,
  tooManyRuns,
  trackCalls,
} from "./live-run.ts";
import { OtherRuns } from "./cross-run-check.ts";
import { type LoadedPolicy, startProblem } from "../ports/policy.ts";
import { Resumption } from "./resume.ts";
import { type RefoldingSetup, rebuildRun, refoldRun } from "./run-refolding.ts";
import { type Ending, leftBehind, outlives, separate } from "./streams/stream-endings.ts";
import { lineageOf } from "./run-key.ts";
import type { Services } from "../ports/services.ts";
import { SharedStates } from "./shared-store-state.ts";
import type { RunRow, Waiting } from "../ports/store.ts";

/** Follows the changes of runs. */
export interface RunWatcher {
  /** The state of a run has changed in this turn, or it has ended. */
  moved(live: LiveRun): void;
  /** The state of these changes when it is next looked at. */
  stirred(members: Iterable<LiveRun>): void;
  /** So many events entered a stream, or were read of it; `subject` stands for it. */
  grew(subject: LiveRun, events: number): void;
  /** A run is taken up again; its history has more to be learnt from than its state. */
  resumed(live: LiveRun, history: readonly RunEvent[], waiting: readonly Waiting[]): void;
  /** A run ends: gives one sentence for each debt that it leaves, such as what its outbox still holds. */
  ending(live: LiveRun): Promise<readonly string[]>;
}

export class RunRegistry {
  readonly #services: Services;
  readonly #live = new Map<string, LiveRun>();
  #watcher: RunWatcher | undefined;
  /** Ends on their way into the log: a run that begins under the same key must not take the ended one for open. */
  readonly #endings = new Map<string, Promise<unknown>>();
  /** The state that runs of one owner share, and that outlives them. */
  readonly shared: SharedStates;
  /** Open runs of the log that are not resumed yet. */
  readonly dormant: DormantRuns;
  /** The effects of one run on the others. */
  readonly others: OtherRuns;
  /** What open runs of one lineage have in common. */
  readonly streams: LineageStreams;
  readonly #relatives: RelatedRuns;
  readonly #heritage: HeritageSetup;
  readonly #refolding: RefoldingSetup;
  readonly #resumption: Resumption;

  constructor(services: Services) {
    this.#services = services;
    this.shared = new SharedStates(services.log.store);
    this.streams = new LineageStreams(services, {
      spread: (live) => this.shared.spread(live, this.#sharing()),
      moved: this.#moved,
      stirred: (members) => this.#watcher?.stirred(members),
      row: (live) => rowOf(live, services.clock.wallMs()),
      grew: (subject, events) => this.#watcher?.grew(subject, events),
      reading: (lineage) => [...this.#relatives.liveOf(lineage)].some(({ arrived }) => arrived !== undefined),
    });
    this.dormant = new DormantRuns(services, this.shared, this.streams);
    this.others = new OtherRuns({ live: () => this.#live.values(), dormant: this.dormant, shared: this.shared });
    const { shared, dormant, streams } = this;
    const find = (key: string): LiveRun | undefined => this.#live.get(key);
    const foldOne = (live: LiveRun, event: RunEvent, batch: EventBatch): Result<void, string> =>
      this.#foldOne(live, event, batch);
    this.#relatives = new RelatedRuns({ find, dormant, streams, fold: foldOne });
    this.#heritage = { services, streams, dormant, relatives: this.#relatives, find, foldOne };
    this.#refolding = {
      services,
      shared,
      dormant,
      relatives: this.#relatives,
      moved: (live) => this.#moved(live),
      abandon: (live, abandoned, batch) => this.#resumption.abandon(live, abandoned, batch),
    };
    this.#resumption = new Resumption({
      ...this.#heritage,
      shared,
      all: () => this.#live.values(),
      endExited: () => this.endExited(),
      fold: (live, event, batch) => this.fold(live, event, batch),
      awake: (key, principal) => this.awake(key, principal),
      retire: (key) => this.#retire(key),
      resumed: (live, history, waiting) => this.#watcher?.resumed(live, history, waiting),
    });
  }

  all(): Iterable<LiveRun> {
    return this.#live.values();
  }

  find(key: string): LiveRun | undefined {
    return this.#live.get(key);
  }

  /** The one follower of all runs. */
  watch(watcher: RunWatcher): void {
    if (this.#watcher !== undefined) throw new Error("a bug: the runs are followed already");
    this.#watcher = watcher;
  }

  /** The run of a key; a new one first folds its history, and no caller may use it before `ready` is undefined. */
  obtain(request: RunRequest): Result<LiveRun, string> {
    const known = this.#live.get(request.key.key);
    if (known !== undefined) {
      known.lastAt = this.#services.clock.monotonicMs();
      // A run that was resumed from the log for another run has no workspace of its client yet.
      if (known.workspace.length === 0) known.workspace = request.workspace;
      return ok(known);
    }
    const full = tooManyRuns(this.#live, request.principal);
    if (full !== undefined) return err(full);
    const live = newRun(request, this.#services.clock.monotonicMs());
    this.#live.set(live.key, live);
    live.ready = this.#resume(live, request).finally(() => {
      live.ready = undefined;
    });
    return ok(live);
  }

  /** Folds an event into a run, and its consequences into the others; all that must be logged goes into the batch. */
  fold(live: LiveRun, event: RunEvent, batch: EventBatch): Result<void, string> {
    // A late result must not reach an agent whose new run would not carry its label, nor the log after the end.
    if (live.ended) return err("the run has ended");
    const folded = this.#foldOne(live, event, batch);
    if (!folded.ok) return folded;
    trackCalls(live, event);
    const images = restrictiveImage(event, live.key);
    if (images.length === 0) return folded;
    live.restricts = true;
    if (live.ancestors.length > 0 || live.groups.length > 0) this.#relatives.tell(live, images, batch);
    return folded;
  }

  /**
   * Ends a run: what is in flight becomes unknown, then the end is logged. Labels of stores stay. Gives one sentence
   * for each obligation that the run still owes. What it held waits for later runs of its conversation, except where a
   * trusted act ends the conversation (`clears`): later runs begin clean then, whichever runs the conversation had.
   */
  async end(live: LiveRun, cause: EndCause, clears: boolean = cause === "operator"): Promise<readonly string[]> {
    return this.#end(live, { cause, clears, keptMs: 0 });
  }

  /**
   * Its client ended the session of a run: the run costs nothing any more, and what restricted it stays in the stream of
   * its lineage, so that the next session does not begin clean. A run that the policy stopped, or whose history is lost,
   * stays as it is, since no stream says that.
   */
  async finish(live: LiveRun): Promise<void> {
    if (live.ready !== undefined) await live.ready;
    if (live.ended || live.lost || this.#live.get(live.key) !== live) return;
    const may = await outlives(this.#heritage, live);
    if (may && this.#live.get(live.key) === live)
      await this.#end(live, { cause: "closed", clears: false, keptMs: idleMsOf(live) });
  }

  async #end(live: LiveRun, { cause, clears, keptMs }: Ending): Promise<readonly string[]> {
    if (live.ready !== undefined) await live.ready;
    const owed: string[] = [];
    if (this.#live.get(live.key) !== live) return owed;
    if (this.#watcher !== undefined) owed.push(...(await this.#watcher.ending(live)));
    const earlier = clears ? await conversationRuns(this.#services.log.store, live) : ok([]);
    if (this.#live.get(live.key) !== live) return owed; // another caller ended it meanwhile
    const batch = new EventBatch();
    const cleared = earlier.ok ? separate(this.#heritage, live, earlier.value, batch) : [];
    const stream = this.#relatives.streamOf(live);
    this.#foldEnd(live, cause, batch);
    this.#forget(live, batch);
    live.spent = clears;
    const wallMs = this.#services.clock.wallMs();
    batch.addRows(...cleared, { ...rowOf(live, wallMs), endedWallMs: wallMs });
    if (stream !== undefined) leftBehind(this.#heritage, stream, { keptMs, clears }, batch);
    const written = appendBatch(this.#services.log, batch);
    this.#endings.set(live.key, written);
    await written;
    if (this.#endings.get(live.key) === written) this.#endings.delete(live.key);
    return owed;
  }

  /** Appends what a decision has on record; `ends` is the run that the decision ends, in the same turn. */
  record(batch: EventBatch, basis: Basis, ends: LiveRun | undefined): Promise<boolean> {
    const durable = appendBatch(this.#services.log, batch, basis);
    if (ends !== undefined) this.stop(ends);
    return durable;
  }

  /** Streams without any open run, which keep what ended sessions held. */
  waitingStreams(): readonly LineageStream[] {
    return [...this.streams.all()].filter(({ lineage }) => this.#relatives.keysOf(lineage).length === 0);
  }

  /** A user says that the coming runs are new: nothing of ended sessions is kept for them. */
  async endStream(key: string): Promise<boolean> {
    const stream = this.waitingStreams().find((one) => one.key === key);
    if (stream !== undefined) await this.streams.end(stream);
    return stream !== undefined;
  }

  /** Learns from the log what is open, and gives the rows of it; called once, before anything is served. */
  async restore(): Promise<readonly RunRow[]> {
    const open = await this.#services.log.store.openRuns();
    const rows = open.ok ? open.value : [];
    await this.streams.load(rows);
    this.dormant.load(rows, open.ok);
    return rows;
  }

  /**
   * Ends a run that must not go on, at once and in this turn. Its key stays taken until a trusted act ends it for good:
   * the agent still holds what the run held, so its next message must not begin a clean one.
   */
  stop(live: LiveRun): void {
    if (live.ended) return;
    const batch = new EventBatch();
    this.#foldEnd(live, "unsafe", batch);
    this.#moved(live);
    void appendBatch(this.#services.log, batch);
  }

  /** Ends an open run that is not resumed; false when there is none of this key. */
  async endDormant(key: string, cause: EndCause, exited = false): Promise<boolean> {
    const row = this.dormant.find(key);
    if (row === undefined) return false;
    const { principal } = row;
    const known = { key, kind: "trusted", lineage: lineageOf(key, principal) } as const;
    const live = this.obtain({ key: known, principal, ...this.#underOf(row), workspace: [] });
    if (!live.ok) return false;
    live.value.exited = exited;
    await this.end(live.value, cause);
    return true;
  }

  /**
   * The open run of a key for another one, which begins with what it holds: where it is not live, it is resumed from
   * the log under the policy of its own client. Undefined where it is not open, or where that is unknown.
   */
  async awake(key: string, principal: string): Promise<LiveRun | undefined> {
    const known = this.#live.get(key);
    const live = known ?? (await this.#wake(key, principal));
    if (live?.ready !== undefined) await live.ready;
    return live !== undefined && live.principal === principal && this.#live.get(key) === live ? live : undefined;
  }

  async #wake(key: string, principal: string): Promise<LiveRun | undefined> {
    const { clock, log } = this.#services;
    await this.#endings.get(key);
    const row = await log.store.run(key);
    if (!row.ok || row.value === undefined || row.value.principal !== principal) return undefined;
    if (row.value.endedWallMs !== undefined) return undefined;
    const under = this.#underOf(row.value);
    const { policy } = under;
    const guessed = clientIn(row.value.resume) === undefined && policy.digest !== row.value.policyDigest;
    // Which policy an unknown client had could only be guessed, and the guess would last as long as the run.
    if (startProblem(policy) !== undefined || guessed) return undefined;
    const idleMs = idleMsOf({ idleMs: idleIn(row.value.resume), policy });
    if ((await this.dormant.activeWallMs(row.value)) < clock.wallMs() - idleMs) return undefined;
    const known = { key, kind: "trusted", lineage: lineageOf(key, principal) } as const;
    const live = this.obtain({ key: known, principal, ...under, workspace: [] });
    return live.ok ? live.value : undefined;
  }

  /** The client and policy of a run that is not resumed: those of its own client, where the log knows that client. */
  #underOf({ principal, resume }: Pick<RunRow, "principal" | "resume">): Pick<LiveRun, "client" | "policy"> {
    const client = clientIn(resume) ?? { name: undefined, tag: undefined };
    return { client, policy: this.#services.policies.select({ principal, client: client.name, tag: client.tag }) };
  }

  /** A run whose facts another has taken over ends, once nothing can come through it any more. */
  async #retire(key: string): Promise<void> {
    const live = this.#live.get(key);
    if (live === undefined) await this.endDormant(key, "closed");
    else if (isHandedOn(live, this.#live)) await this.end(live, "closed");
  }

  /** Ends the runs whose client process is gone. */
  async endExited(): Promise<void> {
    const { live, dormant } = exitedRuns(this.#services.clients, this.#live, this.dormant);
    for (const run of live) await this.end(Object.assign(run, { exited: true }), "closed");
    for (const key of dormant) await this.endDormant(key, "closed", true);
  }

  /** A hook named the conversation of a client process: kept, so that a restart finds the process's run again. */
  async name(live: LiveRun, named: NonNullable<LiveRun["named"]>): Promise<void> {
    if (live.ready !== undefined) await live.ready;
    if (live.ended) return;
    live.named = named;
    await this.#services.log.store.putRun(rowOf(live, this.#services.clock.wallMs()));
  }

  /** Ends runs that were idle for longer than their policy allows. */
  async expire(): Promise<void> {
    await this.endExited();
    await endIdle({
      services: this.#services,
      registry: this,
      live: this.#live,
      policyOf: (row) => this.#underOf(row).policy,
    });
  }

  /** A new policy: every run is folded again under it from its log; labels never fall by it (gateway.md 9). */
  async refold(select: (live: LiveRun) => LoadedPolicy): Promise<void> {
    for (const live of this.#live.values()) {
      const policy = select(live);
      if (policy.digest === live.policy.digest) continue;
      live.ready = refoldRun(this.#refolding, live, policy).finally(() => {
        live.ready = undefined;
      });
      await live.ready;
    }
  }

  /** Puts every read on record that was sent before it was. */
  async flushDeferred(): Promise<void> {
    await flushDeferred(this.#services.log, ...this.#live.values(), ...this.streams.all());
  }

  /** The log can be written again: each run is what its log says, and what has no outcome there is unknown. */
  async rebuild(): Promise<void> {
    for (const live of this.#live.values()) {
      if (live.ready !== undefined) await live.ready;
      live.ready = rebuildRun(this.#refolding, live).finally(() => {
        live.ready = undefined;
      });
      await live.ready;
    }
  }

  /** Calls in flight become unknown, then the end is logged; a run that was stopped has both behind it. */
  #foldEnd(live: LiveRun, cause: EndCause, batch: EventBatch): void {
    const at = this.#services.clock.monotonicMs();
    for (const call of live.inFlight) {
      this.fold(live, { kind: "unknown", at, call, cause: "the run ended" }, batch);
    }
    if (live.ended) batch.add(live, { kind: "ended", at, cause });
    else this.fold(live, { kind: "ended", at, cause }, batch);
  }

  #forget(live: LiveRun, batch?: EventBatch): void {
    this.#relatives.leave(live, batch);
    live.ended = true;
    this.#live.delete(live.key);
    this.#moved(live);
  }

  *#sharing(): Generator<LiveRun> {
    yield* this.#live.values();
    for (const stream of this.streams.all()) yield* stream.remembered();
  }

  readonly #moved = (live: LiveRun): void => this.#watcher?.moved(live);

  #foldOne(live: LiveRun, event: RunEvent, batch: EventBatch): Result<void, string> {
    const before = live.state.q;
    const next = evolve(live.policy.engine, live.state, event);
    if (!next.ok) return next;
    live.state = next.value;
    noteSource(live, event, before);
    batch.add(live, event);
    if (live.policy.sharedChanged(before, next.value.q)) {
      batch.shared = this.shared.spread(live, this.#sharing());
      for (const other of this.#live.values()) if (other !== live) this.#moved(other);
    }
    this.#moved(live);
    return ok(undefined);
  }

  /** First message of a key. A run that must not be served is forgotten; the next message looks again. */
  async #resume(live: LiveRun, request: RunRequest): Promise<void> {
    await this.#endings.get(live.key);
    if (!(await this.#resumption.resume(live, request))) this.#forget(live);
    live.arrived = undefined;
    live.begins = false;
  }
}
