/**
 * The history of a run out of its records: its events for folding, what still waits, and, to decide it again, the
 * events with the decisions, answers and notes that came with them. Any doubt is an error: a run that is folded then
 * resumes at the top label, and one that is decided again says so.
 */
import type { RunEvent } from "../../core/event.ts";
import { type Json, isArray, isObject, member, stringMember } from "../../core/json.ts";
import type { Lattice } from "../../core/label.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { PlacesRead } from "../../core/isolation/trace-dictionary.ts";
import type { Head, LogKeys, Replayed, ReplayWay, Store, StoredRecord, Waiting } from "../ports/store.ts";
import type { Heard, StreamNote } from "../ports/stream-note.ts";
import { readDecision, type RecordedDecision } from "./decision-codec.ts";
import { boundedRecords, isAfter, type KeptQuery, keptRecords, markOf } from "./kept-records.ts";
import { makeLoader, openRecord, type Loader, type OpenedEntry, type OpenedRecord } from "./read-record.ts";
import { merged, readNote, type MergeSource, type Noted } from "./stream-merge.ts";
import { boundTo, eventsOf, readBody, readPayload, recordPages, type PayloadNote, type ReadBody } from "./record.ts";
import { saysWaiting, WaitingBook } from "./waiting.ts";

/** Records of one run that are folded; a longer run resumes at the top label. */
export const replayRecordsMax = 200_000;

/** Records that are read at once where the replay makes way for others. */
const pausedPageRecords = 100;

/** The answers of oracles by question; undefined = the oracle was asked and gave no answer. */
export type RecordedAnswers = ReadonlyMap<string, Json | undefined>;

export type RecordedEntry = {
  readonly run: string;
  readonly wallTime: string;
  readonly at: number;
  readonly kind: string;
  readonly call: string | undefined;
  readonly server: string | undefined;
  readonly tool: string | undefined;
  /** Digest of the policy that it was decided under. */
  readonly policy: string | undefined;
  readonly principal: string | undefined;
  readonly events: readonly RunEvent[];
  readonly decision: RecordedDecision | undefined;
  readonly answers: RecordedAnswers;
  readonly notes: Json | undefined;
  readonly details: Json | undefined;
  /** Texts that looked like secrets were replaced before it was written. */
  readonly masked: boolean;
  /** Why its payload cannot be read; undefined where it can, or where it has none. */
  readonly unread: Unread | undefined;
  /** What it says of a stream; an entry of the run's own stream comes under the key of the run. */
  readonly note: StreamNote | undefined;
};

/** `digests`: the policy kept no payloads. `too-large`: this one was not kept. `forgotten`: its key is gone. */
export type Unread = "digests" | "too-large" | "forgotten" | "damaged";

export type RecordedQuery = {
  readonly run: string;
  /** Also what other runs did meanwhile and before; a record of theirs that cannot be read is left out. */
  readonly others: boolean;
  /** Labels are read into this one. */
  readonly lattice: Lattice;
};

/**
 * Hands the entries of a run to `each`, oldest first, and keeps none, so that a log of any length can be decided again;
 * an error where one of the run's own records cannot be read.
 */
export async function eachRecordedEntry(
  { store, keys }: { readonly store: Store; readonly keys: LogKeys },
  { run, others, lattice }: RecordedQuery,
  each: (entry: RecordedEntry) => void,
): Promise<Result<void, string>> {
  const loader = makeLoader(store, keys, lattice);
  const told = new PlacesRead();
  const mark = others ? await markOf(store, run) : ok(undefined);
  if (!mark.ok) return mark;
  const records = others ? withoutLeft(boundedRecords(store, {}), run, mark.value) : keptRecords(store, { run });
  const own = recordedEntries(loader, records, { run, told });
  const source: MergeSource<RecordedEntry> = {
    run,
    stream: (key, after) => {
      const beyond = recordsBeyond(keptRecords(store, { run: key }), after);
      return asOwn(recordedEntries(loader, beyond, { run: key, told }), { run, after });
    },
  };
  for await (const entry of merged(ownNotes(own, run), source)) {
    if (!entry.ok) return entry;
    // The entries of a stream are read where the run folded them.
    if (entry.value.note === undefined || entry.value.run === run) each(entry.value);
  }
  return ok(undefined);
}

