/**
 * Several records that say what left, as one (docs/decisions/0058). The ranges of the summary are those of the records that
 * it takes the place of, and these records themselves; the fingerprints between the ends of a range are given up.
 */
import type { JsonObject } from "../../../core/json.ts";
import type { Place } from "../../ports/retention.ts";
import { isAfter } from "../kept-records.ts";
import type { PrunedRange, PrunedRun, Pruning } from "./pruning.ts";

/** A record that says what left, with its place on the chain. */
export type PlacedPruning = { readonly place: Place; readonly fingerprint: string; readonly pruning: Pruning };

/** Ranges in the order of the chain, those that touch each other as one. */
export function joinedRanges(ranges: readonly PrunedRange[]): readonly PrunedRange[] {
  const joined: PrunedRange[] = [];
  for (const range of ranges.toSorted((left, right) => left.writer - right.writer || left.from - right.from)) {
    const last = joined.at(-1);
    const goesOn = last?.writer === range.writer && last.to === range.from - 1;
    if (goesOn) joined[joined.length - 1] = { ...last, to: range.to, last: range.last };
    else joined.push(range);
  }
  return joined;
}

/** One record as a range. */
export function rangeAt({ writer, seq }: Place, fingerprint: string): PrunedRange {
  return { writer, from: seq, to: seq, first: fingerprint, last: fingerprint };
}

/** What a record names, and the record itself. */
export function rangesWith({ place, fingerprint, pruning }: PlacedPruning): readonly PrunedRange[] {
  return [...pruning.ranges, rangeAt(place, fingerprint)];
}

/** The runs that these records name, each with the newest record that named it first. */
export function runsOf(summed: readonly PlacedPruning[]): ReadonlyMap<string, Required<PrunedRun>> {
  const runs = new Map<string, Required<PrunedRun>>();
  for (const { place, pruning } of summed) {
    for (const { run, records, mark = place } of pruning.runs) {
      const known = runs.get(run);
      const newest = known === undefined || isAfter(mark, known.mark) ? mark : known.mark;
      runs.set(run, { run, records: records + (known?.records ?? 0), mark: newest });
    }
  }
  return runs;
}

/** The clear part of a summary; runs that left with their rows are not named any more. */
export function summaryClear(
  keepDays: number,
  summed: readonly PlacedPruning[],
  ranges: readonly PrunedRange[],
  gone: ReadonlySet<string>,
): JsonObject {
  const runs = [...runsOf(summed).values()].filter(({ run }) => !gone.has(run));
  const sums = summed.reduce((sum, { pruning }) => sum + (pruning.sums ?? 1), 0);
  return { keepDays, sums, ranges, runs };
}
