/**
 * One record of the log. Its body is JSON text that is hashed exactly as it lies there, so that no second way of writing
 * JSON can ever disagree with the first; the payload stands beside it and the body names its digest. That is why the
 * chain stays valid when the key of a payload, or the payload itself, is gone.
 *
 *   fingerprint = SHA-256(fingerprint of the record before + LF + body)
 */
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject, member, stringMember } from "../../core/json.ts";
import type { LogKeys, LogView, PayloadMode, StoredRecord } from "../store-port.ts";
import { readJsonObject } from "./json-text.ts";

/** Version of the body; a reader refuses newer ones. */
const bodyVersion = 1;

export type RecordHead = {
  readonly writer: number;
  readonly seq: number;
  readonly wallTime: string;
  readonly at: number;
  readonly run: string;
  readonly kind: string;
  readonly call?: string;
  readonly server?: string;
  readonly tool?: string;
};

/** How the payload of a record is kept, and the digest of what is kept (of the text itself in mode `digests`). */
export type PayloadNote = { readonly how: PayloadMode; readonly digest: string; readonly tooLarge?: true };

export function fingerprintOf(keys: Pick<LogKeys, "hash">, previous: string, body: string): string {
  return keys.hash(`${previous}\n${body}`);
}

/** Ties a sealed payload to its place: moved to another record it does not open. */
export function boundTo(writer: number, seq: number): string {
  return `record ${writer} ${seq}`;
}

export function bodyText(head: RecordHead, clear: JsonObject, payload: PayloadNote | undefined): string {
  return JSON.stringify({ version: bodyVersion, ...head, clear, payload });
}

export type ReadBody = {
  readonly head: RecordHead;
  readonly clear: JsonObject;
  readonly payload: PayloadNote | undefined;
};

function readNote(value: Json | undefined): PayloadNote | undefined {
  const how = stringMember(value, "how");
  const digest = stringMember(value, "digest");
  if (digest === undefined || (how !== "sealed" && how !== "digests" && how !== "clear")) return undefined;
  return { how, digest };
}

/** The body of a record read back; undefined if it is none of ours. */
export function readBody(text: string): ReadBody | undefined {
  const body = readJsonObject(text);
  const clear = member(body, "clear");
  const writer = member(body, "writer");
  const seq = member(body, "seq");
  const at = member(body, "at");
  const wallTime = stringMember(body, "wallTime");
  const run = stringMember(body, "run");
  const kind = stringMember(body, "kind");
  if (member(body, "version") !== bodyVersion || !isObject(clear)) return undefined;
  if (typeof writer !== "number" || typeof seq !== "number" || typeof at !== "number") return undefined;
  if (wallTime === undefined || run === undefined || kind === undefined) return undefined;
  const call = stringMember(body, "call");
  const server = stringMember(body, "server");
  const tool = stringMember(body, "tool");
  return {
    head: {
      writer,
      seq,
      wallTime,
      at,
      run,
      kind,
      ...(call === undefined ? {} : { call }),
      ...(server === undefined ? {} : { server }),
      ...(tool === undefined ? {} : { tool }),
    },
    clear: clear as JsonObject, // `isObject` was asked; the compiler keeps RawNumber in the union
    payload: readNote(member(body, "payload")),
  };
}

/** The payload of a stored record, undefined where it was never kept, is gone, or its key is. */
export function readPayload(
  keys: LogKeys,
  record: StoredRecord,
  note: PayloadNote | undefined,
): JsonObject | undefined {
  if (note === undefined || record.payload === undefined) return undefined;
  switch (note.how) {
    case "digests":
      return undefined;
    case "clear":
      return readJsonObject(new TextDecoder().decode(record.payload));
    case "sealed": {
      const opened = keys.open(record.run, record.payload, boundTo(record.writer, record.seq));
      return opened.ok ? readJsonObject(opened.value) : undefined;
    }
  }
}

/** A stored record as people and exports see it; undefined if its body cannot be read. */
export function viewOf(keys: LogKeys, record: StoredRecord): LogView | undefined {
  const body = readBody(record.body);
  if (body === undefined) return undefined;
  const payload = readPayload(keys, record, body.payload);
  return { ...body.head, fingerprint: record.fingerprint, clear: body.clear, payload };
}