/** Records of all runs, of this one only those after the place at which it left. */
async function* withoutLeft(
  records: AsyncIterable<Result<StoredRecord, string>>,
  run: string,
  mark: Pick<Head, "writer" | "seq"> | undefined,
): AsyncGenerator<Result<StoredRecord, string>, void> {
  for await (const record of records) {
    const isGone = mark !== undefined && record.ok && record.value.run === run && !isAfter(record.value, mark);
    if (!isGone) yield record;
  }
}

type Reading = { readonly run: string; readonly told: PlacesRead };

async function* recordedEntries(
  loader: Loader,
  records: AsyncIterable<Result<StoredRecord, string>>,
  { run, told }: Reading,
): AsyncGenerator<Result<RecordedEntry, string>, void> {
  for await (const record of records) {
    if (!record.ok) return yield record;
    const opened = await openRecord(loader, record.value);
    if (!opened.ok && record.value.run === run) return yield opened;
    if (!opened.ok) continue;
    for (const entry of entriesOf(loader, { record: record.value, opened: opened.value, run, told })) yield ok(entry);
  }
}

/** Other runs have streams of their own, which do not concern this one. */
async function* ownNotes(
  entries: AsyncIterable<Result<RecordedEntry, string>>,
  run: string,
): AsyncGenerator<Result<RecordedEntry, string>, void> {
  for await (const entry of entries) {
    const others = entry.ok && entry.value.run !== run && entry.value.note !== undefined;
    if (!others) yield entry;
    else if (!("n" in entry.value.note)) yield ok({ ...entry.value, note: undefined });
  }
}

/** Entries of a stream as those of a member: what it received is its own from then on. */
async function* asOwn(
  entries: AsyncIterable<Result<RecordedEntry, string>>,
  { run, after }: { readonly run: string; readonly after: number },
): AsyncGenerator<Result<RecordedEntry, string>, void> {
  for await (const entry of entries) {
    if (!entry.ok) return yield entry;
    const { note } = entry.value;
    if (note !== undefined && "n" in note && note.n > after) yield ok({ ...entry.value, run });
  }
}

/** Records of a stream without those that end at a number, which need not be opened. */
async function* recordsBeyond(
  records: AsyncIterable<Result<StoredRecord, string>>,
  after: number,
): AsyncGenerator<Result<StoredRecord, string>, void> {
  for await (const record of records) {
    const note = record.ok && after > 0 ? lastNote(record.value) : undefined;
    if (note === undefined || !("n" in note) || note.n > after) yield record;
  }
}

/** What the last entry of a record says of a stream. */
function lastNote({ body }: Pick<StoredRecord, "body">): StreamNote | undefined {
  return readNote(readBody(body)?.entries.at(-1)?.clear ?? null);
}

type Read = {
  readonly record: StoredRecord;
  readonly opened: OpenedRecord;
  readonly run: string;
  readonly told: PlacesRead;
};

function entriesOf(loader: Loader, { record, opened, run, told }: Read): readonly RecordedEntry[] {
  const { head, context } = opened.body;
  const unread = opened.complete ? undefined : whyUnread(loader.keys, record, head.payload);
  return opened.entries.map((entry) => {
    const { at, kind, call, server, tool, clear } = entry.head;
    return {
      run: head.run,
      wallTime: head.wallTime,
      at,
      kind,
      call,
      server,
      tool,
      policy: stringMember(context, "policy"),
      principal: stringMember(context, "principal"),
      events: entry.events,
      decision: readDecision(entry, opened.context),
      answers: head.run === run ? answersOf(entry, told) : new Map<string, Json>(),
      notes: member(clear, "notes"),
      details: member(entry.payload, "details"),
      masked: isMasked(entry.payload),
      unread,
      note: readNote(clear),
    };
  });
}

