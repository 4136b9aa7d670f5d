/**
 * One record of the log: what one run did in one commit. Its body is JSON text that is hashed exactly as it lies there,
 * so that no second way of writing JSON can ever disagree with the first; the payload stands beside it and the body
 * names its digest. That is why the chain stays valid when the key of a payload, or the payload itself, is gone.
 *
 *   fingerprint = SHA-256(fingerprint of the record before + LF + body)
 *
 * A record holds one entry or several: under load many calls of a run are committed together, and sealing, hashing and
 * indexing them one by one would cost more than deciding them.
 */
import type { Json, JsonObject } from "../../core/json.ts";
import { isArray, isObject, member, stringMember } from "../../core/json.ts";
import type { LogKeys, LogView, PayloadMode, StoredRecord } from "../store-port.ts";
import { listText, readJson, readJsonObject } from "./json-text.ts";
import { wholeEvents } from "./short-events.ts";

/** Version of the body; a reader refuses others. */
const bodyVersion = 2;

export type RecordHead = {
  readonly writer: number;
  readonly seq: number;
  readonly wallTime: string;
  readonly run: string;
  /** Kind of the last entry. */
  readonly kind: string;
};

/** What an entry is about; its events say only what differs (`short-events.ts`). */
export type EntryHead = {
  readonly at: number;
  readonly kind: string;
  readonly call?: string | undefined;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
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

/** `context` and `entries` are JSON texts of objects: they were made when the entries came, and are not read again. */
export type BodyParts = { readonly context: string; readonly entries: readonly string[] };

export function bodyText(head: RecordHead, parts: BodyParts, payload: PayloadNote | undefined): string {
  const { writer, seq, wallTime, run, kind } = head;
  const place = `"writer":${writer},"seq":${seq},"wallTime":"${wallTime}"`;
  const name = `"run":${JSON.stringify(run)},"kind":${JSON.stringify(kind)}`;
  const note = payload === undefined ? "" : `,"payload":${JSON.stringify(payload)}`;
  const start = `{"version":${bodyVersion},${place},${name},"context":${parts.context},"entries":[`;
  return listText(start, parts.entries, `]${note}}`);
}

export type ReadEntry = Pick<LogView, "at" | "kind" | "call" | "server" | "tool" | "clear">;

export type ReadBody = {
  readonly head: RecordHead;
  /** What all entries were decided under: digests of policy and lattice, and the principal. */
  readonly context: JsonObject;
  readonly entries: readonly ReadEntry[];
  readonly payload: PayloadNote | undefined;
};

function readNote(value: Json | undefined): PayloadNote | undefined {
  const how = stringMember(value, "how");
  const digest = stringMember(value, "digest");
  if (digest === undefined || (how !== "sealed" && how !== "digests" && how !== "clear")) return undefined;
  return member(value, "tooLarge") === true ? { how, digest, tooLarge: true } : { how, digest };
}

function readEntry(value: Json): ReadEntry | undefined {
  const at = member(value, "at");
  const kind = stringMember(value, "kind");
  if (!isObject(value) || typeof at !== "number" || kind === undefined) return undefined;
  // `isObject` was asked; the compiler keeps RawNumber in the union.
  const { at: _at, kind: _kind, call, server, tool, ...clear } = value as JsonObject;
  return {
    at,
    kind,
    ...(typeof call === "string" ? { call } : {}),
    ...(typeof server === "string" ? { server } : {}),
    ...(typeof tool === "string" ? { tool } : {}),
    clear,
  };
}

/** The body of a record read back; undefined if it is none of ours. */
export function readBody(text: string): ReadBody | undefined {
  const body = readJsonObject(text);
  const context = member(body, "context");
  const stored = member(body, "entries");
  const writer = member(body, "writer");
  const seq = member(body, "seq");
  const wallTime = stringMember(body, "wallTime");
  const run = stringMember(body, "run");
  const kind = stringMember(body, "kind");
  if (member(body, "version") !== bodyVersion || !isObject(context) || !isArray(stored)) return undefined;
  if (typeof writer !== "number" || typeof seq !== "number") return undefined;
  if (wallTime === undefined || run === undefined || kind === undefined) return undefined;
  const entries = stored.map(readEntry).filter((entry) => entry !== undefined);
  if (entries.length !== stored.length || entries.at(-1)?.kind !== kind) return undefined;
  const head = { writer, seq, wallTime, run, kind };
  return { head, context, entries, payload: readNote(member(body, "payload")) };
}

/**
 * The payload of a stored record: one value for each entry, `null` where an entry hides nothing. Undefined where it was
 * never kept, is gone, or its key is.
 */
export function readPayload(
  keys: LogKeys,
  record: StoredRecord,
  note: PayloadNote | undefined,
): readonly Json[] | undefined {
  if (note === undefined || record.payload === undefined) return undefined;
  switch (note.how) {
    case "digests":
      return undefined;
    case "clear":
      return listIn(new TextDecoder().decode(record.payload));
    case "sealed": {
      const opened = keys.open(record.run, record.payload, boundTo(record.writer, record.seq));
      return opened.ok ? listIn(opened.value) : undefined;
    }
  }
}

function listIn(text: string): readonly Json[] | undefined {
  const value = readJson(text);
  return isArray(value) ? value : undefined;
}

/** The entries of a stored record as people and exports see them; none if its body cannot be read. */
export function viewsOf(keys: LogKeys, record: StoredRecord): readonly LogView[] {
  const body = readBody(record.body);
  if (body === undefined) return [];
  const payloads = readPayload(keys, record, body.payload);
  const { writer, seq, wallTime, run } = body.head;
  return body.entries.map((entry, part) => {
    const { clear, ...head } = entry;
    const hidden = payloads?.[part];
    const whole = { ...body.context, ...clear, ...wholeEvents(entry) };
    // As in `readEntry`.
    const payload = isObject(hidden) ? (hidden as JsonObject) : undefined;
    return { writer, seq, part, wallTime, run, ...head, fingerprint: record.fingerprint, clear: whole, payload };
  });
}
