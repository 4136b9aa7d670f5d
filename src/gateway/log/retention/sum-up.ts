/**
 * Records that say what left are for ever as well, and so are the rows of the runs that they name. Old ones are summed up in
 * one signed record, and rows that nothing can ask for again leave with them (docs/decisions/0058).
 */
import type { JsonObject } from "../../../core/json.ts";
import { type Result, ok } from "../../../core/result.ts";
import { sumUpGapMax, sumUpRangesMax, sumUpRecordsMax } from "../../ports/limits.ts";
import type { Place, SumUpWanted, SumUpWay } from "../../ports/retention.ts";
import type { Store, StoreFailure } from "../../ports/store.ts";
import { type PrunedRange, readPruning } from "./pruning.ts";
import { type PlacedPruning, joinedRanges, rangeAt, rangesWith, runsOf, summaryClear } from "./pruning-sums.ts";

/** One summary: what it takes the place of, and its clear part once it is known which runs left with their rows. */
export type SumUpStep = {
  readonly wanted: SumUpWanted;
  readonly clear: (gone: ReadonlySet<string>) => JsonObject;
  readonly at: number;
};

type Answer<T> = Result<T, StoreFailure>;

const dayMs = 86_400_000;

/** Sums up what is old, or all that would give back bytes; false where it was stopped. */
export async function sumUpPrunings(
  store: Store,
  way: SumUpWay,
  put: (step: SumUpStep) => Promise<Answer<boolean>>,
): Promise<Answer<boolean>> {
  const { pressing, atMs, pause } = way;
  const found = await oldPrunings(store, way);
  if (!found.ok) return found;
  const groups = groupsOf(found.value);
  for (const [index, group] of groups.entries()) {
    const isFull = group.length === sumUpRecordsMax;
    const hasPrints = group.some(({ pruning }) => pruning.hasPrints);
    if (!isFull && !(hasPrints && (pressing || index < groups.length - 1))) continue;
    const start = atMs();
    const step = await stepOf(store, way, group);
    const done = step.ok ? await put(step.value) : step;
    if (!done.ok) return done;
    if (!(await pause(atMs() - start))) return ok(false);
  }
  return ok(true);
}

/** Records that say what left, oldest first: those that are old enough, all summaries, or all. */
async function oldPrunings(
  store: Store,
  { keepDays, wallMs, pressing }: SumUpWay,
): Promise<Answer<readonly PlacedPruning[]>> {
  const before = wallMs - keepDays * dayMs;
  const writers = await store.writers();
  if (!writers.ok) return writers;
  const found: PlacedPruning[] = [];
  for (const writer of writers.value) {
    const records = await store.prunings(writer);
    if (!records.ok) return records;
    for (const record of records.value) {
      const pruning = readPruning(record);
      const isOld = pruning?.sums !== undefined || Date.parse(pruning?.wallTime ?? "") < before;
      if (pruning === undefined || !(pressing || isOld)) continue;
      found.push({ place: { writer, seq: record.seq }, fingerprint: record.fingerprint, pruning });
    }
  }
  return ok(found);
}

/** As many records as one transaction takes, oldest first. */
function groupsOf(found: readonly PlacedPruning[]): readonly (readonly PlacedPruning[])[] {
  const groups: PlacedPruning[][] = [];
  let ranges = 0;
  for (const one of found) {
    const last = groups.at(-1);
    ranges += one.pruning.ranges.length + 1;
    if (last !== undefined && last.length < sumUpRecordsMax && ranges <= sumUpRangesMax) last.push(one);
    else {
      groups.push([one]);
      ranges = one.pruning.ranges.length + 1;
    }
  }
  return groups;
}

async function stepOf(
  store: Store,
  { keepDays, wallMs, atMs, isNameless }: SumUpWay,
  group: readonly PlacedPruning[],
): Promise<Answer<SumUpStep>> {
  const named = joinedRanges(group.flatMap(rangesWith));
  const between = await checkpointsBetween(store, named);
  if (!between.ok) return between;
  const ranges = joinedRanges([...named, ...between.value]);
  const nameless = [...runsOf(group).values()].filter(({ run }) => isNameless(run));
  const wanted = {
    prunings: group.map(({ place }) => place),
    checkpoints: between.value.map(({ writer, from }) => ({ writer, seq: from })),
    ranges,
    nameless,
    endedBefore: wallMs - keepDays * dayMs,
  };
  return ok({ wanted, clear: (gone) => summaryClear(keepDays, group, ranges, gone), at: atMs() });
}

/** Records in the gaps between ranges that hold a signed head alone: the signatures after them say more. */
async function checkpointsBetween(
  store: Store,
  ranges: readonly PrunedRange[],
): Promise<Answer<readonly PrunedRange[]>> {
  const found: PrunedRange[] = [];
  for (const [index, range] of ranges.entries()) {
    const before = ranges[index - 1];
    const gap = before?.writer === range.writer ? range.from - before.to - 1 : Number.POSITIVE_INFINITY;
    if (before === undefined || gap > sumUpGapMax) continue;
    const after: Place = { writer: before.writer, seq: before.to };
    const read = await store.records({ writer: range.writer, after, order: "oldest", limit: gap });
    if (!read.ok) return read;
    const own = read.value.filter(({ seq, run, kind }) => seq < range.from && run === "" && kind === "checkpoint");
    found.push(...own.map(({ writer, seq, fingerprint }) => rangeAt({ writer, seq }, fingerprint)));
  }
  return ok(found);
}
