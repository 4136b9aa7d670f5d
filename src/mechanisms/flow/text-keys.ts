/**
 * The keys by which released text is recognised in an argument. Kinds of key, each with its own seed:
 *   word, pair     every word and every two words in a row: is a short argument a run of a released text?
 *   leaf           a whole released value: is it a run of the argument?
 *   item           address, identifier, code: wherever it stands
 *   prose, dense   excerpts: `excerptUnits` letters and digits in a row, or `denseUnits` of digits or ideographs
 *   number         by value
 * All work on folded text, so that other case, blanks and punctuation do not hide a copy.
 */
import type { Json } from "../../core/json.ts";
import { canonicalNumber } from "../../policy/values/decimal.ts";
import {
  denseUnits,
  denseWeightMin,
  excerptUnits,
  itemUnitsMin,
  leafUnitsMax,
  leafWeightMin,
  leafWordsMax,
  numberDigitsMin,
  numberInTextDigitsMin,
  plainWordWeightMin,
} from "./limits.ts";
import type { Skeleton } from "./tokens.ts";
import { isDistinctive, itemsOf, numberOf, skeletonOf, unitWeight, weightOf } from "./tokens.ts";

export type Visit = (key: number) => void;

const seeds = { word: 1, pair: 2, leaf: 3, item: 4, prose: 5, dense: 6, number: 7 } as const;

function hashed(seed: number, text: string, from: number, to: number): number {
  let hash = Math.imul(seed, 0x9e3779b1) ^ 0x811c9dc5;
  for (let index = from; index < to; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash;
}

/** Distance of sampled excerpts: longer texts are sampled more thinly, so that one result cannot fill the table. */
export function strideOf(units: number): number {
  return units <= 65_536 ? 4 : units <= 262_144 ? 8 : 16;
}

/** Words and pairs of a text. */
export function visitWords({ text, starts }: Skeleton, visit: Visit): void {
  for (let word = 0; word + 1 < starts.length; word += 1) {
    const from = starts[word] ?? 0;
    visit(hashed(seeds.word, text, from, starts[word + 1] ?? 0));
    const end = starts[word + 2];
    if (end !== undefined) visit(hashed(seeds.pair, text, from, end));
  }
}

/** The keys that must all be known for a short argument to be a run of a released text; none if it says too little. */
export function wholeKeys({ text, starts }: Skeleton): readonly number[] {
  const keys: number[] = [];
  if (weightOf(text) < leafWeightMin) return keys;
  if (starts.length === 2) keys.push(hashed(seeds.word, text, 0, text.length));
  for (let word = 0; word + 2 < starts.length; word += 1) {
    keys.push(hashed(seeds.pair, text, starts[word] ?? 0, starts[word + 2] ?? 0));
  }
  return keys;
}

/** The key of a whole leaf, if it is short enough to be one and says enough to be recognised. */
export function leafKey(leaf: string, { text, starts }: Skeleton): number | undefined {
  const words = starts.length - 1;
  if (words < 1 || words > leafWordsMax || text.length > leafUnitsMax) return undefined;
  // One lower-case word (`open`, `done`) is a state, not a secret; a name or a number is told by its first letters.
  const plain = words === 1 && !/[\p{Lu}\p{N}]/u.test(leaf);
  return weightOf(text) < (plain ? plainWordWeightMin : leafWeightMin)
    ? undefined
    : hashed(seeds.leaf, text, 0, text.length);
}

/** Every run of whole words that could be a released leaf. */
export function visitRuns({ text, starts }: Skeleton, visit: Visit): void {
  for (let first = 0; first + 1 < starts.length; first += 1) {
    const from = starts[first] ?? 0;
    let hash = hashed(seeds.leaf, text, from, from);
    let at = from;
    for (let last = first + 1; last < starts.length && last <= first + leafWordsMax; last += 1) {
      const end = starts[last] ?? 0;
      if (end - from > leafUnitsMax) break;
      for (; at < end; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
      visit(hash);
    }
  }
}

export function visitItems(text: string, visit: Visit): void {
  for (const item of itemsOf(text)) {
    if (!isDistinctive(item)) continue;
    const number = numberOf(item);
    if (number !== undefined && saysEnough(number)) visit(hashed(seeds.number, number, 0, number.length));
    if (item.length < itemUnitsMin) continue;
    const folded = skeletonOf(item).text;
    if (folded.length >= itemUnitsMin) visit(hashed(seeds.item, folded, 0, folded.length));
  }
}

/** Key of a JSON number, if it has digits enough to be more than a count. */
export function numberKey(value: Json): number | undefined {
  const number = canonicalNumber(value);
  if (number === undefined || digitsOf(number) < numberDigitsMin) return undefined;
  return hashed(seeds.number, number, 0, number.length);
}

/** Years and small integers stand in any text. */
function saysEnough(number: string): boolean {
  if (number.includes(".")) return digitsOf(number) >= numberDigitsMin;
  return digitsOf(number) >= numberInTextDigitsMin && !/^(?:19|20)[0-9]{2}$/.test(number);
}

function digitsOf(number: string): number {
  return number.replace(/[-.]/g, "").replace(/^0+|0+$/g, "").length;
}

/** Excerpts of prose, at every `stride`-th place, and of numbers and ideographs, at every place. */
export function visitExcerpts({ text }: Skeleton, stride: number, visit: Visit): void {
  roll(text, excerptUnits, seeds.prose, (at, hash) => {
    if (at % stride === 0) visit(hash);
  });
  let weight = 0;
  for (let index = 0; index < Math.min(denseUnits, text.length); index += 1)
    weight += unitWeight(text.charCodeAt(index));
  roll(text, denseUnits, seeds.dense, (at, hash) => {
    if (weight >= denseWeightMin) visit(hash);
    if (at + denseUnits < text.length) {
      weight += unitWeight(text.charCodeAt(at + denseUnits)) - unitWeight(text.charCodeAt(at));
    }
  });
}

const base = 0x01000193;

/** Polynomial rolling hash of every window of `size` units. */
function roll(text: string, size: number, seed: number, each: (at: number, hash: number) => void): void {
  if (text.length < size) return;
  let top = 1;
  for (let index = 1; index < size; index += 1) top = Math.imul(top, base);
  const salt = Math.imul(seed, 0x85ebca6b);
  let hash = 0;
  for (let index = 0; index < size; index += 1) hash = (Math.imul(hash, base) + text.charCodeAt(index)) | 0;
  for (let at = 0; ; at += 1) {
    each(at, hash ^ salt);
    if (at + size >= text.length) return;
    hash = (hash - Math.imul(text.charCodeAt(at), top)) | 0;
    hash = (Math.imul(hash, base) + text.charCodeAt(at + size)) | 0;
  }
}
