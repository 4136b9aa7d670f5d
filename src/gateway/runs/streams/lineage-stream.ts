/**
 * What the open runs of one lineage have in common: a stream of everything that restricted one of them, kept once,
 * under a run key of its own (docs/decisions/0033). Each member folds it where its own history stood when it looked, so
 * that what a member costs does not depend on how many there are.
 */
import type { RunEvent } from "../../../core/event.ts";
import { begin, branched } from "../../../core/mechanism.ts";
import type { ModelState } from "../../../core/run.ts";
import { evolve } from "../../../core/step.ts";
import { streamEntriesMax } from "../../ports/limits.ts";
import type { LoadedPolicy } from "../../ports/policy.ts";
import type { RunRow, SharedRow } from "../../ports/store.ts";
import { entryOf, type EventBatch } from "../event-batch.ts";
import {
  type Deferred,
  type JoinedStream,
  type LiveRun,
  type Teller,
  newRun,
  noteSource,
  ownDeferred,
  sameLattice,
  toTop,
} from "../live-run.ts";

type Posted = {
  readonly n: number;
  /** The run in whose own log the event stands. */
  readonly by: string;
  /** Its number among the runs that entered something. */
  readonly whose: number;
  readonly events: readonly RunEvent[];
  readonly from: Teller;
};

export type StreamFacts = {
  readonly key: string;
  readonly lineage: string;
  readonly principal: string;
  readonly policyDigest: string;
  readonly begunWallMs: number;
  /** What no open run holds any more is kept until then, for those that begin (ms since 1970). */
  readonly keptUntilWallMs: number;
  /** Entries of it may be missing in the log: a run that begins with it holds everything. */
  readonly lost: boolean;
  /** Number of its newest entry. */
  readonly count: number;
};

export type StreamSetup = {
  /** Gives the owner's other runs the stores of one that a received event changed. */
  readonly spread: (live: LiveRun) => SharedRow;
  /** The row of a run as it is now: it says of which stream the run is a member. */
  readonly row: (live: LiveRun) => RunRow;
  /** So many events entered the stream of the subject, or were read of it. */
  readonly grew: (subject: LiveRun, events: number) => void;
  /** The state of a run has changed in this turn. */
  readonly moved: (live: LiveRun) => void;
  /** The state of these will have changed when it is next looked at. */
  readonly stirred: (members: ReadonlySet<LiveRun>) => void;
  /** Some run of the lineage is still reading its history, and may need any entry. */
  readonly reading: (lineage: string) => boolean;
};

export class LineageStream implements JoinedStream {
  readonly key: string;
  readonly lineage: string;
  readonly principal: string;
  readonly deferred: Deferred;
  /** Open runs in memory that have joined. */
  readonly members = new Set<LiveRun>();
  count: number;
  lost: boolean;
  keptUntilWallMs: number;
  /** Stands for the stream under the policy of its members where it is folded by itself, for its snapshot. */
  subject: LiveRun | undefined;
  readonly #facts: StreamFacts;
  readonly #setup: StreamSetup;
  /** Runs of the stream alone, by policy: what a run begins with that joins with the whole of it. */
  readonly #plain = new Map<string, LiveRun>();
  /** Newest entries, those that some member may not have folded yet. */
  #entries: Posted[] = [];
  /**
   * Numbers of the runs that these are by. Every member looks at every entry, and two keys of sessions have one length and
   * one beginning, so that to compare them costs as much as the fold.
   */
  readonly #numbers = new Map<string, number>();
  #changed: SharedRow | undefined;

  constructor(facts: StreamFacts, setup: StreamSetup) {
    this.key = facts.key;
    this.lineage = facts.lineage;
    this.principal = facts.principal;
    this.count = facts.count;
    this.lost = facts.lost;
    this.keptUntilWallMs = facts.keptUntilWallMs;
    this.#facts = facts;
    this.#setup = setup;
    this.deferred = { entries: [], isTimed: false, owners: () => this.members };
  }

  row(endedWallMs?: number): RunRow {
    const { key, principal, policyDigest, begunWallMs } = this.#facts;
    return {
      key,
      principal,
      policyDigest,
      begunWallMs,
      ...(endedWallMs === undefined ? {} : { endedWallMs }),
      idleExpiresWallMs: this.keptUntilWallMs,
      top: this.lost,
      resume: { lineage: this.lineage },
    };
  }

