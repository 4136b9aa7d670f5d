/**
 * The history of a run out of its records, to look at it and to decide it again: its events with the decisions, answers and
 * notes that came with them. Any doubt is an error, and a run that is decided again says so.
 */
import type { RunEvent } from "../../core/event.ts";
import { type Json, isObject, member, stringMember } from "../../core/json.ts";
import type { Lattice } from "../../core/label.ts";
import { ok, type Result } from "../../core/result.ts";
import { PlacesRead } from "../../core/isolation/trace-dictionary.ts";
import type { Head, LogKeys, Store, StoredRecord } from "../ports/store.ts";
import type { StreamNote } from "../ports/stream-note.ts";
import { readDecision, type RecordedDecision } from "./decision-codec.ts";
import { boundedRecords, isAfter, keptRecords, markOf } from "./kept-records.ts";
import { makeLoader, openRecord, type Loader, type OpenedEntry, type OpenedRecord } from "./read-record.ts";
import { merged, readNote, type MergeSource } from "./stream-merge.ts";
import { boundTo, readBody, type PayloadNote } from "./record.ts";

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
    stream: (key, { n: after }) => {
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
