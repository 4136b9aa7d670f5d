/**
 * A store that lives as long as its process: for tests, `replay` and trials. It keeps every promise of the port but
 * durability, and holds at most `recordsMax` records.
 */
import { err, ok, type Result } from "../../core/result.ts";
import type {
  AppendBatch,
  ApprovalMatch,
  ApprovalRow,
  RecordQuery,
  RunRow,
  Store,
  StoredRecord,
  StoreFailure,
} from "../../gateway/ports/store.ts";
import { storeFailure } from "./failure.ts";
import { retentionMethods } from "./memory-retention.ts";
import { type Tables, emptyTables } from "./memory-tables.ts";

const place = "in memory";
const recordsMaxDefault = 1_000_000;

function write(tables: Tables, batch: AppendBatch): void {
  tables.records.push(...batch.records);
  if (batch.checkpoint !== undefined) tables.checkpoints.push(batch.checkpoint);
  for (const { digest, body } of batch.documents ?? []) tables.documents.set(digest, body);
  for (const call of batch.opened ?? []) tables.openCalls.set(`${call.run}\n${call.call}`, call);
  for (const { run, call } of batch.settled ?? []) tables.openCalls.delete(`${run}\n${call}`);
  for (const row of batch.runs ?? []) putRun(tables, row);
  if (batch.shared !== undefined) tables.shared.set(batch.shared.owner, batch.shared);
}

function putRun({ runs, snapshots }: Tables, row: RunRow): void {
  runs.set(row.key, row);
  if (row.endedWallMs !== undefined) snapshots.delete(row.key);
}

/** One writer only, so positions in the list are sequence numbers. */
function select(records: readonly StoredRecord[], { writer, run, after, order, limit }: RecordQuery): StoredRecord[] {
  const found = records.filter(
    (record) =>
      (writer === undefined || record.writer === writer) &&
      (run === undefined || (record.run === run && run !== "")) &&
      (after === undefined || (order === "oldest" ? record.seq > after.seq : record.seq < after.seq)),
  );
  return (order === "oldest" ? found : found.toReversed()).slice(0, limit);
}

function matches(row: ApprovalRow, match: ApprovalMatch, wallMs: number): boolean {
  return (
    row.status === "approved" &&
    row.expiresWallMs > wallMs &&
    row.run === match.run &&
    row.principal === match.principal &&
    row.server === match.server &&
    row.tool === match.tool &&
    row.argumentDigest === match.argumentDigest &&
    row.policyDigest === match.policyDigest
  );
}

function runsEnding({ runs }: Tables, principal: string, ending: string): readonly RunRow[] {
  const found = [...runs.values()].filter(({ key }) => key.startsWith(`${principal}/`) && key.endsWith(ending));
  return found.toSorted((left, right) => (left.key < right.key ? -1 : 1));
}

type Run = <T>(work: () => T) => Promise<Result<T, StoreFailure>>;

function approvalMethods(
  { approvals }: Tables,
  read: Run,
): Pick<Store, "createApproval" | "approval" | "approvals" | "decideApproval" | "takeApproval"> {
  return {
    createApproval: (row) => read(() => void approvals.set(row.id, row)),
    approval: (id) => read(() => approvals.get(id)),
    approvals: (wallMs, limit) =>
      read(() =>
        [...approvals.values()]
          .filter((row) => row.expiresWallMs > wallMs)
          .toSorted((left, right) => right.createdWallMs - left.createdWallMs || (left.id < right.id ? -1 : 1))
          .slice(0, limit),
      ),
    decideApproval: ({ id, verdict, by, role, wallMs }) =>
      read(() => {
        const row = approvals.get(id);
        if (row === undefined || row.status !== "pending" || row.expiresWallMs <= wallMs) return undefined;
        const decided: ApprovalRow = { ...row, status: verdict, decidedBy: by, role, decidedWallMs: wallMs };
        approvals.set(id, decided);
        return decided;
      }),
    takeApproval: (match, wallMs) =>
      read(() => {
        const row = [...approvals.values()].find((candidate) => matches(candidate, match, wallMs));
        if (row === undefined) return undefined;
        const used: ApprovalRow = { ...row, status: "used" };
        approvals.set(row.id, used);
        return used;
      }),
  };
}

