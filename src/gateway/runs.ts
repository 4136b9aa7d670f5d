/**
 * The runs that live in memory, and what they share: stores, audiences, open channels of one owner. All changes are
 * synchronous, which is the one lock that formal.md annex 13 asks for: an event of one run, and what it does to the
 * others, is one turn.
 */
import type { EndCause, RunEvent } from "../core/event.ts";
import { begin } from "../core/mechanism.ts";
import type { Result } from "../core/result.ts";
import { err, ok } from "../core/result.ts";
import { evolve } from "../core/step.ts";
import { DormantRuns } from "./dormant-runs.ts";
import { conversationRuns } from "./earlier-runs.ts";
import { appendBatch, Batch, recordLate } from "./journal.ts";
import { rebuildTriesMax, refoldMsMax, resumeMsMax } from "./limits.ts";
import { restrictiveImage } from "./lineage.ts";
import type { LiveRun, RunRequest } from "./live-run.ts";
import { asSpent, clientIn, idleIn, idleMsOf, newRun, rowOf, tooManyRuns, toTop, trackCalls } from "./live-run.ts";
import { OtherRuns } from "./other-runs.ts";
import type { LoadedPolicy } from "./policy-port.ts";
import { startProblem } from "./policy-port.ts";
import { foldHistory, lastRunIn } from "./refold.ts";
import { Relatives, settleArrived } from "./relatives.ts";
import { Resumption } from "./resumption.ts";
import { earlyKeyOf, isNamed, lineageOf } from "./run-keys.ts";
import type { Services } from "./services-port.ts";
import { SharedStates } from "./shared-states.ts";
import type { RunRow, Waiting } from "./store-port.ts";

/** Called before a run ends, for what is still owed: the outbox, reflection. Gives one sentence for each debt. */
export type EndingListener<Q> = (live: LiveRun<Q>) => Promise<readonly string[]>;

/** Called in the turn in which the state of a run has changed, and when it has ended. */
export type MovedListener<Q> = (live: LiveRun<Q>) => void;

/** Called with the history of a run that is taken up again, for what else is to be learnt from it. */
export type ResumedListener<Q> = (live: LiveRun<Q>, history: readonly RunEvent[], waiting: readonly Waiting[]) => void;

export class RunRegistry<Q> {
  readonly #services: Services<Q>;
  readonly #live = new Map<string, LiveRun<Q>>();
  readonly #ending: EndingListener<Q>[] = [];
  readonly #resumed: ResumedListener<Q>[] = [];
  readonly #onMoved: MovedListener<Q>[] = [];
  /** Ends on their way into the log: a run that begins under the same key must not take the ended one for open. */
  readonly #endings = new Map<string, Promise<unknown>>();
  /** What runs of one owner have in common, and keep when they end. */
  readonly shared: SharedStates<Q>;
  /** Runs of the log that nobody has taken up yet. */
  readonly dormant: DormantRuns<Q>;
  /** What one run does to the others. */
  readonly others: OtherRuns<Q>;
  readonly #relatives: Relatives<Q>;
  readonly #resumption: Resumption<Q>;

