/** Rows of SQLite as the types of the port. A column that contradicts the schema is reported as damage. */
import type { SQLOutputValue } from "node:sqlite";
import type { Json, JsonObject } from "../../core/json.ts";
import type { StoredSnapshot } from "../../gateway/ports/snapshots.ts";
import type { ManifestRow, SessionRow } from "../../gateway/ports/cached-rows.ts";
import type {
  ApprovalRow,
  OpenCall,
  RunRow,
  SharedRow,
  StoredCheckpoint,
  StoredRecord,
} from "../../gateway/ports/store.ts";
import { seqSpan } from "./sqlite-dialect.ts";

export type Row = Readonly<Record<string, SQLOutputValue>>;

/** A row that does not read as written; caught where rows are read and turned into the failure `damaged`. */
export class DamagedRow extends Error {}

function text(row: Row, name: string): string {
  const value = row[name];
  if (typeof value !== "string") throw new DamagedRow(name);
  return value;
}

function integer(row: Row, name: string): number {
  const value = row[name];
  if (typeof value !== "number") throw new DamagedRow(name);
  return value;
}

function bytes(row: Row, name: string): Uint8Array {
  const value = row[name];
  if (!(value instanceof Uint8Array)) throw new DamagedRow(name);
  return value;
}

function json(row: Row, name: string): Json {
  try {
    return JSON.parse(text(row, name)) as Json; // `JSON.parse` gives JSON by definition
  } catch {
    throw new DamagedRow(name);
  }
}

function jsonObject(row: Row, name: string): JsonObject {
  const value = json(row, name);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new DamagedRow(name);
  return value as JsonObject; // an object that is no list, and plain JSON.parse makes no RawNumber
}

function optional<K extends string, T>(row: Row, column: string, name: K, value: () => T): { [key in K]?: T } {
  // One member or none; TypeScript cannot see that the computed name is K.
  return row[column] === null ? {} : ({ [name]: value() } as { [key in K]?: T });
}

export function recordFrom(row: Row): StoredRecord {
  const id = integer(row, "id");
  return {
    writer: Math.floor(id / seqSpan),
    seq: id % seqSpan,
    run: text(row, "run"),
    kind: text(row, "kind"),
    body: text(row, "body"),
    payload: row["payload"] === null ? undefined : bytes(row, "payload"),
    fingerprint: text(row, "fingerprint"),
  };
}

export function snapshotFrom(row: Row): StoredSnapshot {
  const id = integer(row, "record");
  const place = { writer: Math.floor(id / seqSpan), seq: id % seqSpan };
  return { run: text(row, "run"), ...place, sealed: bytes(row, "sealed") };
}

export function checkpointFrom(row: Row): StoredCheckpoint {
  const id = integer(row, "id");
  return {
    writer: Math.floor(id / seqSpan),
    seq: id % seqSpan,
    body: text(row, "body"),
    signature: bytes(row, "signature"),
  };
}

export function openCallFrom(row: Row): OpenCall {
  return {
    run: text(row, "run"),
    call: text(row, "call"),
    server: text(row, "server"),
    tool: text(row, "tool"),
    digest: text(row, "digest"),
    wallMs: integer(row, "wall_ms"),
  };
}

export function runFrom(row: Row): RunRow {
  return {
    key: text(row, "key"),
    principal: text(row, "principal"),
    ...optional(row, "parent", "parent", () => text(row, "parent")),
    policyDigest: text(row, "policy"),
    begunWallMs: integer(row, "begun_ms"),
    ...optional(row, "ended_ms", "endedWallMs", () => integer(row, "ended_ms")),
    idleExpiresWallMs: integer(row, "idle_ms"),
    top: integer(row, "top") !== 0,
    resume: jsonObject(row, "resume"),
  };
}

export function sharedFrom(row: Row): SharedRow {
  return {
    owner: text(row, "owner"),
    policyDigest: text(row, "policy"),
    top: integer(row, "top") !== 0,
    value: jsonObject(row, "value"),
  };
}

const statuses: readonly ApprovalRow["status"][] = ["pending", "approved", "denied", "used"];

export function approvalFrom(row: Row): ApprovalRow {
  const status = statuses.find((known) => known === row["status"]);
  if (status === undefined) throw new DamagedRow("status");
  return {
    id: text(row, "id"),
    run: text(row, "run"),
    principal: text(row, "principal"),
    server: text(row, "server"),
    tool: text(row, "tool"),
    argumentDigest: text(row, "arguments"),
    policyDigest: text(row, "policy"),
    createdWallMs: integer(row, "created_ms"),
    expiresWallMs: integer(row, "expires_ms"),
    status,
    ...optional(row, "card", "card", () => bytes(row, "card")),
    ...optional(row, "decided_by", "decidedBy", () => text(row, "decided_by")),
    ...optional(row, "role", "role", () => text(row, "role")),
    ...optional(row, "decided_ms", "decidedWallMs", () => integer(row, "decided_ms")),
  };
}

export function sessionFrom(row: Row): SessionRow {
  return {
    id: text(row, "id"),
    principal: text(row, "principal"),
    run: text(row, "run"),
    server: text(row, "server"),
    targetDigest: text(row, "target"),
    initialize: jsonObject(row, "initialize"),
    touchedWallMs: integer(row, "touched_ms"),
  };
}

export function manifestFrom(row: Row): ManifestRow {
  return {
    key: text(row, "key"),
    server: text(row, "server"),
    revision: text(row, "revision"),
    digest: text(row, "digest"),
    capabilities: json(row, "capabilities"),
    manifest: jsonObject(row, "manifest"),
    seenWallMs: integer(row, "seen_ms"),
  };
}
