/**
 * Lets whole runs leave the log when they ended longer ago than `audit.keepDays` (docs/decisions/0044), and while the log is
 * larger than `audit.keepMb` those that ended first (docs/decisions/0058). A run stays as long as anything open may need it: it is open, a call of it has no outcome, an approval of it can still be decided or used, or it
 * is the stream of a lineage and a run is kept that may have been a member. What it was begun from stays as a row.
 */
import { type Result, ok } from "../../../core/result.ts";
import { pruneBatchRecords, pruneRecordsMax, pruneRunsAtOnce } from "../../ports/limits.ts";
import type { EndedPlace, EndedRun, Leaving, Place, SumUpWay } from "../../ports/retention.ts";
import type { ClientProcesses } from "../../ports/services.ts";
import type { EventLog, RunRow, Store, StoreFailure } from "../../ports/store.ts";
import { conversationOf, mintedPrefix, processOf, streamPrefix } from "../run-key.ts";

export type RetentionWay = Omit<SumUpWay, "pressing" | "isNameless"> & {
  /** Whether a client process is gone, so that it will make no call again; without it each may. */
  readonly clients?: ClientProcesses | undefined;
  /** Bytes that the log may have; absent: any number. */
  readonly keepBytes?: number | undefined;
  /** A run that is open in memory, whatever its row says. */
  readonly isOpen: (run: string) => boolean;
};

/** Why runs that are old enough stay. */
export type Staying = { readonly calls: number; readonly approvals: number; readonly members: number };

export type Swept = {
  readonly runs: number;
  readonly records: number;
  /** Transactions that it took, and the longest of them in ms. */
  readonly steps: number;
  readonly longestMs: number;
  readonly staying: Staying;
  /** Runs that ended before (ms since 1970) left, or would, because of their age. */
  readonly endedBefore: number;
  /** Records among these that were young enough to stay, but for the limit in bytes. */
  readonly early: number;
  /** What the log still needs where that is more than the limit. */
  readonly over: Over | undefined;
};

/** The limit in bytes cannot be met. */
export type Over = {
  readonly bytes: number;
  /** Runs that are open, whose records stay. */
  readonly openRuns: number;
};

type Counting = { records: number; steps: number; longestMs: number };

const dayMs = 86_400_000;

type Kind = "runs" | "streams";

function isStream(key: string): boolean {
  return key.startsWith(streamPrefix);
}

function isBefore(left: Place, right: Place): boolean {
  return left.writer < right.writer || (left.writer === right.writer && left.seq < right.seq);
}

type Answer<T> = Result<T, StoreFailure>;

/** Records of one run; `isWhole` where no more of them follow. */
type Some = { readonly leaving: readonly Leaving[]; readonly bytes: number; readonly isWhole: boolean };

/** One look through the log for what may leave. */
class Sweep {
  readonly staying = { calls: 0, approvals: 0, members: 0 };
  readonly counts: Counting = { records: 0, steps: 0, longestMs: 0 };
  /** Runs of which records left, or would. */
  readonly left = new Set<string>();
  readonly endedBefore: number;
  readonly #store: Store;
  readonly #way: RetentionWay;
  #firstKept: Answer<ReadonlyMap<string, Place>> | undefined;

  constructor(store: Store, way: RetentionWay, endedBefore = way.wallMs - way.keepDays * dayMs) {
    this.#store = store;
    this.#way = way;
    this.endedBefore = endedBefore;
  }

