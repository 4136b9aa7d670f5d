/**
 * The records of a run that count as its history. Of a run of which records left only those count that came after: its key
 * was used anew since. What is left of it before that, in the middle of its removal, belongs to no history, so that no run
 * is ever folded from a part of what it was (docs/decisions/0044).
 */
import { type Result, err, ok } from "../../core/result.ts";
import type { Place } from "../ports/retention.ts";
import type { Head, RecordQuery, Store, StoredRecord } from "../ports/store.ts";
import { recordPages } from "./record.ts";

export type KeptQuery = { readonly run: string; readonly after?: RecordQuery["after"] };

export type KeptLimits = { readonly recordsMax?: number; readonly pageRecords?: number | undefined };

export function isAfter(left: Place, right: Place): boolean {
  return left.writer > right.writer || (left.writer === right.writer && left.seq > right.seq);
}

/** A clause that says where the records of a run are. */
export function leftClause({ writer, seq }: Place): string {
  return `its records left the log, as record ${writer}/${seq} says (\`audit.keepDays\`)`;
}

/** Records one by one, oldest first, up to a number of them. The error is a sentence. */
export async function* boundedRecords(
  store: Store,
  query: Pick<RecordQuery, "run" | "after">,
  { recordsMax = Number.POSITIVE_INFINITY, pageRecords }: KeptLimits = {},
): AsyncGenerator<Result<StoredRecord, string>, void> {
  let count = 0;
  for await (const page of recordPages(store, query, pageRecords)) {
    if (!page.ok) return yield err(page.error.sentence);
    if (count >= recordsMax) return yield err(`there are more than ${recordsMax} records`);
    for (const record of page.value) yield ok(record);
    count += page.value.length;
  }
}

/** The record that says that records of a run left; undefined where none did. */
export async function markOf(store: Store, run: string): Promise<Result<Place | undefined, string>> {
  const mark = await store.prunedBy(run);
  return mark.ok ? mark : err(mark.error.sentence);
}

/** The history of a run, or an error where it left, also while it is read. */
export async function* keptRecords(
  store: Store,
  { run, after }: KeptQuery,
  limits: KeptLimits = {},
): AsyncGenerator<Result<StoredRecord, string>, void> {
  const mark = await markOf(store, run);
  if (!mark.ok) return yield mark;
  const from = mark.value;
  // What the reader goes on from has left.
  if (from !== undefined && after !== undefined && !isAfter(after, from)) return yield err(leftClause(from));
  const start = after ?? from;
  let found = 0;
  for await (const record of boundedRecords(store, start === undefined ? { run } : { run, after: start }, limits)) {
    found += 1;
    yield record;
  }
  const now = await markOf(store, run);
  if (!now.ok) return yield now;
  const isSame = now.value?.writer === from?.writer && now.value?.seq === from?.seq;
  if (now.value !== undefined && (!isSame || (found === 0 && after === undefined))) yield err(leftClause(now.value));
}

/** Whether a record that something else stands for is there, is of this run, and is the one that was there then. */
export async function isOnChain(store: Store, run: string, place: Head): Promise<boolean> {
  const after = { writer: place.writer, seq: place.seq - 1 };
  const found = await store.records({ run, after, order: "oldest", limit: 1 });
  const record = found.ok ? found.value[0] : undefined;
  return record?.writer === place.writer && record.seq === place.seq && record.fingerprint === place.fingerprint;
}
