/** Retention in SQLite: which runs may leave, the removal of their records in one transaction, and the space they leave. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type {
  EndedQuery,
  EndedRun,
  Place,
  PruneWanted,
  SizedHead,
  SumUpWanted,
} from "../../gateway/ports/retention.ts";
import type { AppendBatch, RunRow, StoredRecord } from "../../gateway/ports/store.ts";
import { spaceOf } from "./sqlite-compact.ts";
import { recordId, seqSpan, sql } from "./sqlite-dialect.ts";
import { DamagedRow, recordFrom, type Row, runFrom } from "./sqlite-rows.ts";

export type RetentionReader = {
  readonly endedRuns: (query: EndedQuery) => readonly EndedRun<RunRow>[];
  readonly runHeads: (run: string, after: Place | undefined, limit: number) => readonly SizedHead[];
  readonly bytes: () => number;
  readonly prunings: (writer: number) => readonly StoredRecord[];
  readonly prunedBy: (run: string) => Place | undefined;
};

/** Rows of one query; the caller's limit is capped, so that no query takes long. */
const rowsMax = 10_000;

/** What a record needs beside its body and payload: its fingerprint, its run twice, its kind. */
const rowBytes = 200;

/** Free pages that one `shrink` gives back: 128 KiB, a few milliseconds of work. */
const pagesGiven = 16;

/** Free pages that stay, about 1 MiB: the next records will need them. */
const pagesKept = 128;

export function placeOf(id: unknown): Place {
  if (typeof id !== "number") throw new DamagedRow("record");
  return { writer: Math.floor(id / seqSpan), seq: id % seqSpan };
}

function headFrom(row: Row): SizedHead {
  const { id, fingerprint, bytes } = row;
  if (typeof fingerprint !== "string" || typeof bytes !== "number") throw new DamagedRow("fingerprint");
  return { ...placeOf(id), fingerprint, bytes: bytes + rowBytes };
}

function endedFrom(row: Row): EndedRun<RunRow> {
  const held = Number(row["calls"]) > 0 ? "call" : Number(row["consents"]) > 0 ? "approval" : undefined;
  return { row: runFrom(row), hasRecords: Number(row["filled"]) > 0, held };
}

export function retentionReader(database: DatabaseSync): RetentionReader {
  const ended = database.prepare(sql.endedRuns);
  const heads = database.prepare(sql.runHeads);
  const known = {
    endedRuns: ({ before, after, limit, wallMs }: EndedQuery): readonly EndedRun<RunRow>[] => {
      const { endedWallMs = Number.MIN_SAFE_INTEGER, key = "" } = after ?? {};
      return ended.all(wallMs, endedWallMs, key, before, Math.min(limit, rowsMax)).map(endedFrom);
    },
    runHeads: (run: string, after: Place | undefined, limit: number): readonly SizedHead[] => {
      const mark = after === undefined ? -1 : recordId(after.writer, after.seq);
      return heads.all(run, mark, Math.min(limit, rowsMax)).map(headFrom);
    },
    bytes: (): number => {
      const { bytes, free } = spaceOf(database);
      return bytes - free;
    },
  };
  // A file that its owner has not opened since the tables were added.
  if (database.prepare(sql.hasTable).get("pruned_runs") === undefined) {
    return { ...known, prunings: () => [], prunedBy: () => undefined };
  }
  const prunings = database.prepare(sql.prunings);
  const prunedBy = database.prepare(sql.prunedBy);
  return {
    ...known,
    prunings: (writer) => prunings.all(recordId(writer, 0), recordId(writer + 1, 0)).map(recordFrom),
    prunedBy: (run) => {
      const row = prunedBy.get(run);
      return row === undefined ? undefined : placeOf(row["record"]);
    },
  };
}

export type RetentionWriter = {
  readonly prune: (wanted: PruneWanted, batch: () => AppendBatch) => boolean;
  readonly sumUp: (wanted: SumUpWanted, batch: (gone: ReadonlySet<string>) => AppendBatch) => boolean;
  readonly shrink: () => boolean;
};

