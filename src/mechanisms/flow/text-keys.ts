/**
 * The keys by which released text is recognised in an argument. Kinds of key, each with its own seed:
 *   word, pair     every word and every two words in a row: is a short argument a run of a released text?
 *   leaf           a whole released value, or a code or an address in one: is it a run of the argument?
 *   item           address, identifier, code: wherever it stands
 *   prose, dense   excerpts: `excerptUnits` letters and digits in a row, or `denseUnits` of digits or ideographs
 *   number         by value, and digits that are glued to something
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
import {
  type Skeleton,
  decimalCommaOf,
  distinctiveItemsOf,
  isDigit,
  numberOf,
  skeletonOf,
  unitWeight,
  weightOf,
} from "./tokens.ts";

export type Visit = (key: number) => void;

const seeds = { word: 1, pair: 2, leaf: 3, item: 4, prose: 5, dense: 6, number: 7 } as const;

function hashed(seed: number, units: Uint16Array, from: number, to: number): number {
  let hash = Math.imul(seed, 0x9e3779b1) ^ 0x811c9dc5;
  for (let index = from; index < to; index += 1) hash = Math.imul(hash ^ (units[index] ?? 0), 0x01000193);
  return hash;
}

function hashedNumber(number: string): number {
  return hashed(
    seeds.number,
    Uint16Array.from(number, (digit) => digit.charCodeAt(0)),
    0,
    number.length,
  );
}

/** Distance of sampled excerpts: longer texts are sampled more thinly, so that one result cannot fill the table. */
export function strideOf(units: number): number {
  return units <= 65_536 ? 4 : units <= 262_144 ? 8 : 16;
}

/** Words and pairs of a text. */
export function visitWords({ units, starts }: Skeleton, visit: Visit): void {
  for (let word = 0; word + 1 < starts.length; word += 1) {
    const from = starts[word] ?? 0;
    visit(hashed(seeds.word, units, from, starts[word + 1] ?? 0));
    if (word + 2 < starts.length) visit(pairKey(units, from, starts[word + 1] ?? 0, starts[word + 2] ?? 0));
  }
}

/** Two words, and where the first ends: `s11-0` is not `s1-10`. */
function pairKey(units: Uint16Array, from: number, middle: number, to: number): number {
  return Math.imul(hashed(seeds.pair, units, from, to) ^ (middle - from), 0x01000193);
}

/** The keys that must all be known for a short argument to be a run of a released text; none if it says too little. */
export function wholeKeys({ units, starts }: Skeleton): readonly number[] {
  const keys: number[] = [];
  if (weightOf(units) < leafWeightMin) return keys;
  if (starts.length === 2) keys.push(hashed(seeds.word, units, 0, units.length));
  for (let word = 0; word + 2 < starts.length; word += 1) {
    keys.push(pairKey(units, starts[word] ?? 0, starts[word + 1] ?? 0, starts[word + 2] ?? 0));
  }
  return keys;
}

/** The key of a whole leaf, if it is short enough to be one and says enough to be recognised. */
export function leafKey(leaf: string, { units, starts }: Skeleton): number | undefined {
  const words = starts.length - 1;
  if (words < 1 || words > leafWordsMax || units.length > leafUnitsMax) return undefined;
  // One lower-case word (`open`, `done`) is a state, not a secret; a capital or a digit marks a name or a number.
  const plain = words === 1 && !/[\p{Lu}\p{N}]/u.test(leaf);
  return weightOf(units) < (plain ? plainWordWeightMin : leafWeightMin)
    ? undefined
    : hashed(seeds.leaf, units, 0, units.length);
}

/**
 * Every run of whole words that could be a released leaf. In an argument the words are not counted: `h u n t e r` has
 * as many as a sentence, and blanks hide nothing.
 */
export function visitRuns({ units, starts }: Skeleton, visit: Visit, wordsMax: number = leafUnitsMax): void {
  for (let first = 0; first + 1 < starts.length; first += 1) {
    const from = starts[first] ?? 0;
    let hash = hashed(seeds.leaf, units, from, from);
    let at = from;
    for (let last = first + 1; last < starts.length && last <= first + wordsMax; last += 1) {
      const end = starts[last] ?? 0;
      if (end - from > leafUnitsMax) break;
      for (; at < end; at += 1) hash = Math.imul(hash ^ (units[at] ?? 0), 0x01000193);
      visit(hash);
    }
  }
}

