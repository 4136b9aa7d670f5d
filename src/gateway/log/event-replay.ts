/**
 * The events of a run out of its records, for folding, and what still waits. Any doubt is an error: the run then resumes at
 * the top label.
 */
import type { RunEvent } from "../../core/event.ts";
import { isArray, member, stringMember } from "../../core/json.ts";
import type { Lattice } from "../../core/label.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Head, LogKeys, Replayed, ReplayWay, Store, StoredRecord, Waiting } from "../ports/store.ts";
import type { Heard, StreamNote } from "../ports/stream-note.ts";
import { isOnChain, type KeptQuery, keptRecords, markOf } from "./kept-records.ts";
import { type Loader, makeLoader, openRecord } from "./read-record.ts";
import { eventsOf, readBody, type ReadBody, readPayload, recordPages } from "./record.ts";
import { merged, type MergeSource, type Noted, readNote, type StreamStart } from "./stream-merge.ts";
import { saysWaiting, WaitingBook } from "./waiting.ts";

/** Records of one run that are folded; a longer run resumes at the top label. */
const replayRecordsMax = 200_000;

/** Records that are read at once where the replay makes way for others. */
const pausedPageRecords = 100;

type Part = Noted & {
  readonly events: readonly RunEvent[];
  readonly complete: boolean;
  readonly policy: string | undefined;
  readonly record: Head;
};

/** The entries of a record with their events; what waits is noted on the way. */
async function partsOf(
  loader: Loader,
  record: StoredRecord,
  waiting: WaitingBook,
  body = readBody(record.body),
): Promise<Result<readonly Part[], string>> {
  if (body === undefined) return err(`record ${record.writer}/${record.seq} cannot be read`);
  const place = headOf(record);
  const policy = stringMember(body.context, "policy");
  if (body.entries.every(({ clear }) => !isArray(member(clear, "events")))) {
    readWaiting(loader.keys, { record, body }, waiting);
    return ok(
      body.entries.map(({ clear }) => ({ note: readNote(clear), events: [], complete: true, policy, record: place })),
    );
  }
  const opened = await openRecord(loader, record, body);
  if (!opened.ok) return opened;
  const { entries, complete } = opened.value;
  for (const { head, payload } of entries) {
    const said = { notes: member(head.clear, "notes"), details: member(payload, "details"), policyDigest: policy };
    waiting.read({ events: eventsOf(head), ...said });
  }
  return ok(
    entries.map(({ head, events }) => ({ note: readNote(head.clear), events, complete, policy, record: place })),
  );
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
  { pause, until, after, base, recordsMax = Number.POSITIVE_INFINITY }: ReplayWay = {},
): Promise<Result<Replayed, string>> {
  const loader = makeLoader(store, keys, lattice);
  const waiting = new WaitingBook(after?.waiting);
  // A page is read without a pause.
  const pages = { recordsMax: replayRecordsMax, pageRecords: pause === undefined ? undefined : pausedPageRecords };
  const recordsOf = (query: KeptQuery): AsyncIterable<Result<StoredRecord, string>> =>
    paused(keptRecords(store, query, pages), pause);
  let begins: true | undefined;
  const known = base === undefined ? undefined : await placed(store, base);
  const source: MergeSource<Part> = {
    run,
    base: known?.record === undefined ? undefined : { ...known, record: known.record, begins: () => (begins = true) },
    until,
    from: await placed(store, after?.heard),
    ownOnly: Number.isFinite(recordsMax),
    stream: (key, start) => {
      const records = recordsOf(start.record === undefined ? { run: key } : { run: key, after: start.record });
      return between(streamParts(loader, records, { run, start }), { after: start.n });
    },
  };
  const read: OwnRecords = { first: undefined, last: undefined, count: 0 };
  const records = recordsOf(after === undefined ? { run } : { run, after: after.place });
  const own = partsOfAll(loader, noted(records, read, recordsMax), waiting);
  const ofStream = { after: 0, ...(until?.of === run ? { until: until.n } : {}) };
  const all = await gathered(merged(between(own, ofStream), source), waiting);
  if (!all.ok || read.last === undefined || read.first === undefined) return all;
  const wallTime = readBody(read.first.body)?.head.wallTime ?? "";
  const last = {
    place: headOf(read.last),
    sinceWallMs: Date.parse(wallTime),
    heard: all.value.heard,
    more: read.count > recordsMax,
  };
  return ok({ ...all.value, last, ...(begins === undefined ? {} : { begins }) });
}

function headOf({ writer, seq, fingerprint }: Head): Head {
  return { writer, seq, fingerprint };
}

/** How far a stream was heard; the record that this goes on after only where it is on the chain as it was then. */
async function placed(store: Store, heard: Heard | undefined): Promise<Heard | undefined> {
  if (heard?.record === undefined || (await isOnChain(store, heard.of, heard.record))) return heard;
  return { of: heard.of, n: heard.n };
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

/**
 * The entries of a stream for one of its members. What that entered itself it has in its own records, so a record of nothing
 * else is not opened, and one that ends at the start is not read any further.
 */
async function* streamParts(
  loader: Loader,
  records: AsyncIterable<Result<StoredRecord, string>>,
  { run, start }: { readonly run: string; readonly start: StreamStart },
): AsyncGenerator<Result<Part, string>, void> {
  // What waits is of the run itself alone.
  const waiting = new WaitingBook();
  for await (const record of records) {
    if (!record.ok) return yield record;
    const body = readBody(record.value.body);
    const notes = (body?.entries ?? []).map(({ clear }) => readNote(clear));
    const last = notes.at(-1);
    if (last !== undefined && "n" in last && last.n <= start.n) continue;
    const isOwn = (note: StreamNote | undefined): boolean =>
      note !== undefined && "n" in note && note.by === run && note.n > start.ownUpTo;
    if (notes.length > 0 && notes.every(isOwn)) {
      const place = headOf(record.value);
      for (const note of notes) yield ok({ note, events: [], complete: true, policy: undefined, record: place });
      continue;
    }
    const parts = await partsOf(loader, record.value, waiting, body);
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
