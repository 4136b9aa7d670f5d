/**
 * Negative matching: which released values is an argument, or does it contain? Only confidentiality is read from it;
 * trust never is, since what does not match bad text is not thereby good (base64, splitting, look-alikes).
 */
import type { Json } from "../../core/json.ts";
import { confidentiality, join, joinRanges, type Label, type LabelRange, type Lattice } from "../../core/label.ts";
import { type FaintHits, noteFaint, ordinaryKeys } from "./faint-hits.ts";
import { addKey, copyKeyTable, makeKeyTable, maskOf, sourceOf, type KeyTable } from "./key-table.ts";
import {
  aloneKeysMax,
  argumentUnitsMax,
  faintHitsMax,
  leafWordsMax,
  pathStepsMax,
  rangesMax,
  tableKeysMax,
  wholeWordsMax,
} from "./limits.ts";
import type { Origin } from "./origin.ts";
import type { LabelledLeaf } from "./released-value.ts";
import {
  leafKey,
  strideOf,
  visitCodes,
  visitExcerpts,
  visitItems,
  visitNumber,
  visitRuns,
  visitWords,
  wholeKeys,
} from "./text-keys.ts";
import { spellingsOf } from "./spellings.ts";
import { skeletonOf } from "./tokens.ts";

export type MatchIndex = {
  readonly table: KeyTable;
  /** Keys of the text of the user or the operator: an argument made of their words carries no other party's secret. */
  readonly said: KeyTable;
  /** Confidentiality ranges by bit, each with the first source that had it. */
  readonly ranges: { range: LabelRange; readonly origin: Origin }[];
  readonly sources: Origin[];
  /** Keys of releases of a few words: in these a single word or number may be the whole secret. */
  readonly alone: Set<number>;
  /** Join of everything that was not indexed; every value carries it. */
  rest: LabelRange | undefined;
};

export type Match = { readonly range: LabelRange; readonly origins: readonly Origin[] };

/** Takes a key of an argument into account, for the ranges `wanted` as bits. */
type See = (key: number, wanted?: number) => void;

export function makeMatchIndex(): MatchIndex {
  return { table: makeKeyTable(), said: makeKeyTable(), ranges: [], sources: [], alone: new Set(), rest: undefined };
}

/** An index of the same that goes on by itself. */
export function copyMatchIndex(index: MatchIndex): MatchIndex {
  const { table, said, ranges, sources } = index;
  return {
    ...index,
    table: copyKeyTable(table),
    said: copyKeyTable(said),
    ranges: ranges.map((known) => ({ ...known })),
    sources: [...sources],
    alone: new Set(index.alone),
  };
}

/** The secrecy of a range, without its trust. */
export function secrecy(lattice: Lattice, range: LabelRange): LabelRange {
  return { lo: confidentiality(lattice, range.lo), hi: confidentiality(lattice, range.hi) };
}

/** Notes the keys of a text of the user or operator. A full table only means that less is excused. */
export function addSaid(index: MatchIndex, leaf: Json): void {
  const note = (key: number): void => void addKey(index.said, key, 1, 0);
  visitSource(leaf, 1, note);
  if (typeof leaf !== "string") return;
  for (const text of spellingsOf(leaf)) visitRuns(skeletonOf(text), note, leafWordsMax);
}

/** How a leaf lies in its release: `exempt` keys belong to a field with a label of its own; `alone`: it says little else. */
export type Setting = { readonly exempt: ReadonlySet<number> | undefined; readonly alone: boolean };

/** Adds a released leaf whose secrecy is above bottom. */
export function addSecret(index: MatchIndex, leaf: LabelledLeaf, origin: Origin, { exempt, alone }: Setting): void {
  // With a full table every text has some key that finds no place, so looking for it would be work for nothing.
  if (index.table.count >= tableKeysMax) return leaveOut(index, leaf.range);
  const mask = 1 << rangeBit(index, leaf.range, origin);
  const source = index.sources.push(origin) - 1;
  const stride = typeof leaf.value === "string" ? strideOf(leaf.value.length) : 1;
  visitSource(leaf.value, stride, (key) => {
    if (exempt?.has(key) === true) return;
    if (alone && index.alone.size < aloneKeysMax) index.alone.add(key);
    if (!addKey(index.table, key, mask, source)) leaveOut(index, leaf.range);
  });
}

/** A value that cannot be indexed: its secrecy holds for every later value, the sound fallback. */
export function leaveOut(index: MatchIndex, range: LabelRange): void {
  index.rest = index.rest === undefined ? range : joinRanges(index.rest, range);
}

