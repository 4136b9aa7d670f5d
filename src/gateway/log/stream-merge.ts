/**
 * The history of a run that is a member of a stream: its own entries, and between them those of the stream, each where
 * the run folded it. Both are read once, from the oldest on, and nothing is kept, so that a log of any length can be
 * merged (docs/decisions/0033).
 */
import { type Json, isObject, member, stringMember } from "../../core/json.ts";
import { type Result, err } from "../../core/result.ts";
import type { Head } from "../ports/store.ts";
import type { Heard, StreamNote } from "../ports/stream-note.ts";

/** An entry of a log with what it says of a stream, and the record that it is in, where that is looked at. */
export type Noted = {
  readonly note: StreamNote | undefined;
  readonly record?: Head;
  readonly events?: readonly { readonly kind: string }[];
};

/** Where a stream is read from. */
export type StreamStart = {
  /** Entries with a greater number. */
  readonly n: number;
  /** All of these are in the records after this one, but for those of the run itself. */
  readonly record?: Head | undefined;
  /** Entries of the run itself are wanted up to this number; what it did later is in its own log. */
  readonly ownUpTo: number;
};

export type MergeSource<E extends Noted> = {
  readonly run: string;
  /** Entries of the stream of this run key, oldest first. */
  readonly stream: (key: string, start: StreamStart) => AsyncIterator<Result<E, string>>;
  /** Nothing of this stream beyond its number `n`. */
  readonly until?: Heard | undefined;
  /** What the run had heard of a stream before the first of the entries. */
  readonly from?: Heard | undefined;
  /** Nothing of a stream that the run had not heard by its own last entry. */
  readonly ownOnly?: boolean;
  /** What the reader has of the stream that the run may have begun with: its entries are wanted after that. */
  readonly base?: StreamBase | undefined;
};

/** A stream up to its number `n`, which is in the given record. */
export type StreamBase = Required<Heard> & {
  /** Called where the run began with the whole of the stream, so that what the reader has is a part of its history. */
  readonly begins: () => void;
};

/** The note of an entry as it was read; undefined where it has none. */
export function readNote(clear: Json): StreamNote | undefined {
  const note = member(clear, "stream");
  if (!isObject(note)) return undefined;
  const number = (name: string): number | undefined => {
    const value = member(note, name);
    return typeof value === "number" ? value : undefined;
  };
  const n = number("n");
  if (n !== undefined) return { n, by: stringMember(note, "by") ?? "" };
  const of = stringMember(note, "of");
  if (of === undefined) return undefined;
  const joined = number("joined");
  const heard = number("heard");
  return {
    of,
    ...(joined === undefined ? {} : { joined }),
    ...(member(note, "whole") === true ? { whole: true } : {}),
    ...(heard === undefined ? {} : { heard }),
    ...(member(note, "left") === true ? { left: true } : {}),
  };
}

/** The stream of a member while its own entries are read. */
class Cursor<E extends Noted> {
  readonly key: string;
  readonly #source: MergeSource<E>;
  readonly #entries: AsyncIterator<Result<E, string>>;
  #next: Result<E, string> | undefined;
  /** There are entries of it. */
  found = false;
  /** The record of the entry that was read last, and the one before it, whose entries are all behind. */
  #record: Head | undefined;
  #behind: Head | undefined;

  constructor(source: MergeSource<E>, key: string, start: StreamStart) {
    this.key = key;
    this.#source = source;
    this.#entries = source.stream(key, start);
    this.#record = start.record;
    this.#behind = start.record;
  }

