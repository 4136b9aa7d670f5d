/** Reading from SQLite. Statements are prepared once; rows are checked on their way out. */
import type { DatabaseSync } from "node:sqlite";
import type { StoredSnapshot } from "../../gateway/ports/snapshots.ts";
import type { ManifestRow, SessionRow } from "../../gateway/ports/cached-rows.ts";
import type {
  ApprovalRow,
  Head,
  OpenCall,
  RecordQuery,
  RunRow,
  SharedRow,
  StoredCheckpoint,
  StoredRecord,
} from "../../gateway/ports/store.ts";
import { recordId, seqSpan, sql } from "./sqlite-dialect.ts";
import { type RetentionReader, retentionReader } from "./sqlite-retention.ts";
import {
  approvalFrom,
  checkpointFrom,
  DamagedRow,
  manifestFrom,
  openCallFrom,
  recordFrom,
  runFrom,
  sessionFrom,
  sharedFrom,
  snapshotFrom,
  type Row,
} from "./sqlite-rows.ts";

export type Reader = RetentionReader & {
  readonly records: (query: RecordQuery) => readonly StoredRecord[];
  readonly writers: () => readonly number[];
  readonly checkpoints: (writer: number) => readonly StoredCheckpoint[];
  readonly document: (digest: string) => string | undefined;
  readonly head: (writer: number) => Head | undefined;
  readonly lastHead: () => Head | undefined;
  readonly openCalls: () => readonly OpenCall[];
  readonly run: (key: string) => RunRow | undefined;
  readonly openRuns: () => readonly RunRow[];
  readonly runsEnding: (principal: string, ending: string) => readonly RunRow[];
  readonly shared: (owner: string) => SharedRow | undefined;
  readonly sharedRows: (limit: number) => readonly SharedRow[];
  readonly approval: (id: string) => ApprovalRow | undefined;
  readonly approvals: (wallMs: number, limit: number) => readonly ApprovalRow[];
  readonly session: (id: string) => SessionRow | undefined;
  readonly manifest: (key: string) => ManifestRow | undefined;
  readonly snapshot: (run: string) => StoredSnapshot | undefined;
  readonly snapshotRuns: (after: string, limit: number) => readonly string[];
};

/** Rows of one query; the caller's limit is capped, so that no query loads a whole log. */
const rowsMax = 10_000;

/** Exclusive bounds of record ids for a query. */
function bounds({ writer, after, order }: RecordQuery): readonly [number, number] {
  const low = writer === undefined ? -1 : recordId(writer, 0);
  const high = writer === undefined ? Number.MAX_SAFE_INTEGER : recordId(writer + 1, 0);
  if (after === undefined) return [low, high];
  const mark = recordId(after.writer, after.seq);
  return order === "oldest" ? [Math.max(low, mark), high] : [low, Math.min(high, mark)];
}

function headFrom(row: Row | undefined): Head | undefined {
  if (row === undefined) return undefined;
  const { id, fingerprint } = row;
  if (typeof id !== "number" || typeof fingerprint !== "string") throw new DamagedRow("head");
  return { writer: Math.floor(id / seqSpan), seq: id % seqSpan, fingerprint };
}

function recordsReader(database: DatabaseSync): Reader["records"] {
  const all = { oldest: database.prepare(sql.recordsOldest), newest: database.prepare(sql.recordsNewest) };
  const ofRun = { oldest: database.prepare(sql.runRecordsOldest), newest: database.prepare(sql.runRecordsNewest) };
  return (query) => {
    const [low, high] = bounds(query);
    const limit = Math.min(query.limit, rowsMax);
    const rows =
      query.run === undefined
        ? all[query.order].all(low, high, limit)
        : ofRun[query.order].all(query.run, low, high, limit);
    return rows.map(recordFrom);
  };
}

/** A query for at most one row. */
function single<T>(database: DatabaseSync, query: string, from: (row: Row) => T): (key: string) => T | undefined {
  const statement = database.prepare(query);
  return (key) => {
    const row = statement.get(key);
    return row === undefined ? undefined : from(row);
  };
}

function textOf(row: Row): string {
  const body = row["body"];
  if (typeof body !== "string") throw new DamagedRow("body");
  return body;
}

function snapshotReader(database: DatabaseSync): Pick<Reader, "snapshot" | "snapshotRuns"> {
  // A file that its owner has not opened since the table was added.
  if (database.prepare(sql.hasTable).get("snapshots") === undefined) {
    return { snapshot: () => undefined, snapshotRuns: () => [] };
  }
  const runs = database.prepare(sql.snapshotRuns);
  return {
    snapshot: single(database, sql.snapshot, snapshotFrom),
    snapshotRuns: (after, limit) => runs.all(after, Math.min(limit, rowsMax)).map(({ run }) => String(run)),
  };
}

export function sqliteReader(database: DatabaseSync): Reader {
  const writers = database.prepare(sql.writersWithRecords);
  const checkpoints = database.prepare(sql.checkpoints);
  const head = database.prepare(sql.head);
  const lastHead = database.prepare(sql.lastHead);
  const openCalls = database.prepare(sql.openCalls);
  const openRuns = database.prepare(sql.openRuns);
  const runsEnding = database.prepare(sql.runsEnding);
  const approvals = database.prepare(sql.approvals);
  const sharedRows = database.prepare(sql.sharedRows);
  return {
    records: recordsReader(database),
    writers: () => writers.all().map((row) => Number(row["writer"])),
    checkpoints: (writer) => checkpoints.all(recordId(writer, 0), recordId(writer + 1, 0)).map(checkpointFrom),
    document: single(database, sql.document, textOf),
    head: (writer) => headFrom(head.get(recordId(writer, 0), recordId(writer + 1, 0))),
    lastHead: () => headFrom(lastHead.get()),
    openCalls: () => openCalls.all().map(openCallFrom),
    run: single(database, sql.run, runFrom),
    openRuns: () => openRuns.all().map(runFrom),
    runsEnding: (principal, ending) => runsEnding.all(principal, ending).map(runFrom),
    shared: single(database, sql.shared, sharedFrom),
    sharedRows: (limit) => sharedRows.all(Math.min(limit, rowsMax)).map(sharedFrom),
    approval: single(database, sql.approval, approvalFrom),
    approvals: (wallMs, limit) => approvals.all(wallMs, Math.min(limit, rowsMax)).map(approvalFrom),
    session: single(database, sql.session, sessionFrom),
    manifest: single(database, sql.manifest, manifestFrom),
    ...snapshotReader(database),
    ...retentionReader(database),
  };
}
