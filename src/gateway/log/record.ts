/**
 * One record of the log: the entries of one run in one commit. Its body is JSON text that is hashed exactly as it is
 * stored, so that no second way of writing JSON can ever disagree with the first; the payload stands beside it and the
 * body names its digest. That is why the chain stays valid when the key of a payload, or the payload itself, is gone.
 *
 *   fingerprint = SHA-256(fingerprint of the record before + LF + body)
 *
 * A record holds one entry or several: under load many calls of a run are committed together, and sealing, hashing and
 * indexing them one by one would cost more than deciding them.
 */
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import type { PayloadMode } from "../ports/log-context.ts";
import type { LogKeys, LogView, RecordQuery, Store, StoredRecord, StoreFailure } from "../ports/store.ts";
import { wholeEvents } from "./event-codec.ts";
import { listText, readJson, readJsonObject, type EntryHead } from "./json-text.ts";
import { earlierEvents, earlierPayload, format1Version } from "./format-1.ts";

/** Format of the body. Bodies of format 1 carry a `version` instead (`format-1.ts`); a reader refuses others. */
const bodyFormat = 2;

export type RecordHead = {
  readonly writer: number;
  readonly seq: number;
  readonly wallMs: number;
  readonly run: string;
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
  const { writer, seq, wallMs, run } = head;
  const place = `"writer":${writer},"seq":${seq},"wallMs":${wallMs},"run":${JSON.stringify(run)}`;
  const note = payload === undefined ? "" : `,"payload":${JSON.stringify(payload)}`;
  const start = `{"format":${bodyFormat},${place},"context":${parts.context},"entries":[`;
  return listText(start, parts.entries, `]${note}}`);
}

/** `clear` has the events with all their members. `places` maps events to payloads where the format separates them. */
export type ReadEntry = Pick<LogView, "at" | "kind" | "call" | "server" | "tool" | "clear"> & {
  readonly places?: readonly number[];
};

/** The facts about a record and its payload that its body holds. */
export type ReadHead = {
  readonly writer: number;
  readonly seq: number;
  readonly wallTime: string;
  readonly run: string;
  /** Kind of the last entry, as it is written there. */
  readonly kind: string;
  readonly payload: PayloadNote | undefined;
};

export type ReadBody = {
  readonly head: ReadHead;
  /** The context that all entries were decided under: digests of policy and lattice, and the principal. */
  readonly context: JsonObject;
  readonly entries: readonly ReadEntry[];
};

function readNote(value: Json | undefined): PayloadNote | undefined {
  const how = stringMember(value, "how");
  const digest = stringMember(value, "digest");
  if (digest === undefined || (how !== "sealed" && how !== "digests" && how !== "clear")) return undefined;
  return member(value, "tooLarge") === true ? { how, digest, tooLarge: true } : { how, digest };
}

type Format = 1 | 2;

/** Kind of an entry: its own word, or in format 2 that of its last event. */
function kindOf(entry: Json | undefined, format: Format): string | undefined {
  const kind = member(entry, "kind");
  if (kind !== undefined || format === 1) return typeof kind === "string" ? kind : undefined;
  const events = member(entry, "events");
  const last = isArray(events) ? events.at(-1) : undefined;
  return typeof last === "string" ? last : stringMember(last, "kind");
}

function readEntry(value: Json, format: Format): ReadEntry | undefined {
  const at = member(value, "at");
  const kind = kindOf(value, format);
  if (!isObject(value) || typeof at !== "number" || kind === undefined) return undefined;
  // `isObject` was asked; the compiler keeps RawNumber in the union.
  const { at: _at, kind: _kind, call, server, tool, ...clear } = value as JsonObject;
  const head = {
    at,
    kind,
    ...(typeof call === "string" ? { call } : {}),
    ...(typeof server === "string" ? { server } : {}),
    ...(typeof tool === "string" ? { tool } : {}),
  };
  const { events } = clear;
  if (format === 2) {
    const listed = isArray(events) ? { events: wholeEvents(head, events) } : {};
    return { ...head, clear: { ...clear, ...listed, ...wholeWords(head, clear) } };
  }
  if (!isArray(events)) return { ...head, clear };
  const earlier = earlierEvents(head, events);
  return { ...head, kind: earlier.kind, clear: { ...clear, events: earlier.events }, places: earlier.places };
}

/** The decision and the notes of an entry where they are written short (`entry.ts`). */
function wholeWords({ call }: EntryHead, { decision, notes }: JsonObject): JsonObject {
  const decided = typeof decision === "string" ? { decision: { verdict: decision } } : {};
  if (decision === undefined || notes !== undefined || call === undefined) return decided;
  return { ...decided, notes: { decision: call } };
}

function formatOf(body: JsonObject | undefined): Format | undefined {
  if (member(body, "format") === bodyFormat) return 2;
  return member(body, "version") === format1Version ? 1 : undefined;
}

