/**
 * Lets whole runs leave the log when they ended longer ago than `audit.keepDays` (docs/decisions/0044). A run stays as long as
 * anything open may need it: it is open, a call of it has no outcome, an approval of it can still be decided or used, or it
 * is the stream of a lineage and a run is kept that may have been a member. What it was begun from stays as a row.
 */
import { type Result, ok } from "../../../core/result.ts";
import { pruneBatchRecords, pruneRecordsMax, pruneRunsAtOnce } from "../../ports/limits.ts";
import type { EndedPlace, EndedRun, Leaving, Place } from "../../ports/retention.ts";
import type { EventLog, RunRow, Store, StoreFailure } from "../../ports/store.ts";
import { streamPrefix } from "../run-key.ts";

export type RetentionWay = {
  readonly keepDays: number;
  /** Now, in ms since 1970, and monotonic. */
  readonly wallMs: number;
  readonly atMs: () => number;
  /** A run that is open in memory, whatever its row says. */
  readonly isOpen: (run: string) => boolean;
  /** Called after each piece of work with the ms that it took; false ends the removal there. */
  readonly pause: (workedMs: number) => Promise<boolean>;
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
  /** The runs of this end that were looked at last ended before (ms since 1970). */
  readonly endedBefore: number;
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

  constructor(store: Store, way: RetentionWay) {
    this.#store = store;
    this.#way = way;
    this.endedBefore = way.wallMs - way.keepDays * dayMs;
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
  async *records(kind: Kind): AsyncGenerator<Answer<readonly Leaving[]>, void> {
    for await (const row of this.leaving(kind)) {
      if (!row.ok) return yield row;
      const { key: run } = row.value;
      let after: Place | undefined;
      for (;;) {
        const heads = await this.#store.runHeads(run, after, pruneRecordsMax);
        if (!heads.ok) return yield heads;
        yield ok(heads.value.map((head) => ({ ...head, run })));
        if (heads.value.length < pruneRecordsMax) break;
        after = heads.value.at(-1);
      }
    }
  }

  outcome(): Swept {
    return { ...this.counts, runs: this.left.size, staying: this.staying, endedBefore: this.endedBefore };
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

/** What a sweep would remove; nothing is changed. */
export async function wouldLeave(store: Store, way: RetentionWay): Promise<Answer<Swept>> {
  const sweep = new Sweep(store, way);
  // A stream leaves with its last kept member, so those of runs that would leave count as staying here.
  for (const kind of ["runs", "streams"] as const) {
    for await (const some of sweep.records(kind)) {
      if (!some.ok) return some;
      for (const { run } of some.value) sweep.left.add(run);
      sweep.counts.records += some.value.length;
    }
  }
  return ok(sweep.outcome());
}

/** Removes what may leave, in steps; a failure of the store ends it between two of them. */
export async function prune(log: Pick<EventLog, "store" | "prune">, way: RetentionWay): Promise<Answer<Swept>> {
  const sweep = new Sweep(log.store, way);
  for (const kind of ["runs", "streams"] as const) {
    let waiting: Leaving[] = [];
    for await (const some of sweep.records(kind)) {
      if (!some.ok) return some;
      waiting.push(...some.value);
      if (waiting.length < pruneBatchRecords) continue;
      const went = await removeAll(log, way, sweep, waiting);
      if (!went.ok) return went;
      if (!went.value) return ok(sweep.outcome());
      waiting = [];
    }
    const went = await removeAll(log, way, sweep, waiting);
    if (!went.ok) return went;
    if (!went.value) return ok(sweep.outcome());
  }
  const given = await giveBack(log.store, way);
  return given.ok ? ok(sweep.outcome()) : given;
}

/** Removes records in the order of the chain; false where the removal is to end. */
async function removeAll(
  { prune: remove }: Pick<EventLog, "prune">,
  { keepDays, wallMs, atMs, pause }: RetentionWay,
  { counts, left, endedBefore }: Sweep,
  waiting: readonly Leaving[],
): Promise<Answer<boolean>> {
  const all = waiting.toSorted((one, other) => (isBefore(one, other) ? -1 : 1));
  for (let from = 0; from < all.length; from += pruneRecordsMax) {
    const leaving = all.slice(from, from + pruneRecordsMax);
    const start = atMs();
    const removed = await remove({ leaving, keepDays, endedBefore, wallMs, at: start });
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
