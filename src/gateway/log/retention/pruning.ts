/**
 * The record that says which records left the log (docs/decisions/0044). Its clear part names them by ranges of numbers, each
 * with the fingerprints at both ends, and their runs; its payload has the fingerprint of every one of them, so that a head
 * that was kept elsewhere can still be compared.
 */
import { type Json, type JsonObject, isArray, member, stringMember } from "../../../core/json.ts";
import type { Leaving, Place, PlaceRange, PruneStep } from "../../ports/retention.ts";
import type { StoredRecord } from "../../ports/store.ts";
import { readJson } from "../json-text.ts";
import { readBody } from "../record.ts";

/** Kind of the record. */
export const prunedKind = "pruned";

/** Characters of a fingerprint: SHA-256 as hex. */
const fingerprintLength = 64;

export type PrunedRange = PlaceRange & {
  /** Fingerprints of the records at both ends. */
  readonly first: string;
  readonly last: string;
};

export type PrunedRun = {
  readonly run: string;
  /** How many records of it left. */
  readonly records: number;
  /** The record that said so, where this one has taken its place. */
  readonly mark?: Place;
};

export type Pruning = {
  readonly keepDays: number;
  /** Set where records left because the log had more bytes than that. */
  readonly keepBytes: number | undefined;
  /** How many records that said what left this one has taken the place of; undefined where it is no summary. */
  readonly sums: number | undefined;
  readonly ranges: readonly PrunedRange[];
  readonly runs: readonly PrunedRun[];
  /** It has the fingerprints of all records that left. */
  readonly hasPrints: boolean;
  readonly records: number;
  readonly wallTime: string;
};

/** Records in the order of the chain as ranges of numbers that follow each other. */
export function rangesOf(leaving: readonly Leaving[]): readonly PrunedRange[] {
  const ranges: PrunedRange[] = [];
  for (const { writer, seq, fingerprint } of leaving) {
    const last = ranges.at(-1);
    const goesOn = last?.writer === writer && last.to === seq - 1;
    if (goesOn) ranges[ranges.length - 1] = { ...last, to: seq, last: fingerprint };
    else ranges.push({ writer, from: seq, to: seq, first: fingerprint, last: fingerprint });
  }
  return ranges;
}

/** Runs with the number of their records among these. */
function countsOf(leaving: readonly Leaving[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { run } of leaving) counts.set(run, (counts.get(run) ?? 0) + 1);
  return counts;
}

export type PruningTexts = {
  readonly ranges: readonly PrunedRange[];
  readonly runs: readonly string[];
  readonly clear: JsonObject;
  readonly hidden: string;
};

export function pruningTexts({ leaving, keepDays, keepBytes }: PruneStep): PruningTexts {
  const ranges = rangesOf(leaving);
  const counts = countsOf(leaving);
  const runs = [...counts].map(([run, records]) => ({ run, records }));
  const prints = leaving.map(({ fingerprint }) => fingerprint).join("");
  return {
    ranges,
    runs: [...counts.keys()],
    clear: { keepDays, ...(keepBytes === undefined ? {} : { keepBytes }), ranges, runs },
    hidden: JSON.stringify({ prints }),
  };
}

function wholeNumber(value: Json | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

function readRange(value: Json): PrunedRange | undefined {
  const [writer, from, to] = [member(value, "writer"), member(value, "from"), member(value, "to")];
  const first = stringMember(value, "first");
  const last = stringMember(value, "last");
  if (!wholeNumber(writer) || !wholeNumber(from) || !wholeNumber(to) || to < from) return undefined;
  return first === undefined || last === undefined ? undefined : { writer, from, to, first, last };
}

function readRun(value: Json): PrunedRun | undefined {
  const run = stringMember(value, "run");
  const records = member(value, "records");
  if (run === undefined || !wholeNumber(records)) return undefined;
  const mark = member(value, "mark");
  const [writer, seq] = [member(mark, "writer"), member(mark, "seq")];
  if (mark === undefined) return { run, records };
  return wholeNumber(writer) && wholeNumber(seq) ? { run, records, mark: { writer, seq } } : undefined;
}

function optionalNumber(value: Json | undefined): number | undefined {
  return wholeNumber(value) ? value : undefined;
}

/** All of a list, or nothing where one of it does not read. */
function all<T>(list: Json | undefined, read: (value: Json) => T | undefined): readonly T[] | undefined {
  if (!isArray(list)) return undefined;
  const found = list.map(read).filter((one) => one !== undefined);
  return found.length === list.length ? found : undefined;
}

/** What a record says that left; undefined where it is no such record. */
export function readPruning(record: Pick<StoredRecord, "body" | "run">): Pruning | undefined {
  const body = readBody(record.body);
  const entry = body?.entries[0];
  if (body === undefined || entry?.kind !== prunedKind || record.run !== "" || body.entries.length > 1)
    return undefined;
  const keepDays = member(entry.clear, "keepDays");
  const ranges = all(member(entry.clear, "ranges"), readRange);
  const runs = all(member(entry.clear, "runs"), readRun);
  if (typeof keepDays !== "number" || ranges === undefined || runs === undefined) return undefined;
  const records = ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  return {
    keepDays,
    keepBytes: optionalNumber(member(entry.clear, "keepBytes")),
    sums: optionalNumber(member(entry.clear, "sums")),
    ranges,
    runs,
    hasPrints: body.head.payload !== undefined,
    records,
    wallTime: body.head.wallTime,
  };
}

/** The fingerprint that a record had which left; undefined where the payload does not say it. */
export function fingerprintIn(
  { payload }: Pick<StoredRecord, "payload">,
  { ranges }: Pruning,
  { writer, seq }: { readonly writer: number; readonly seq: number },
): string | undefined {
  const text = payload === undefined ? undefined : readJson(new TextDecoder().decode(payload));
  const prints = stringMember(isArray(text) ? text[0] : undefined, "prints") ?? "";
  let before = 0;
  for (const range of ranges) {
    if (range.writer === writer && seq >= range.from && seq <= range.to) {
      const start = (before + seq - range.from) * fingerprintLength;
      const found = prints.slice(start, start + fingerprintLength);
      return found.length === fingerprintLength ? found : undefined;
    }
    before += range.to - range.from + 1;
  }
  return undefined;
}