/** Milliseconds that a date can hold. */
const wallMsMax = 8.64e15;

function wallTimeOf(body: JsonObject | undefined, format: Format): string | undefined {
  if (format === 1) return stringMember(body, "wallTime");
  const wallMs = member(body, "wallMs");
  return typeof wallMs === "number" && Number.isInteger(wallMs) && Math.abs(wallMs) <= wallMsMax
    ? new Date(wallMs).toISOString()
    : undefined;
}

/** The events of an entry that was read. */
export function eventsOf({ clear }: Pick<ReadEntry, "clear">): readonly Json[] {
  const { events } = clear;
  return isArray(events) ? events : [];
}

/** The head that a body gives its record; undefined if the body is not in this format. */
function readHead(body: JsonObject | undefined, format: Format, last: Json | undefined): ReadHead | undefined {
  const writer = member(body, "writer");
  const seq = member(body, "seq");
  const wallTime = wallTimeOf(body, format);
  const run = stringMember(body, "run");
  const kind = kindOf(last, format);
  if (typeof writer !== "number" || typeof seq !== "number") return undefined;
  if (wallTime === undefined || run === undefined || kind === undefined) return undefined;
  // Format 1 says the kind of the last entry twice, format 2 once.
  if (member(body, "kind") !== (format === 1 ? kind : undefined)) return undefined;
  return { writer, seq, wallTime, run, kind, payload: readNote(member(body, "payload")) };
}

/** The body of a record read back; undefined if it is none of ours. */
export function readBody(text: string): ReadBody | undefined {
  const body = readJsonObject(text);
  const format = formatOf(body);
  const context = member(body, "context");
  const stored = member(body, "entries");
  if (format === undefined || !isObject(context) || !isArray(stored)) return undefined;
  const head = readHead(body, format, stored.at(-1));
  if (head === undefined) return undefined;
  const entries = stored.map((entry) => readEntry(entry, format)).filter((entry) => entry !== undefined);
  // Narrowed; the compiler keeps RawNumber in the union.
  return entries.length === stored.length ? { head, context: context as JsonObject, entries } : undefined;
}

/**
 * The payload of a stored record: one value for each entry, `null` where an entry hides nothing. Undefined where it was
 * never kept, is gone, or its key is.
 */
export function readPayload(
  keys: LogKeys,
  record: StoredRecord,
  { head, entries }: Pick<ReadBody, "head" | "entries">,
): readonly (Json | undefined)[] | undefined {
  const text = payloadText(keys, record, head.payload);
  const value = text === undefined ? undefined : readJson(text);
  if (!isArray(value)) return undefined;
  return entries.map(({ places }, part) => (places === undefined ? value[part] : earlierPayload(value[part], places)));
}

function payloadText(keys: LogKeys, record: StoredRecord, note: PayloadNote | undefined): string | undefined {
  if (note === undefined || record.payload === undefined || note.how === "digests") return undefined;
  if (note.how === "clear") return new TextDecoder().decode(record.payload);
  const opened = keys.open(record.run, record.payload, boundTo(record.writer, record.seq));
  return opened.ok ? opened.value : undefined;
}

/** The entries of a stored record as people and exports see them; none if its body cannot be read. */
export function viewsOf(keys: LogKeys, record: StoredRecord): readonly LogView[] {
  const body = readBody(record.body);
  if (body === undefined) return [];
  const payloads = readPayload(keys, record, body);
  const { writer, seq, wallTime, run } = body.head;
  return body.entries.map((entry, part) => {
    const { clear, places: _places, ...head } = entry;
    const hidden = payloads?.[part];
    const whole = { ...body.context, ...clear };
    // As in `readEntry`.
    const payload = isObject(hidden) ? (hidden as JsonObject) : undefined;
    return { writer, seq, part, wallTime, run, ...head, fingerprint: record.fingerprint, clear: whole, payload };
  });
}

/** Records of one page: large enough to be fast, small enough to hold. */
const pageRecords = 1_000;

/** Every record that fits, oldest first, beginning after the place that the query names. A failure comes last. */
export async function* recordPages(
  store: Pick<Store, "records">,
  query: Omit<RecordQuery, "order" | "limit">,
  limit = pageRecords,
): AsyncGenerator<Result<readonly StoredRecord[], StoreFailure>, void> {
  let place: Pick<RecordQuery, "after"> = {};
  for (;;) {
    const page = await store.records({ ...query, ...place, order: "oldest", limit });
    const last = page.ok ? page.value.at(-1) : undefined;
    if (!page.ok || last !== undefined) yield page;
    if (!page.ok || last === undefined || page.value.length < limit) return;
    place = { after: { writer: last.writer, seq: last.seq } };
  }
}