  constructor(services: Services<Q>) {
    this.#services = services;
    this.shared = new SharedStates(services.log.store);
    this.dormant = new DormantRuns(services, this.shared);
    this.others = new OtherRuns({ live: () => this.#live.values(), dormant: this.dormant, shared: this.shared });
    const { shared, dormant } = this;
    const find = (key: string): LiveRun<Q> | undefined => this.#live.get(key);
    const foldOne = (live: LiveRun<Q>, event: RunEvent, batch: Batch<Q>): Result<void, string> =>
      this.#foldOne(live, event, batch);
    this.#relatives = new Relatives({ find, dormant, fold: foldOne });
    this.#resumption = new Resumption({
      services,
      shared,
      dormant,
      relatives: this.#relatives,
      find,
      foldOne,
      fold: (live, event, batch) => this.fold(live, event, batch),
      awake: (key, principal) => this.awake(key, principal),
      retire: (key) => this.#retire(key),
      resumed: (live, history, waiting) => {
        for (const listener of this.#resumed) listener(live, history, waiting);
      },
    });
  }

  all(): Iterable<LiveRun<Q>> {
    return this.#live.values();
  }

  find(key: string): LiveRun<Q> | undefined {
    return this.#live.get(key);
  }

  onEnding(listener: EndingListener<Q>): void {
    this.#ending.push(listener);
  }

  onMoved(listener: MovedListener<Q>): void {
    this.#onMoved.push(listener);
  }

  onResumed(listener: ResumedListener<Q>): void {
    this.#resumed.push(listener);
  }

  /** The run of a key; a new one first folds its history, and nobody may use it before `ready` is undefined. */
  obtain(request: RunRequest<Q>): Result<LiveRun<Q>, string> {
    const known = this.#live.get(request.key.key);
    if (known !== undefined) {
      known.lastAt = this.#services.clock.monotonicMs();
      // Whoever took it up from the log for another's sake could not say where its client works.
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
  fold(live: LiveRun<Q>, event: RunEvent, batch: Batch<Q>): Result<void, string> {
    // A late result must not reach an agent whose new run would not carry its label, nor the log after the end.
    if (live.ended) return err("the run has ended");
    const folded = this.#foldOne(live, event, batch);
    if (!folded.ok) return folded;
    trackCalls(live, event);
    if (live.ancestors.length === 0 && live.groups.length === 0) return folded;
    const images = restrictiveImage(event);
    if (images.length > 0) this.#relatives.tell(live, images, batch);
    return folded;
  }

  /**
   * Ends a run: what is in flight becomes unknown, then the end is logged. Labels of stores stay. The answer says what
   * the run still owes, in sentences. What it held waits for later runs of its conversation, but where a person says
   * that it is over (`clears`): those begin clean then, whichever runs it had.
   */
  async end(live: LiveRun<Q>, cause: EndCause, clears: boolean = cause === "operator"): Promise<readonly string[]> {
    if (live.ready !== undefined) await live.ready;
    const owed: string[] = [];
    if (this.#live.get(live.key) !== live) return owed;
    for (const listener of this.#ending) owed.push(...(await listener(live)));
    const earlier = clears ? await conversationRuns(this.#services.log.store, live) : ok([]);
    if (this.#live.get(live.key) !== live) return owed; // somebody else ended it meanwhile
    const batch = new Batch<Q>();
    const cleared = earlier.ok ? this.#cleared(live, earlier.value) : [];
    this.#foldEnd(live, cause, batch);
    this.#forget(live);
    live.spent = clears;
    const wallMs = this.#services.clock.wallMs();
    batch.runs = [...cleared, { ...rowOf(live, wallMs), endedWallMs: wallMs }];
    const written = appendBatch(this.#services.log, batch);
    this.#endings.set(live.key, written);
    await written;
    if (this.#endings.get(live.key) === written) this.#endings.delete(live.key);
    return owed;
  }

  /**
   * Ends a run that must not go on, at once and in this turn. Its key stays taken until a trusted act ends it for good:
   * the agent still holds what the run held, so its next message must not begin a clean one.
   */
  stop(live: LiveRun<Q>): void {
    if (live.ended) return;
    const batch = new Batch<Q>();
    this.#foldEnd(live, "unsafe", batch);
    this.#moved(live);
    void appendBatch(this.#services.log, batch);
  }

  /** Ends a run that nobody has taken up; false when there is none of this key. */
  async endDormant(key: string, cause: EndCause): Promise<boolean> {
    const row = this.dormant.find(key);
    if (row === undefined) return false;
    const { principal } = row;
    const known = { key, kind: "trusted", lineage: lineageOf(key, principal) } as const;
    const live = this.obtain({ key: known, principal, ...this.#underOf(row), workspace: [] });
    if (!live.ok) return false;
    await this.end(live.value, cause);
    return true;
  }

  /**
   * The open run of a key for the sake of another one, which begins with what it holds: where nobody has taken it up, it
   * is taken up from the log under the policy of its own client. Undefined where it is not open, or nobody can say so.
   */
  async awake(key: string, principal: string): Promise<LiveRun<Q> | undefined> {
    const known = this.#live.get(key);
    const live = known ?? (await this.#wake(key, principal));
    if (live?.ready !== undefined) await live.ready;
    return live !== undefined && live.principal === principal && this.#live.get(key) === live ? live : undefined;
  }

  async #wake(key: string, principal: string): Promise<LiveRun<Q> | undefined> {
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

  /** What a run that nobody has taken up is under: the policy of its own client, where the log knows that one. */
  #underOf({ principal, resume }: Pick<RunRow, "principal" | "resume">): Pick<LiveRun<Q>, "client" | "policy"> {
    const client = clientIn(resume) ?? { name: undefined, tag: undefined };
    return { client, policy: this.#services.policies.select({ principal, client: client.name, tag: client.tag }) };
  }

  /** A run whose facts another has taken over ends, once nothing can come through it any more. */
  async #retire(key: string): Promise<void> {
    const live = this.#live.get(key);
    if (live === undefined) await this.endDormant(key, "closed");
    else if (this.#isHandedOn(live)) await this.end(live, "closed");
  }

  /**
   * What the client's process did before its hook spoke is held by the conversation that the hook named, which is still
   * open; no answer is on its way, and no child tells it anything.
   */
  #isHandedOn({ key, ancestors, principal, inFlight }: LiveRun<Q>): boolean {
    const to = ancestors.find((above) => earlyKeyOf(above, principal) === key);
    if (to === undefined || !this.#live.has(to) || inFlight.size > 0) return false;
    return [...this.#live.values()].every((other) => !other.ancestors.includes(key));
  }

  /** A hook named the conversation of a client process: kept, so that a restart finds the process's run again. */
  async name(live: LiveRun<Q>, named: NonNullable<LiveRun<Q>["named"]>): Promise<void> {
    if (live.ready !== undefined) await live.ready;
    if (live.ended) return;
    live.named = named;
    await this.#services.log.store.putRun(rowOf(live, this.#services.clock.wallMs()));
  }

  /** A trusted act of a principal: every run that only a session or the principal named ends (`runs new`). */
  async endNamed(principal: string): Promise<void> {
    const named = [...this.#live.values()].filter((live) => live.principal === principal && isNamed(live));
    for (const live of named) await this.end(live, "operator");
  }

  /** Ends runs that were idle for longer than their policy allows. */
  async expire(): Promise<void> {
    const now = this.#services.clock.monotonicMs();
    for (const live of this.#live.values()) {
      if (now - live.lastAt >= idleMsOf(live)) await this.end(live, "expired");
      else if (this.#isHandedOn(live)) await this.end(live, "closed");
    }
    const { clock } = this.#services;
    for (const run of this.dormant.all()) {
      const { policy } = this.#underOf(run);
      const since = clock.wallMs() - idleMsOf({ idleMs: idleIn(run.resume), policy });
      if (run.begunWallMs > since || (await this.dormant.activeWallMs(run)) > since) continue;
      await this.endDormant(run.key, "expired");
    }
  }

  /** A new policy: every run is folded again under it from its log; labels never fall by it (gateway.md 9). */
  async refold(select: (live: LiveRun<Q>) => LoadedPolicy<Q>): Promise<void> {
    for (const live of this.#live.values()) {
      const policy = select(live);
      if (policy.digest === live.policy.digest) continue;
      live.ready = this.#refoldOne(live, policy).finally(() => {
        live.ready = undefined;
      });
      await live.ready;
    }
  }

  /** Puts every read on record that was sent before it was. */
  async recordLate(): Promise<void> {
    const waiting = [...this.#live.values()].filter((live) => live.late.length > 0);
    await Promise.all(waiting.map((live) => recordLate(this.#services.log, live)));
  }

  /** The log can be written again: each run is what its log says, and what has no outcome there is unknown. */
  async rebuild(): Promise<void> {
    for (const live of this.#live.values()) {
      if (live.ready !== undefined) await live.ready;
      live.ready = this.#rebuildOne(live).finally(() => {
        live.ready = undefined;
      });
      await live.ready;
    }
  }

  async #rebuildOne(live: LiveRun<Q>): Promise<void> {
    const { log } = this.#services;
    for (let tries = 0; tries < rebuildTriesMax && !live.ended; tries += 1) {
      const before = live.state;
      // What was folded so far is durable or refused once an append behind it has its answer.
      if (!(await recordLate(log, live))) return;
      const history = await log.replay(live.key, live.policy.lattice);
      const shared = await this.shared.of(live.principal, live.policy);
      const open = await log.store.openCalls();
      if (live.state !== before) continue; // an event came in between that the history may lack
      live.inFlight.clear();
      live.state = begin(live.policy.engine, live.key, shared);
      const folded = history.ok && foldHistory(live, lastRunIn(history.value.events), this.#limit(resumeMsMax)).ok;
      if (live.lost || !folded || !open.ok || !history.value.complete) toTop(live);
      const batch = new Batch<Q>();
      const cause = "the event log stopped while it ran";
      this.#resumption.abandon(live, { open: open.ok ? open.value : [], cause }, batch);
      this.#moved(live);
      if (batch.parts.length > 0) await appendBatch(log, batch);
      return;
    }
  }

  /** Other runs of a conversation that was cleared keep what they hold to themselves from now on. */
  #cleared(live: LiveRun<Q>, rows: readonly RunRow[]): readonly RunRow[] {
    const others = rows.filter(({ key }) => key !== live.key);
    return others.map((row) => {
      const spent = asSpent(row);
      const open = this.#live.get(row.key);
      if (open === undefined) {
        if (row.endedWallMs === undefined) this.dormant.note(spent);
        return spent;
      }
      open.spent = true;
      this.#relatives.leave(open);
      return rowOf(open, this.#services.clock.wallMs());
    });
  }

  /** What is in flight becomes unknown, then the end is logged; a run that was stopped has both behind it. */
  #foldEnd(live: LiveRun<Q>, cause: EndCause, batch: Batch<Q>): void {
    const at = this.#services.clock.monotonicMs();
    for (const call of live.inFlight) {
      this.fold(live, { kind: "unknown", at, call, cause: "the run ended" }, batch);
    }
    if (live.ended) batch.add(live, { kind: "ended", at, cause });
    else this.fold(live, { kind: "ended", at, cause }, batch);
  }

  #forget(live: LiveRun<Q>): void {
    live.ended = true;
    this.#live.delete(live.key);
    this.#relatives.leave(live);
    this.#moved(live);
  }

  #moved(live: LiveRun<Q>): void {
    for (const listener of this.#onMoved) listener(live);
  }

  #foldOne(live: LiveRun<Q>, event: RunEvent, batch: Batch<Q>): Result<void, string> {
    const before = live.state.q;
    const next = evolve(live.policy.engine, live.state, event);
    if (!next.ok) return next;
    live.state = next.value;
    batch.add(live, event);
    if (live.policy.sharedChanged(before, next.value.q)) {
      batch.shared = this.shared.spread(live, this.#live.values());
      for (const other of this.#live.values()) if (other !== live) this.#moved(other);
    }
    this.#moved(live);
    return ok(undefined);
  }

  async #refoldOne(live: LiveRun<Q>, policy: LoadedPolicy<Q>): Promise<void> {
    live.arrived = []; // relatives go on meanwhile
    await recordLate(this.#services.log, live);
    const history = await this.#services.log.replay(live.key, policy.lattice);
    const shared = await this.shared.of(live.principal, policy);
    void this.dormant.prepare(live.principal, policy);
    live.policy = policy;
    live.state = begin(policy.engine, live.key, shared);
    const events = history.ok ? lastRunIn(history.value.events) : [];
    const folded = history.ok && foldHistory(live, events, this.#limit(refoldMsMax)).ok;
    settleArrived(live, events);
    if (live.lost || !folded || !history.value.complete) toTop(live);
    this.#moved(live);
  }

  /** First message of a key. A run that must not be served is forgotten; the next message looks again. */
  async #resume(live: LiveRun<Q>, request: RunRequest<Q>): Promise<void> {
    await this.#endings.get(live.key);
    if (!(await this.#resumption.resume(live, request))) this.#forget(live);
    live.arrived = undefined;
    live.begins = false;
  }

  #limit(msMax: number): { readonly clock: Services<Q>["clock"]; readonly msMax: number } {
    return { clock: this.#services.clock, msMax };
  }
}