  /** Goes past what the run itself entered: the last record that need not be read again, by a reader that goes on here. */
  async behind(): Promise<Head | undefined> {
    for (;;) {
      this.#next ??= await this.#read();
      const note = this.#next?.ok === true ? this.#next.value.note : undefined;
      if (note === undefined || !("n" in note) || note.by !== this.#source.run) return this.#behind;
      this.#next = undefined;
    }
  }

  /** The entries up to a number; `others`: without those that stand in full in the run's own log. */
  async *upTo(number: number, others = true): AsyncGenerator<Result<E, string>, void> {
    const { run, until } = this.#source;
    const last = until?.of === this.key ? Math.min(number, until.n) : number;
    for (;;) {
      this.#next ??= await this.#read();
      const next = this.#next;
      if (next === undefined) return;
      const note = next.ok ? next.value.note : undefined;
      if (next.ok && (note === undefined || !("n" in note) || note.n > last)) return;
      this.#next = undefined;
      if (!next.ok || (note !== undefined && "n" in note && (!others || note.by !== run))) yield next;
      if (!next.ok) return;
    }
  }

  async #read(): Promise<Result<E, string> | undefined> {
    const read = await this.#entries.next();
    this.found ||= read.done !== true;
    const record = read.done !== true && read.value.ok ? read.value.value.record : undefined;
    if (record?.seq !== this.#record?.seq || record?.writer !== this.#record?.writer) this.#behind = this.#record;
    if (read.done !== true) this.#record = record;
    return read.done === true ? undefined : read.value;
  }

  async close(): Promise<void> {
    await this.#entries.return?.();
  }
}

/** What the reader has, where a run begins with at least that. */
function baseOf<E extends Noted>(
  { base }: MergeSource<E>,
  note: Extract<StreamNote, { of: string }>,
): StreamBase | undefined {
  const fits = base?.of === note.of && note.whole === true && base.n <= (note.joined ?? 0);
  return fits ? base : undefined;
}

/**
 * The entries of a run with those of its stream between them; the returned value is the stream that it is still a member
 * of, and how far its own entries had heard it. Of a stream it is the stream itself. A failure comes last.
 */
export async function* merged<E extends Noted>(
  own: AsyncIterable<Result<E, string>>,
  source: MergeSource<E>,
): AsyncGenerator<Result<E, string>, Heard | undefined> {
  const { from } = source;
  let cursor =
    from === undefined || from.of === source.run ? undefined : new Cursor(source, from.of, { ...from, ownUpTo: 0 });
  let heard = from?.n ?? 0;
  let isStream = false;
  let isNew = true;
  for await (const entry of own) {
    const note = entry.ok ? entry.value.note : undefined;
    if (note !== undefined && "n" in note) {
      isStream = true;
      heard = note.n;
    }
    if (!entry.ok || entry.value.events?.some(({ kind }) => kind !== "begun") !== false) isNew = false;
    if (note === undefined || !("of" in note)) {
      yield entry;
      continue;
    }
    if (note.joined !== undefined) {
      await cursor?.close();
      const whole = note.whole === true;
      // Only what the run began with: of one that did something before, the order would be another one.
      const base = isNew ? baseOf(source, note) : undefined;
      base?.begins();
      isNew = false;
      const behind = base ?? { n: whole ? 0 : note.joined };
      cursor = new Cursor(source, note.of, { ...behind, ownUpTo: whole ? note.joined : 0 });
      heard = note.joined;
      if (note.whole === true) {
        // Among these may be what an earlier run of this very key did.
        yield* cursor.upTo(note.joined, false);
        // What the run began with is gone: less than it held must not pass for all of it.
        if (note.joined > behind.n && !cursor.found)
          return void (yield err("the stream that it began with is not in the log"));
      }
    }
    if (note.heard !== undefined && cursor?.key === note.of) {
      yield* cursor.upTo(note.heard);
      heard = Math.max(heard, note.heard);
    }
    yield entry;
    if (note.left === true) {
      await cursor?.close();
      cursor = undefined;
    }
  }
  if (cursor === undefined) return isStream || from?.of === source.run ? { of: source.run, n: heard } : undefined;
  if (source.ownOnly !== true) yield* cursor.upTo(Number.POSITIVE_INFINITY);
  const record = source.ownOnly === true ? await cursor.behind() : undefined;
  await cursor.close();
  return { of: cursor.key, n: heard, ...(record === undefined ? {} : { record }) };
}