  /** Runs that may leave; those that ended first first. A failure comes last. */
  async *leaving(kind: Kind): AsyncGenerator<Answer<RunRow>, void> {
    for await (const one of this.#ended(this.endedBefore)) {
      if (!one.ok) return yield one;
      const { row, hasRecords, held } = one.value;
      if (!hasRecords || isStream(row.key) !== (kind === "streams") || this.#way.isOpen(row.key)) continue;
      const members = kind === "streams" && held === undefined ? await this.#hasMembers(row) : ok(false);
      if (!members.ok) return yield members;
      if (held === "call") this.staying.calls += 1;
      else if (held === "approval") this.staying.approvals += 1;
      else if (members.value) this.staying.members += 1;
      else yield ok(row);
    }
  }

  /** Records of the runs that may leave, a step of one run at a time. */
  async *records(kind: Kind): AsyncGenerator<Answer<Some>, void> {
    for await (const row of this.leaving(kind)) {
      if (!row.ok) return yield row;
      const { key: run } = row.value;
      let after: Place | undefined;
      for (;;) {
        const heads = await this.#store.runHeads(run, after, pruneRecordsMax);
        if (!heads.ok) return yield heads;
        const isWhole = heads.value.length < pruneRecordsMax;
        const bytes = heads.value.reduce((sum, head) => sum + head.bytes, 0);
        const leaving = heads.value.map(({ writer, seq, fingerprint }) => ({ writer, seq, fingerprint, run }));
        yield ok({ leaving, bytes, isWhole });
        if (isWhole) break;
        after = heads.value.at(-1);
      }
    }
  }

  async *#ended(before: number): AsyncGenerator<Answer<EndedRun<RunRow>>, void> {
    let after: EndedPlace | undefined;
    const { wallMs, atMs, pause } = this.#way;
    for (;;) {
      const start = atMs();
      const page = await this.#store.endedRuns({ before, after, limit: pruneRunsAtOnce, wallMs });
      if (!page.ok) return yield page;
      if (!(await pause(atMs() - start))) return;
      for (const one of page.value) yield ok(one);
      const last = page.value.at(-1)?.row;
      if (page.value.length < pruneRunsAtOnce || last?.endedWallMs === undefined) return;
      after = { endedWallMs: last.endedWallMs, key: last.key };
    }
  }

  /** Whether a run stays that has records from before the end of this stream, and so may have been a member. */
  async #hasMembers({ key, principal }: RunRow): Promise<Answer<boolean>> {
    this.#firstKept ??= await this.#findKept();
    if (!this.#firstKept.ok) return this.#firstKept;
    const first = this.#firstKept.value.get(principal);
    const newest = await this.#store.records({ run: key, order: "newest", limit: 1 });
    if (!newest.ok) return newest;
    const [last] = newest.value;
    return ok(first !== undefined && last !== undefined && isBefore(first, last));
  }

  /** The first record of all runs of a principal that stay; called when all runs that may leave have left. */
  async #findKept(): Promise<Answer<ReadonlyMap<string, Place>>> {
    const kept = new Map<string, Place>();
    const keep = async ({ key, principal }: RunRow): Promise<Answer<void>> => {
      const heads = isStream(key) ? ok([]) : await this.#store.runHeads(key, undefined, 1);
      if (!heads.ok) return heads;
      const [first] = heads.value;
      const known = kept.get(principal);
      if (first !== undefined && (known === undefined || isBefore(first, known))) kept.set(principal, first);
      return ok(undefined);
    };
    const open = await this.#store.openRuns();
    if (!open.ok) return open;
    for (const row of open.value) {
      const done = await keep(row);
      if (!done.ok) return done;
    }
    for await (const one of this.#ended(Number.MAX_SAFE_INTEGER)) {
      if (!one.ok) return one;
      const done = one.value.hasRecords ? await keep(one.value.row) : ok(undefined);
      if (!done.ok) return done;
    }
    return ok(kept);
  }
}

/** How many bytes the log has too many; not above zero where it has none, or no limit. */
async function excessOf(store: Store, { keepBytes }: RetentionWay): Promise<Answer<number>> {
  if (keepBytes === undefined) return ok(0);
  const bytes = await store.bytes();
  return bytes.ok ? ok(bytes.value - keepBytes) : bytes;
}

