/**
 * Records as OCSF 1.9 events (class API Activity, 6003), for collectors of security logs. The hash chain goes along in
 * the shape of `record_integrity`: each attestation names the fingerprint of its record and of the one before. Payloads
 * are never exported: an operator who may read them has `audit tail`.
 */
import { type Json, type JsonObject, member, stringMember } from "../../core/json.ts";
import type { LogView } from "../ports/store.ts";

const apiActivityClass = 6003;
/** "Other": an agent's tool call is none of create, read, update, delete until the policy says what it does. */
const otherActivity = 99;
const typeUid = apiActivityClass * 100 + otherActivity;
/** SHA-256 in OCSF's list of fingerprint algorithms. */
const sha256 = 3;

const schemaVersion = "1.9.0-dev";

/** OCSF severity: informational for what was let through, medium for what was stopped. */
function severityOf(verdict: string | undefined): number {
  return verdict === "deny" ? 3 : verdict === "confirm" ? 2 : 1;
}

/** OCSF status: success, failure, or unknown where no outcome is recorded. */
function statusOf(kind: string, verdict: string | undefined): number {
  if (verdict === "deny" || kind === "refused" || kind === "failed") return 2;
  return kind === "unknown" ? 0 : 1;
}

function fingerprint(value: string): JsonObject {
  return { algorithm: "SHA-256", algorithm_id: sha256, value };
}

function integrity(view: LogView, previous: string | undefined, prefix: string): JsonObject {
  const attestation: Record<string, Json> = {
    chain_uid: `${prefix}${view.writer}`,
    fingerprint: fingerprint(view.fingerprint),
  };
  if (previous !== undefined) {
    attestation["prev_event"] = {
      uid: `${prefix}${view.writer}-${view.seq - 1}`,
      type_uid: typeUid,
      fingerprint: fingerprint(previous),
    };
  }
  return { attestation_list: [attestation] };
}

/**
 * One record as an OCSF event; `previous` is the fingerprint of the record before it in its chain. Writers of two logs
 * have the same numbers, so ids say which log they are of: a collector keeps one event for each id.
 */
export function toOcsf(view: LogView, previous: string | undefined, log: string): JsonObject {
  const prefix = `${log}-`;
  const verdict = stringMember(member(view.clear, "decision"), "verdict");
  const principal = stringMember(view.clear, "principal");
  return {
    class_uid: apiActivityClass,
    class_name: "API Activity",
    category_uid: 6,
    category_name: "Application Activity",
    activity_id: otherActivity,
    activity_name: view.kind,
    type_uid: typeUid,
    time: Date.parse(view.wallTime),
    severity_id: severityOf(verdict),
    status_id: statusOf(view.kind, verdict),
    metadata: {
      version: schemaVersion,
      uid: `${prefix}${view.writer}-${view.seq}${view.part === 0 ? "" : `-${view.part}`}`,
      log_name: log,
      sequence: view.seq,
      correlation_uid: view.run,
      product: { name: "Sluicegate", vendor_name: "Sluicegate" },
    },
    actor: { user: { name: principal ?? "unknown" }, session: { uid: view.run } },
    api: {
      operation: view.tool ?? view.kind,
      ...(view.server === undefined ? {} : { service: { name: view.server } }),
      ...(view.call === undefined ? {} : { request: { uid: view.call } }),
    },
    ...(verdict === undefined ? {} : { disposition: verdict === "allow" ? "Allowed" : "Blocked" }),
    record_integrity: integrity(view, previous, prefix),
    unmapped: view.clear,
  };
}