export function visitItems(text: string, visit: Visit): void {
  for (const item of distinctiveItemsOf(text)) {
    for (const number of [numberOf(item), decimalCommaOf(item)]) {
      if (number !== undefined && saysEnough(number)) visit(hashedNumber(number));
    }
    if (item.length < itemUnitsMin) continue;
    const { units } = skeletonOf(item);
    if (units.length < itemUnitsMin) continue;
    visit(hashed(seeds.item, units, 0, units.length));
    // A distinctive item is looked for inside of URLs and assignments, too, where it is not an item of its own.
    if (units.length <= leafUnitsMax && /[0-9@]/.test(item)) visit(hashed(seeds.leaf, units, 0, units.length));
  }
}

/** Words with digits, as leaves, and the numbers inside of words: `?key=1a7b3d`, `84250EUR`. Longer ones have excerpts. */
export function visitCodes({ units, starts }: Skeleton, visit: Visit): void {
  for (let word = 0; word + 1 < starts.length; word += 1) {
    const from = starts[word] ?? 0;
    const to = starts[word + 1] ?? 0;
    if (to - from > leafUnitsMax) continue;
    let digits = 0;
    let coded = false;
    for (let index = from; index <= to; index += 1) {
      if (index < to && isDigit(units[index] ?? 0)) digits += 1;
      else if (digits > 0) {
        if (digits >= numberInTextDigitsMin) visitDigits(units, index - digits, index, visit);
        coded = true;
        digits = 0;
      }
    }
    if (coded && to - from >= itemUnitsMin) visit(hashed(seeds.leaf, units, from, to));
  }
}

/** As `saysEnough` has it, without making a text of the digits: there are texts of nothing but numbers. */
function visitDigits(units: Uint16Array, from: number, to: number, visit: Visit): void {
  let first = from;
  let last = to;
  while (first < to && units[first] === zero) first += 1;
  while (last > first && units[last - 1] === zero) last -= 1;
  const century = to - first === 4 ? (units[first] ?? 0) * 256 + (units[first + 1] ?? 0) : 0;
  if (last - first < numberInTextDigitsMin || century === 0x3139 || century === 0x3230) return;
  visit(hashed(seeds.number, units, first, to));
  visit(hashed(seeds.leaf, units, first, to));
}

const zero = 48;

/** A number by its value, and as digits that may stand in groups. */
function visitWhole(number: string, visit: Visit): void {
  visit(hashedNumber(number));
  const { units } = skeletonOf(number);
  visit(hashed(seeds.leaf, units, 0, units.length));
}

/**
 * Every key of a JSON number that has digits enough to be more than a count: its value, and where it says enough also
 * its digits, since in a text they may stand in groups or be glued to something (`?card=4111-1111-1111-1111`).
 */
export function visitNumber(value: Json, visit: Visit): void {
  const number = canonicalNumber(value);
  if (number === undefined || digitsOf(number) < numberDigitsMin) return;
  if (!saysEnough(number)) return visit(hashedNumber(number));
  visitWhole(number, visit);
  if (!number.includes(".")) visitDense(skeletonOf(number).units, visit);
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
export function visitExcerpts({ units }: Skeleton, stride: number, visit: Visit): void {
  visitProse(units, stride, visit);
  visitDense(units, visit);
}

const base = 0x01000193;

/** Factor of the unit that leaves a rolling window of `size` units. */
function topOf(size: number): number {
  let top = 1;
  for (let index = 1; index < size; index += 1) top = Math.imul(top, base);
  return top;
}

const proseTop = topOf(excerptUnits);
const denseTop = topOf(denseUnits);
const proseSalt = Math.imul(seeds.prose, 0x85ebca6b);
const denseSalt = Math.imul(seeds.dense, 0x85ebca6b);

function visitProse(units: Uint16Array, stride: number, visit: Visit): void {
  let hash = 0;
  for (let end = 0; end < units.length; end += 1) {
    if (end >= excerptUnits) hash = (hash - Math.imul(units[end - excerptUnits] ?? 0, proseTop)) | 0;
    hash = (Math.imul(hash, base) + (units[end] ?? 0)) | 0;
    const at = end - excerptUnits + 1;
    if (at >= 0 && at % stride === 0) visit(hash ^ proseSalt);
  }
}

function visitDense(units: Uint16Array, visit: Visit): void {
  let hash = 0;
  let weight = 0;
  for (let end = 0; end < units.length; end += 1) {
    const unit = units[end] ?? 0;
    if (end >= denseUnits) {
      const gone = units[end - denseUnits] ?? 0;
      hash = (hash - Math.imul(gone, denseTop)) | 0;
      weight -= unitWeight(gone);
    }
    hash = (Math.imul(hash, base) + unit) | 0;
    weight += unitWeight(unit);
    if (end + 1 >= denseUnits && weight >= denseWeightMin) visit(hash ^ denseSalt);
  }
}