/** What a sweep would remove; nothing is changed. What leaves for its bytes is an estimate. */
export async function wouldLeave(store: Store, way: RetentionWay): Promise<Answer<Swept>> {
  const byAge = new Sweep(store, way);
  const excess = await excessOf(store, way);
  if (!excess.ok) return excess;
  let left = excess.value;
  let early = 0;
  const sweeps = excess.value > 0 ? [byAge, new Sweep(store, way, Number.MAX_SAFE_INTEGER)] : [byAge];
  for (const sweep of sweeps) {
    const known = new Set(byAge.left);
    // A stream leaves with its last kept member, so those of runs that would leave count as staying here.
    for (const kind of ["runs", "streams"] as const) {
      for await (const some of sweep.records(kind)) {
        if (!some.ok) return some;
        if (sweep !== byAge && left <= 0) break;
        const { leaving, bytes } = some.value;
        if (leaving.some(({ run }) => known.has(run))) continue;
        left -= bytes;
        for (const { run } of leaving) byAge.left.add(run);
        byAge.counts.records += leaving.length;
        if (sweep !== byAge) early += leaving.length;
      }
    }
  }
  const over = left > 0 ? await overOf(store, left + (way.keepBytes ?? 0)) : ok(undefined);
  return over.ok ? ok({ ...outcomeOf(byAge), early, over: over.value }) : over;
}

async function overOf(store: Store, bytes: number): Promise<Answer<Over>> {
  const open = await store.openRuns();
  return open.ok ? ok({ bytes, openRuns: open.value.length }) : open;
}

function outcomeOf({ counts, left, staying, endedBefore }: Sweep): Swept {
  return { ...counts, runs: left.size, staying, endedBefore, early: 0, over: undefined };
}

/** Removes what may leave, in steps; a failure of the store ends it between two of them. */
export async function prune(log: Removing, way: RetentionWay): Promise<Answer<Swept>> {
  const byAge = new Sweep(log.store, way);
  const aged = await removed(log, way, byAge, undefined);
  if (!aged.ok) return aged;
  const summed = aged.value ? await sumUp(log, way, false) : aged;
  if (!summed.ok) return summed;
  const trimmed = summed.value ? await trim(log, way, byAge) : ok({ early: 0, over: undefined });
  if (!trimmed.ok) return trimmed;
  const given = summed.value ? await giveBack(log.store, way) : ok(undefined);
  return given.ok ? ok({ ...outcomeOf(byAge), ...trimmed.value }) : given;
}

function sumUp(log: Removing, way: RetentionWay, pressing: boolean): Promise<Answer<boolean>> {
  return log.sumUp({ ...way, pressing, isNameless: (key) => isNameless(key, way.clients) });
}

/**
 * Whether no message can lead to the run of this key again. A conversation, a token and the one run of a user can be named
 * at any time: without their rows they would begin clean, or be worth something again.
 */
function isNameless(key: string, clients: ClientProcesses | undefined): boolean {
  if (isStream(key)) return true;
  const own = key.startsWith(mintedPrefix) ? null : /\/(?:session|process):[^/]*$/.exec(key);
  if (own === null) return false;
  const principal = key.slice(0, own.index);
  if (conversationOf(key, principal) !== undefined) return false;
  const process = processOf(key, principal);
  return process === undefined || clients?.isGone(process) === true;
}

type Trimmed = Pick<Swept, "early" | "over">;