  /** Puts the images of an event in front of all members but the run that has it in full. */
  post(live: LiveRun, events: readonly RunEvent[], batch: EventBatch, by = live.key): void {
    this.count += 1;
    const { policy, principal } = live;
    const whose = this.#numbers.get(by) ?? this.#numbers.size;
    this.#numbers.set(by, whose);
    const posted: Posted = { n: this.count, by, whose, events, from: { policy, principal } };
    this.#entries.push(posted);
    const part = { live: { key: this.key, policy, principal, places: live.places }, events };
    this.deferred.entries.push(entryOf({ ...part, note: { n: posted.n, by } }, {}));
    batch.queues.add(this.deferred);
    // A member has folded all before its own event, in the same turn.
    if (live.stream === this && live.seen === posted.n - 1) live.seen = posted.n;
    this.#inTurn(live, batch);
    this.#trim();
    this.#grew(live, events.length);
  }

  /** Notes what a reader of its snapshot need not read, under the policy of a member for as long as there is one of it. */
  #grew({ policy }: LiveRun, events: number): void {
    const known = this.subject;
    if (known?.policy.digest !== policy.digest && !this.#hasMemberUnder(known?.policy))
      this.subject = this.#alone(policy);
    if (this.subject !== undefined && !this.lost) this.#setup.grew(this.subject, events);
  }