function cacheMethods(
  { sessions, manifests }: Tables,
  read: Run,
): Pick<Store, "putSession" | "session" | "dropSession" | "dropSessionsBefore" | "putManifest" | "manifest"> {
  return {
    putSession: (row) => read(() => void sessions.set(row.id, row)),
    session: (id) => read(() => sessions.get(id)),
    dropSession: (id) => read(() => void sessions.delete(id)),
    dropSessionsBefore: (wallMs) =>
      read(() => {
        const old = [...sessions.values()].filter((row) => row.touchedWallMs < wallMs);
        for (const row of old) sessions.delete(row.id);
        return old.length;
      }),
    putManifest: (row) => read(() => void manifests.set(row.key, row)),
    manifest: (key) => read(() => manifests.get(key)),
  };
}

function snapshotMethods(
  { runs, snapshots }: Tables,
  { read, lookUp }: Readonly<Record<"read" | "lookUp", Run>>,
): Pick<Store, "putSnapshot" | "snapshot" | "snapshotRuns"> {
  return {
    putSnapshot: (snapshot) =>
      read(() => {
        const row = runs.get(snapshot.run);
        if (row !== undefined && row.endedWallMs === undefined) snapshots.set(snapshot.run, snapshot);
      }),
    snapshot: (run) => lookUp(() => snapshots.get(run)),
    snapshotRuns: (after, limit) =>
      lookUp(() =>
        [...snapshots.keys()]
          .filter((run) => run > after)
          .toSorted()
          .slice(0, limit),
      ),
  };
}

/** An empty store. `recordsMax` bounds its memory; at the limit it is full like a disk. */
export function openMemoryStore(recordsMax: number = recordsMaxDefault): Store {
  const tables = emptyTables();
  let failed: StoreFailure | undefined;
  // The same value in another turn of the event loop, so that no caller comes to depend on synchronous answers.
  const read: Run = (work) => Promise.resolve(failed === undefined ? ok(work()) : err(failed));
  const lookUp: Run = (work) => Promise.resolve(ok(work()));
  const append = (batch: AppendBatch): Result<void, StoreFailure> => {
    if (tables.records.length + batch.records.length > recordsMax) failed = storeFailure("full", place);
    if (failed !== undefined) return err(failed);
    write(tables, batch);
    return ok(undefined);
  };
  return {
    opening: { writer: 1, previous: undefined, resumeAtTop: false, inFlight: [] },
    hurry: () => undefined,
    idle: () => Promise.resolve(),
    append: (given) =>
      read(() => given).then((admitted) => {
        if (!admitted.ok) return admitted;
        if (failed !== undefined) return err(failed);
        return append(typeof given === "function" ? given() : given);
      }),
    records: (query) => lookUp(() => select(tables.records, query)),
    writers: () => lookUp(() => (tables.records.length === 0 ? [] : [1])),
    checkpoints: (writer) => lookUp(() => tables.checkpoints.filter((one) => one.writer === writer)),
    document: (digest) => lookUp(() => tables.documents.get(digest)),
    head: (writer) => lookUp(() => tables.records.findLast((record) => record.writer === writer)),
    openCalls: () => lookUp(() => [...tables.openCalls.values()]),
    putRun: (row) => read(() => putRun(tables, row)),
    run: (key) => lookUp(() => tables.runs.get(key)),
    openRuns: () => lookUp(() => [...tables.runs.values()].filter((row) => row.endedWallMs === undefined)),
    distrust: () =>
      read(() => {
        for (const row of tables.runs.values()) {
          if (row.endedWallMs === undefined) tables.runs.set(row.key, { ...row, top: true });
        }
        for (const row of tables.shared.values()) tables.shared.set(row.owner, { ...row, top: true });
      }),
    runsEnding: (principal, ending) => lookUp(() => runsEnding(tables, principal, ending)),
    shared: (owner) => lookUp(() => tables.shared.get(owner)),
    sharedRows: (limit) =>
      lookUp(() =>
        [...tables.shared.values()].toSorted((left, right) => (left.owner < right.owner ? -1 : 1)).slice(0, limit),
      ),
    ...approvalMethods(tables, read),
    ...cacheMethods(tables, read),
    ...snapshotMethods(tables, { read, lookUp }),
    ...retentionMethods(tables, { read, lookUp, append, fail: () => failed }),
    health: () => (failed === undefined ? { kind: "ok" } : { kind: "failed", failure: failed }),
    recover: () => {
      if (failed?.kind === "closed") return Promise.resolve(err(failed));
      failed = undefined;
      return Promise.resolve(ok(undefined));
    },
    close: () => {
      failed = storeFailure("closed", place);
      return Promise.resolve();
    },
  };
}