/** Brings the log below its limit in bytes: fingerprints of what left go first, then the runs that ended first. */
async function trim(log: Removing, way: RetentionWay, { counts, left }: Sweep): Promise<Answer<Trimmed>> {
  const { store } = log;
  const nothing = { early: 0, over: undefined };
  const before = await excessOf(store, way);
  if (!before.ok || before.value <= 0) return before.ok ? ok(nothing) : before;
  const summed = await sumUp(log, way, true);
  if (!summed.ok || !summed.value) return summed.ok ? ok(nothing) : summed;
  const sweep = new Sweep(store, way, Number.MAX_SAFE_INTEGER);
  const done = await removed(log, way, sweep, () => excessOf(store, way));
  if (!done.ok) return done;
  counts.records += sweep.counts.records;
  counts.steps += sweep.counts.steps;
  counts.longestMs = Math.max(counts.longestMs, sweep.counts.longestMs);
  for (const run of sweep.left) left.add(run);
  const after = await excessOf(store, way);
  if (!after.ok) return after;
  const isOver = done.value && after.value > 0;
  const over = isOver ? await overOf(store, after.value + (way.keepBytes ?? 0)) : ok(undefined);
  return over.ok ? ok({ early: sweep.counts.records, over: over.value }) : over;
}

type Removing = Pick<EventLog, "store" | "prune" | "sumUp">;

/**
 * Removes what a sweep finds; false where it was stopped. With `excess` only while that many bytes are too many, and then
 * whole runs: it is asked again whenever enough seems to have left.
 */
async function removed(
  log: Removing,
  way: RetentionWay,
  sweep: Sweep,
  excess: (() => Promise<Answer<number>>) | undefined,
): Promise<Answer<boolean>> {
  const reason = excess === undefined ? { ...way, keepBytes: undefined } : way;
  let tooMany = Number.POSITIVE_INFINITY;
  let going = 0;
  for (const kind of ["runs", "streams"] as const) {
    const first = excess === undefined ? ok(tooMany) : await excess();
    if (!first.ok || first.value <= 0) return first.ok ? ok(true) : first;
    tooMany = first.value;
    let waiting: Leaving[] = [];
    for await (const some of sweep.records(kind)) {
      if (!some.ok) return some;
      waiting.push(...some.value.leaving);
      going += some.value.bytes;
      const isEnough = some.value.isWhole && going >= tooMany;
      if (waiting.length < pruneBatchRecords && !isEnough) continue;
      const went = await removeAll(log, reason, sweep, waiting);
      if (!went.ok || !went.value) return went;
      waiting = [];
      if (!isEnough || excess === undefined) continue;
      const now = await excess();
      if (!now.ok || now.value <= 0) return now.ok ? ok(true) : now;
      tooMany = now.value;
      going = 0;
    }
    const went = await removeAll(log, reason, sweep, waiting);
    if (!went.ok || !went.value) return went;
    going = 0;
  }
  return ok(true);
}

/** Removes records in the order of the chain; false where the removal is to end. */
async function removeAll(
  { prune: remove }: Pick<EventLog, "prune">,
  { keepDays, keepBytes, wallMs, atMs, pause }: RetentionWay,
  { counts, left, endedBefore }: Sweep,
  waiting: readonly Leaving[],
): Promise<Answer<boolean>> {
  const all = waiting.toSorted((one, other) => (isBefore(one, other) ? -1 : 1));
  for (let from = 0; from < all.length; from += pruneRecordsMax) {
    const leaving = all.slice(from, from + pruneRecordsMax);
    const start = atMs();
    const removed = await remove({
      leaving,
      keepDays,
      ...(keepBytes === undefined ? {} : { keepBytes }),
      endedBefore,
      wallMs,
      at: start,
    });
    if (!removed.ok) return removed;
    const tookMs = atMs() - start;
    if (removed.value) {
      counts.steps += 1;
      counts.records += leaving.length;
      counts.longestMs = Math.max(counts.longestMs, tookMs);
      for (const { run } of leaving) left.add(run);
    }
    if (!(await pause(tookMs))) return ok(false);
  }
  return ok(true);
}

/** Gives the space of what left back to the file system. */
async function giveBack(store: Store, { atMs, pause }: RetentionWay): Promise<Answer<void>> {
  for (;;) {
    const start = atMs();
    const more = await store.shrink();
    if (!more.ok) return more;
    if (!(await pause(atMs() - start)) || !more.value) return ok(undefined);
  }
}