function pragma(database: DatabaseSync, name: string): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
}

type Late = (text: string) => StatementSync;

function idOf({ writer, seq }: Place): number {
  return recordId(writer, seq);
}

/** Replaces records that say what left by the one of the batch. */
function sumUpIn(late: Late, append: (batch: AppendBatch) => void): RetentionWriter["sumUp"] {
  const counted = (text: string, wanted: number, ...values: string[]): boolean =>
    Number(late(text).get(...values)?.["count"]) === wanted;
  return ({ prunings, checkpoints, ranges, nameless, endedBefore }, batch) => {
    const summed = prunings.map(idOf);
    const between = checkpoints.map(idOf);
    const isThere =
      counted(sql.knownPrunings, summed.length, JSON.stringify(summed)) &&
      counted(sql.ownRecords, summed.length, "pruned", JSON.stringify(summed)) &&
      counted(sql.ownRecords, between.length, "checkpoint", JSON.stringify(between));
    if (!isThere) return false;
    const marked = JSON.stringify(nameless.map(({ run, mark }) => [run, idOf(mark)]));
    const gone = late(sql.goneRuns)
      .all(marked, endedBefore)
      .map(({ run }) => String(run));
    const rows = batch(new Set(gone));
    const [first] = rows.records;
    // Signing failed: nothing was written, so nothing may go.
    if (first === undefined) return false;
    append(rows);
    late(sql.putPruning).run(idOf(first));
    for (const id of [...summed, ...between]) late(sql.removeRecord).run(id);
    for (const id of summed) late(sql.removePruning).run(id);
    for (const { writer, from, to } of ranges) {
      late(sql.removeSignatures).run(recordId(writer, from), recordId(writer, to), recordId(writer + 1, 0));
    }
    for (const run of gone) {
      late(sql.dropRun).run(run);
      late(sql.dropPrunedRun).run(run);
    }
    return true;
  };
}

/** Called inside the transaction of a group, which is rolled back as a whole where a statement fails. */
export function retentionWriter(database: DatabaseSync, append: (batch: AppendBatch) => void): RetentionWriter {
  // Prepared when they are needed: in a file that is only read the tables may be missing.
  const prepared = new Map<string, StatementSync>();
  const late: Late = (text) => {
    const known = prepared.get(text) ?? database.prepare(text);
    prepared.set(text, known);
    return known;
  };
  return {
    prune: ({ ranges, runs, endedBefore, wallMs }, batch) => {
      const listed = JSON.stringify(runs);
      const ids = ranges.map(({ writer, from, to }) => [recordId(writer, from), recordId(writer, to)] as const);
      for (const [from, to] of ids) {
        const found = late(sql.mayLeave).get(from, to, listed, endedBefore, wallMs);
        if (Number(found?.["count"]) !== to - from + 1) return false;
      }
      const rows = batch();
      const [first] = rows.records;
      // Sealing or signing failed: nothing was written, so nothing may go.
      if (first === undefined) return false;
      append(rows);
      const record = recordId(first.writer, first.seq);
      for (const [from, to] of ids) late(sql.removeRecords).run(from, to);
      late(sql.putPruning).run(record);
      for (const run of runs) {
        late(sql.putPrunedRun).run(run, record);
        late(sql.dropApprovals).run(run);
        late(sql.dropSnapshot).run(run);
      }
      return true;
    },
    sumUp: sumUpIn(late, append),
    shrink: () => {
      // 2: incremental. Other files are rewritten when they are opened (`sqlite-compact.ts`).
      if (pragma(database, "auto_vacuum") !== 2) return false;
      const free = pragma(database, "freelist_count") - pagesKept;
      if (free <= 0) return false;
      database.exec(`PRAGMA incremental_vacuum(${Math.min(free, pagesGiven)})`);
      return free > pagesGiven;
    },
  };
}
