/** Writing to SQLite: one prepared statement for each kind of row, called inside the transaction of a group. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { StoredSnapshot } from "../../gateway/ports/snapshots.ts";
import type { ManifestRow, SessionRow } from "../../gateway/ports/cached-rows.ts";
import type {
  AppendBatch,
  ApprovalDecision,
  ApprovalMatch,
  ApprovalRow,
  RunRow,
  SharedRow,
} from "../../gateway/ports/store.ts";
import { recordId, sql } from "./sqlite-dialect.ts";
import { type RetentionWriter, retentionWriter } from "./sqlite-retention.ts";
import { approvalFrom } from "./sqlite-rows.ts";

export type Writer = RetentionWriter & {
  readonly append: (batch: AppendBatch) => void;
  readonly putRun: (row: RunRow) => void;
  readonly putSnapshot: (snapshot: StoredSnapshot) => void;
  readonly createApproval: (row: ApprovalRow) => void;
  readonly decideApproval: (decision: ApprovalDecision) => ApprovalRow | undefined;
  readonly takeApproval: (match: ApprovalMatch, wallMs: number) => ApprovalRow | undefined;
  readonly putSession: (row: SessionRow) => void;
  readonly dropSession: (id: string) => void;
  readonly dropSessionsBefore: (wallMs: number) => number;
  readonly putManifest: (row: ManifestRow) => void;
  readonly markClean: (writer: number) => void;
  readonly distrust: () => void;
};

function runsWriter(
  database: DatabaseSync,
): Pick<Writer, "putRun" | "putSnapshot"> & { readonly putShared: (row: SharedRow) => void } {
  const putRun = database.prepare(sql.putRun);
  const putShared = database.prepare(sql.putShared);
  // Prepared when they are needed: in a file that is only read the table may be missing.
  const prepared = new Map<string, StatementSync>();
  const late = (text: string): StatementSync => {
    const known = prepared.get(text) ?? database.prepare(text);
    prepared.set(text, known);
    return known;
  };
  return {
    putRun: (row) => {
      const { key, principal, parent = null, policyDigest, begunWallMs, endedWallMs = null } = row;
      const resume = JSON.stringify(row.resume);
      const top = Number(row.top);
      const { idleExpiresWallMs: idle } = row;
      putRun.run(key, principal, parent, policyDigest, begunWallMs, endedWallMs, idle, top, resume);
      if (row.endedWallMs !== undefined) late(sql.dropSnapshot).run(key);
    },
    putSnapshot: ({ run, writer, seq, sealed }) => void late(sql.putSnapshot).run(run, recordId(writer, seq), sealed),
    putShared: (row) => {
      putShared.run(row.owner, row.policyDigest, Number(row.top), JSON.stringify(row.value));
    },
  };
}

function logWriter(database: DatabaseSync): Pick<Writer, "append" | "putRun" | "putSnapshot"> {
  const insertRecord = database.prepare(sql.insertRecord);
  const insertCheckpoint = database.prepare(sql.insertCheckpoint);
  const insertDocument = database.prepare(sql.insertDocument);
  const insertOpenCall = database.prepare(sql.insertOpenCall);
  const deleteOpenCall = database.prepare(sql.deleteOpenCall);
  const runs = runsWriter(database);
  return {
    putRun: runs.putRun,
    putSnapshot: runs.putSnapshot,
    append: (batch) => {
      for (const record of batch.records) {
        const id = recordId(record.writer, record.seq);
        insertRecord.run(id, record.run, record.kind, record.body, record.payload ?? null, record.fingerprint);
      }
      for (const document of batch.documents ?? []) insertDocument.run(document.digest, document.body);
      for (const call of batch.opened ?? []) {
        insertOpenCall.run(call.run, call.call, call.server, call.tool, call.digest, call.wallMs);
      }
      for (const call of batch.settled ?? []) deleteOpenCall.run(call.run, call.call);
      for (const row of batch.runs ?? []) runs.putRun(row);
      if (batch.shared !== undefined) runs.putShared(batch.shared);
      const checkpoint = batch.checkpoint;
      if (checkpoint === undefined) return;
      insertCheckpoint.run(recordId(checkpoint.writer, checkpoint.seq), checkpoint.body, checkpoint.signature);
    },
  };
}

function approvalsWriter(database: DatabaseSync): Pick<Writer, "createApproval" | "decideApproval" | "takeApproval"> {
  const insert = database.prepare(sql.insertApproval);
  const decide = database.prepare(sql.decideApproval);
  const take = database.prepare(sql.takeApproval);
  return {
    createApproval: (row) => {
      const { id, run, principal, server, tool, argumentDigest, policyDigest, createdWallMs, expiresWallMs } = row;
      const match = [id, run, principal, server, tool, argumentDigest, policyDigest, createdWallMs, expiresWallMs];
      const { status, card = null, decidedBy = null, role = null, decidedWallMs = null } = row;
      insert.run(...match, status, card, decidedBy, role, decidedWallMs);
    },
    decideApproval: ({ id, verdict, by, role, wallMs }) => {
      const row = decide.get(verdict, by, role, wallMs, id, wallMs);
      return row === undefined ? undefined : approvalFrom(row);
    },
    takeApproval: ({ run, principal, server, tool, argumentDigest, policyDigest }, wallMs) => {
      const row = take.get(run, principal, server, tool, argumentDigest, policyDigest, wallMs);
      return row === undefined ? undefined : approvalFrom(row);
    },
  };
}

function cachesWriter(
  database: DatabaseSync,
): Pick<Writer, "putSession" | "dropSession" | "dropSessionsBefore" | "putManifest"> {
  const putSession = database.prepare(sql.putSession);
  const dropSession = database.prepare(sql.dropSession);
  const dropSessions = database.prepare(sql.dropSessions);
  const putManifest = database.prepare(sql.putManifest);
  return {
    putSession: (row) => {
      const initialize = JSON.stringify(row.initialize);
      putSession.run(row.id, row.principal, row.run, row.server, row.targetDigest, initialize, row.touchedWallMs);
    },
    dropSession: (id) => {
      dropSession.run(id);
    },
    dropSessionsBefore: (wallMs) => Number(dropSessions.run(wallMs).changes),
    putManifest: (row) => {
      const capabilities = JSON.stringify(row.capabilities);
      const manifest = JSON.stringify(row.manifest);
      putManifest.run(row.key, row.server, row.revision, row.digest, capabilities, manifest, row.seenWallMs);
    },
  };
}

export function sqliteWriter(database: DatabaseSync): Writer {
  const cleanWriter = database.prepare(sql.cleanWriter);
  const log = logWriter(database);
  return {
    ...log,
    ...retentionWriter(database, log.append),
    ...approvalsWriter(database),
    ...cachesWriter(database),
    markClean: (writer) => {
      cleanWriter.run(writer);
    },
    distrust: () => {
      database.exec(sql.topRuns);
      database.exec(sql.topShared);
    },
  };
}
