/**
 * Signed heads of the chain. The chain alone shows a change only to a reader who kept a later fingerprint; a signature
 * with a key outside the database shows it to every holder of the public key, as far as the last checkpoint reaches.
 */
import { member, stringMember } from "../../core/json.ts";
import type { Head, LogKeys, StoredCheckpoint } from "../ports/store.ts";
import { readJsonObject } from "./json-text.ts";

export type CheckpointBody = Head & { readonly wallTime: string; readonly signer: string; readonly chain: string };

/** Signs the head. `chain` is the identity of the writer's chain, so that no checkpoint fits another database. */
export function makeCheckpoint(keys: LogKeys, head: Head, chain: string, wallTime: string): StoredCheckpoint {
  const body = JSON.stringify({ version: 1, chain, ...head, wallTime, signer: keys.signer });
  return { writer: head.writer, seq: head.seq, body, signature: keys.sign(body) };
}

export function readCheckpoint(stored: StoredCheckpoint): CheckpointBody | undefined {
  const body = readJsonObject(stored.body);
  const writer = member(body, "writer");
  const seq = member(body, "seq");
  const fingerprint = stringMember(body, "fingerprint");
  const wallTime = stringMember(body, "wallTime");
  const signer = stringMember(body, "signer");
  const chain = stringMember(body, "chain");
  if (typeof writer !== "number" || typeof seq !== "number" || fingerprint === undefined) return undefined;
  if (wallTime === undefined || signer === undefined || chain === undefined) return undefined;
  return { writer, seq, fingerprint, wallTime, signer, chain };
}