/** Every key that recognises a leaf. */
export function visitSource(leaf: Json, stride: number, visit: (key: number) => void): void {
  if (typeof leaf !== "string") return visitNumber(leaf, visit);
  for (const text of spellingsOf(leaf)) {
    const skeleton = skeletonOf(text);
    visitWords(skeleton, visit);
    visitCodes(skeleton, visit);
    visitItems(text, visit);
    visitExcerpts(skeleton, stride, visit);
    const whole = leafKey(text, skeleton);
    if (whole !== undefined) visit(whole);
  }
}

function rangeBit(index: MatchIndex, range: LabelRange, origin: Origin): number {
  const { ranges } = index;
  const found = ranges.findIndex((known) => known.range.lo === range.lo && known.range.hi === range.hi);
  if (found >= 0) return found;
  if (ranges.length < rangesMax) return ranges.push({ range, origin }) - 1;
  const last = ranges[rangesMax - 1];
  // Beyond the cap the last range takes the join: too high a label, never too low a one. `lo` may only fall.
  if (last !== undefined) last.range = { lo: meet(last.range.lo, range.lo), hi: join(last.range.hi, range.hi) };
  return rangesMax - 1;
}

function meet(left: Label, right: Label): Label {
  return (left & right) as Label; // an intersection of two labels of one lattice is a label of it
}

/**
 * Ranges and sources of every released value that the leaves match; undefined where nothing does. Where the leaves are
 * prose, faint hits are noted and not counted; `faint` undefined counts every hit.
 */
export function matchOf(
  index: MatchIndex,
  leaves: readonly Json[],
  faint?: FaintHits,
  prose = false,
): Match | undefined {
  let mask = 0;
  const sources = new Set<number>();
  const count = (key: number, bits: number): void => {
    mask |= bits;
    if (sources.size < pathStepsMax) sources.add(sourceOf(index.table, key));
  };
  // More hits than these are a copy of something.
  let waiting: Map<number, number> | undefined;
  const see = (key: number, wanted = -1): void => {
    const bits = maskOf(index.table, key) & wanted;
    if (bits === 0 || maskOf(index.said, key) !== 0) return;
    if (waiting === undefined || index.alone.has(key)) return count(key, bits);
    waiting.set(key, (waiting.get(key) ?? 0) | bits);
    if (waiting.size <= faintHitsMax) return;
    for (const [hit, known] of waiting) count(hit, known);
    waiting = undefined;
  };
  if (index.table.count > 0) {
    const weighed = faint !== undefined && prose && index.alone.size < aloneKeysMax;
    for (const leaf of leaves) {
      if (typeof leaf === "string" && leaf.length > argumentUnitsMax) {
        mask = -1;
        continue;
      }
      waiting = weighed && typeof leaf === "string" ? new Map() : undefined;
      visitArgument(index, leaf, see);
      if (typeof leaf !== "string" || waiting === undefined || waiting.size === 0) continue;
      const ordinary = ordinaryKeys(leaf, new Set(waiting.keys()));
      for (const [key, bits] of waiting) {
        const word = ordinary.get(key);
        if (word === undefined || faint === undefined) count(key, bits);
        else noteFaint(faint, bits, word);
      }
    }
  }
  if (faint !== undefined) faint.counted |= mask;
  return joined(index, mask, sources);
}

function visitArgument(index: MatchIndex, leaf: Json, see: See): void {
  if (typeof leaf !== "string") return visitNumber(leaf, see);
  for (const text of spellingsOf(leaf)) {
    const skeleton = skeletonOf(text);
    visitRuns(skeleton, see);
    visitCodes(skeleton, see);
    visitItems(text, see);
    visitExcerpts(skeleton, 1, see);
    if (skeleton.starts.length - 1 <= wholeWordsMax) seeWhole(index, wholeKeys(skeleton), see);
  }
}

/** A short argument is a run of released text only if all of its keys are known; then each of them is seen. */
function seeWhole(index: MatchIndex, keys: readonly number[], see: See): void {
  const common = keys.reduce((bits, key) => bits & maskOf(index.table, key), -1);
  if (keys.length > 0 && common !== 0) for (const key of keys) see(key, common);
}

function joined(index: MatchIndex, mask: number, sources: ReadonlySet<number>): Match | undefined {
  let range = index.rest;
  const origins = [...sources].flatMap((source) => index.sources[source] ?? []);
  index.ranges.forEach((known, bit) => {
    if ((mask & (1 << bit)) === 0) return;
    range = range === undefined ? known.range : joinRanges(range, known.range);
    if (origins.length === 0) origins.push(known.origin);
  });
  return range === undefined ? undefined : { range, origins };
}