  #hasMemberUnder(policy: LoadedPolicy | undefined): boolean {
    for (const one of this.members) if (one.policy.digest === policy?.digest) return true;
    return false;
  }

  /** A run of the stream alone, of which nothing is folded. */
  #alone(policy: LoadedPolicy): LiveRun {
    const { key, lineage, principal } = this;
    const plain = newRun({ key: { key, kind: "trusted", lineage }, principal, policy, workspace: [] }, 0);
    plain.arrived = undefined;
    return plain;
  }

  /** A run of the stream alone for its history to be folded into, under the policy of one that begins. */
  alone({ policy }: LiveRun, shared: ModelState | undefined): LiveRun {
    const plain = this.#alone(policy);
    plain.folded = begin(policy.engine, this.key, shared);
    return plain;
  }

  /** From now on the run is a member that has folded the stream up to `at`, `whole` in the words of its own log. */
  join(live: LiveRun, { at, how }: { at: number; how: "resumed" | "later" | "whole" }, batch: EventBatch): void {
    this.deferred.entries.push(...live.deferred.entries.splice(0));
    live.deferred = this.deferred;
    batch.queues.add(this.deferred);
    live.stream = this;
    live.heardOf = this.key;
    live.seen = at;
    live.heard = at;
    // What it received since its own log last said so is folded by now: its next entry has to say that.
    live.heardLogged = how === "resumed" ? -1 : at;
    this.members.add(live);
    if (how === "resumed") return;
    batch.mark(live, { of: this.key, joined: at, ...(how === "whole" ? { whole: true } : {}) });
    batch.addRows(this.#setup.row(live));
  }

  leave(live: LiveRun, batch: EventBatch | undefined): void {
    if (live.stream !== this) return;
    this.catchUp(live);
    batch?.queues.add(this.deferred);
    batch?.mark(live, { of: this.key, heard: live.heard, left: true });
    live.stream = undefined;
    live.deferred = ownDeferred(live);
    this.members.delete(live);
    batch?.addRows(this.#setup.row(live));
  }

  catchUp(live: LiveRun): void {
    const from = live.seen;
    // First of all: what is folded reads the state, which is what brought it here.
    live.seen = this.count;
    const [first] = this.#entries;
    if (from >= this.count) return;
    if (first === undefined || first.n > from + 1) {
      return live.key === this.key ? this.#forget(live) : toTop(live, [this.key]);
    }
    const own = this.#numbers.get(live.key);
    for (let index = from + 1 - first.n; index < this.#entries.length; index += 1) {
      const posted = this.#entries[index];
      if (posted === undefined || posted.whose === own) continue;
      live.heard = posted.n;
      if (!live.ended) this.#fold(live, posted);
    }
  }

  /** A run has just folded the whole stream up to `at` and nothing else: later ones need not read it. */
  remember(live: LiveRun, at: number): void {
    const { policy, folded } = live;
    if (this.lost || this.#plain.has(policy.digest)) return;
    const plain = this.#alone(policy);
    plain.folded = branched(policy.engine, folded, this.key);
    for (const [from, gained] of live.sources) plain.sources.set(from, new Set(gained));
    this.recall(plain, at);
    this.#grew(live, at);
  }

  /** The history of the stream up to `at` was folded into a run of its own: one that begins need not read it. */
  recall(plain: LiveRun, at: number, behind = 0): void {
    if (this.lost || this.#plain.has(plain.policy.digest)) return;
    plain.seen = at;
    this.#plain.set(plain.policy.digest, plain);
    if (behind > 0) this.#grew(plain, behind);
  }

  /** What it remembers: the stores of these have to be as those of any run of the owner. */
  remembered(): Iterable<LiveRun> {
    return this.#plain.values();
  }

  /** Whether a run can begin with the whole of it without reading it. */
  remembers({ policy }: LiveRun): boolean {
    const plain = this.#plain.get(policy.digest);
    if (plain !== undefined) this.catchUp(plain);
    return !this.lost && this.#plain.has(policy.digest);
  }

  /** Puts a run that begins with this event where the stream is now, where `remembers` says so in the same turn. */
  begin(live: LiveRun, begun: RunEvent): void {
    const { policy } = live;
    const plain = this.#plain.get(policy.digest);
    if (plain === undefined) return toTop(live, [this.key]);
    const folded = branched(policy.engine, plain.folded, live.key);
    // Stores are as they are now: what the stream brought to them is in their row.
    live.folded = { ...folded, q: policy.withShared(folded.q, live.folded.q) };
    // What a mechanism counts from the beginning of a run begins with this one.
    const own = evolve(policy.engine, live.folded, begun);
    if (own.ok) live.folded = own.value;
    else toTop(live);
    for (const [from, gained] of plain.sources) live.sources.set(from, new Set(gained));
  }

  /** All entries of a stream that began a moment ago. */
  all(): readonly RunEvent[] {
    return this.#entries.flatMap(({ events }) => events);
  }

  #fold(live: LiveRun, { events, from, by }: Posted): void {
    const { policy } = live;
    const isPlain = live.key === this.key;
    if (isPlain && from.policy.digest !== policy.digest) return this.#forget(live);
    if (!sameLattice(from.policy, policy)) return toTop(live, [by]);
    const start = live.folded.q;
    for (const event of events) {
      const before = live.folded.q;
      const next = evolve(policy.engine, live.folded, event);
      if (!next.ok) {
        if (isPlain) return this.#forget(live);
        toTop(live);
        continue;
      }
      live.folded = next.value;
      noteSource(live, event, before);
    }
    if (!policy.sharedChanged(start, live.folded.q)) return;
    // Under one policy the run of the event has changed the stores already, and later events may have since.
    if (from.policy.digest === policy.digest)
      live.folded = { ...live.folded, q: policy.withShared(live.folded.q, start) };
    else this.#changed = this.#setup.spread(live);
  }

  /** What it holds cannot be had without reading the stream. */
  #forget(plain: LiveRun): void {
    plain.lost = true;
    this.#plain.delete(plain.policy.digest);
  }

  /** Some members cannot wait for their next look: others depend on their state, or theirs on the stores of this moment. */
  #inTurn(live: LiveRun, batch: EventBatch): void {
    for (const other of this.members) {
      if (other === live || other.arrived !== undefined || !foldsAtOnce(other, live)) continue;
      this.catchUp(other);
      this.#setup.moved(other);
    }
    this.#setup.stirred(this.members);
    for (const plain of this.#plain.values()) if (foldsAtOnce(plain, live)) this.catchUp(plain);
    if (this.#changed === undefined) return;
    batch.shared = this.#changed;
    this.#changed = undefined;
  }

  /** Forgets entries that all members have; a member that lags far behind folds them now. */
  #trim(): void {
    if (this.#entries.length < streamEntriesMax) return;
    if (this.#setup.reading(this.lineage)) return;
    for (const live of [...this.members, ...this.#plain.values()]) if (!live.ended) this.catchUp(live);
    this.#entries = [];
    this.#numbers.clear();
  }
}

function foldsAtOnce({ policy }: LiveRun, from: LiveRun): boolean {
  return policy.remembersLists || policy.looksBackAtStores || policy.digest !== from.policy.digest;
}