function whyUnread(keys: LogKeys, record: StoredRecord, note: PayloadNote | undefined): Unread {
  if (note?.tooLarge === true) return "too-large";
  if (note?.how === "digests") return "digests";
  if (note?.how !== "sealed" || record.payload === undefined) return "damaged";
  const opened = keys.open(record.run, record.payload, boundTo(record.writer, record.seq));
  return !opened.ok && opened.error === "missing-key" ? "forgotten" : "damaged";
}

/** The text that `maskSecrets` puts in the place of a secret. */
const maskPattern = /\[secret [a-z-]+ /;

function isMasked(payload: Json | undefined): boolean {
  return payload !== undefined && payload !== null && maskPattern.test(JSON.stringify(payload));
}

function answersOf({ head, payload }: OpenedEntry, told: PlacesRead): RecordedAnswers {
  const answers = new Map<string, Json | undefined>();
  for (const listed of [member(head.clear, "answers"), member(payload, "answers")]) {
    if (!isObject(listed)) continue;
    for (const key of Object.keys(listed)) {
      const value = member(member(listed, key), "value");
      answers.set(key, value === undefined ? undefined : told.whole(value));
    }
  }
  return answers;
}

type Part = Noted & {
  readonly events: readonly RunEvent[];
  readonly complete: boolean;
  readonly policy: string | undefined;
};

/** The entries of a record with their events; what waits is noted on the way. */
async function partsOf(
  loader: Loader,
  record: StoredRecord,
  waiting: WaitingBook,
): Promise<Result<readonly Part[], string>> {
  const body = readBody(record.body);
  if (body === undefined) return err(`record ${record.writer}/${record.seq} cannot be read`);
  const policy = stringMember(body.context, "policy");
  if (body.entries.every(({ clear }) => !isArray(member(clear, "events")))) {
    readWaiting(loader.keys, { record, body }, waiting);
    return ok(body.entries.map(({ clear }) => ({ note: readNote(clear), events: [], complete: true, policy })));
  }
  const opened = await openRecord(loader, record, body);
  if (!opened.ok) return opened;
  const { entries, complete } = opened.value;
  for (const { head, payload } of entries) {
    const said = { notes: member(head.clear, "notes"), details: member(payload, "details"), policyDigest: policy };
    waiting.read({ events: eventsOf(head), ...said });
  }
  return ok(entries.map(({ head, events }) => ({ note: readNote(head.clear), events, complete, policy })));
}

/** The waiting items of a record. Payloads are opened only where they hold something of it. */
function readWaiting(
  keys: LogKeys,
  { record, body }: { readonly record: StoredRecord; readonly body: ReadBody },
  waiting: WaitingBook,
): void {
  const policyDigest = stringMember(body.context, "policy");
  const says = body.entries.some(({ clear }) => saysWaiting(member(clear, "notes")));
  const payloads = says ? readPayload(keys, record, body) : undefined;
  for (const [part, entry] of body.entries.entries()) {
    const details = member(payloads?.[part], "details");
    waiting.read({ events: eventsOf(entry), notes: member(entry.clear, "notes"), details, policyDigest });
  }
}

/**
 * The events of a run in the order in which it folded them, with labels in `lattice`; the error is a sentence about the
 * first unreadable record.
 */
export async function replayRun(
  { store, keys, lattice }: { readonly store: Store; readonly keys: LogKeys; readonly lattice: Lattice },
  run: string,
  { pause, until, after, recordsMax = Number.POSITIVE_INFINITY }: ReplayWay = {},
): Promise<Result<Replayed, string>> {
  const loader = makeLoader(store, keys, lattice);
  const waiting = new WaitingBook(after?.waiting);
  // A page is read without a pause.
  const pages = { recordsMax: replayRecordsMax, pageRecords: pause === undefined ? undefined : pausedPageRecords };
  const recordsOf = (query: KeptQuery): AsyncIterable<Result<StoredRecord, string>> =>
    paused(keptRecords(store, query, pages), pause);
  const source: MergeSource<Part> = {
    run,
    until,
    from: after?.heard,
    ownOnly: Number.isFinite(recordsMax),
    // What waits is of the run itself alone.
    stream: (key, beyond) =>
      between(partsOfAll(loader, recordsBeyond(recordsOf({ run: key }), beyond), new WaitingBook()), { after: beyond }),
  };
  const read: OwnRecords = { first: undefined, last: undefined, count: 0 };
  const records = recordsOf(after === undefined ? { run } : { run, after: after.place });
  const own = partsOfAll(loader, noted(records, read, recordsMax), waiting);
  const ofStream = { after: 0, ...(until?.of === run ? { until: until.n } : {}) };
  const all = await gathered(merged(between(own, ofStream), source), waiting);
  if (!all.ok || read.last === undefined || read.first === undefined) return all;
  const { writer, seq, fingerprint } = read.last;
  const wallTime = readBody(read.first.body)?.head.wallTime ?? "";
  const place: Head = { writer, seq, fingerprint };
  const last = { place, sinceWallMs: Date.parse(wallTime), heard: all.value.heard, more: read.count > recordsMax };
  return ok({ ...all.value, last });
}

/** The run's own records as they are read. */
type OwnRecords = { first: StoredRecord | undefined; last: StoredRecord | undefined; count: number };

async function* noted(
  records: AsyncIterable<Result<StoredRecord, string>>,
  read: OwnRecords,
  recordsMax: number,
): AsyncGenerator<Result<StoredRecord, string>, void> {
  for await (const record of records) {
    read.count += 1;
    if (read.count > recordsMax) return;
    if (record.ok) {
      read.first ??= record.value;
      read.last = record.value;
    }
    yield record;
  }
}

async function* paused<T>(items: AsyncIterable<T>, pause: ReplayWay["pause"]): AsyncGenerator<T, void> {
  for await (const item of items) {
    const made = pause?.();
    if (made !== undefined) await made;
    yield item;
  }
}

async function* partsOfAll(
  loader: Loader,
  records: AsyncIterable<Result<StoredRecord, string>>,
  waiting: WaitingBook,
): AsyncGenerator<Result<Part, string>, void> {
  for await (const record of records) {
    const parts = record.ok ? await partsOf(loader, record.value, waiting) : record;
    if (!parts.ok) return yield parts;
    for (const part of parts.value) yield ok(part);
  }
}

/** Entries of a stream between two numbers, and all that have none. */
async function* between(
  parts: AsyncIterable<Result<Part, string>>,
  { after, until = Number.POSITIVE_INFINITY }: { readonly after: number; readonly until?: number },
): AsyncGenerator<Result<Part, string>, void> {
  for await (const part of parts) {
    const note = part.ok ? part.value.note : undefined;
    if (note === undefined || !("n" in note) || (note.n > after && note.n <= until)) yield part;
  }
}

async function gathered(
  parts: AsyncGenerator<Result<Part, string>, Heard | undefined>,
  waiting: WaitingBook,
): Promise<Result<Replayed & { readonly heard: Heard | undefined }, string>> {
  const events: RunEvent[] = [];
  const policies = new Set<string>();
  let complete = true;
  for (;;) {
    const next = await parts.next();
    if (next.done === true) {
      const heard = next.value;
      return ok({ events, complete, policies: [...policies], waiting: waiting.list(), member: heard?.of, heard });
    }
    if (!next.value.ok) return next.value;
    const part = next.value.value;
    events.push(...part.events);
    complete &&= part.complete;
    if (part.policy !== undefined) policies.add(part.policy);
  }
}

/** The waiting items of a run, also where its events cannot be read into the present lattice, or are too many. */
export async function waitingOf(store: Store, keys: LogKeys, run: string): Promise<readonly Waiting[]> {
  const waiting = new WaitingBook();
  const mark = await markOf(store, run);
  const after = mark.ok && mark.value !== undefined ? { after: mark.value } : {};
  for await (const page of recordPages(store, { run, ...after })) {
    if (!page.ok) break;
    for (const record of page.value) {
      const body = readBody(record.body);
      if (body !== undefined) readWaiting(keys, { record, body }, waiting);
    }
  }
  return waiting.list();
}
