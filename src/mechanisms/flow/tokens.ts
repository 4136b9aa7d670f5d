/**
 * How texts are cut. *Words* (runs of letters and digits, folded) serve to recognise released text again, where finding
 * too much is safe. *Items* (what stands between blanks and quotes, outer punctuation dropped) serve positive
 * provenance, where finding too much is an attack: `example.com` is no item of `bob@example.com`.
 */
import { parseDecimal } from "../../policy/values/decimal.ts";

const ideograph =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/v;
const plainWord = /[\p{L}\p{N}\p{M}]+/gv;
const mixedWord =
  /[[\p{L}\p{N}\p{M}]--[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]]+|[\p{L}\p{N}\p{M}]/gv;

/** Words of a text as they stand; in scripts without blanks every character is one. */
export function wordsOf(text: string): readonly string[] {
  return text.match(ideograph.test(text) ? mixedWord : plainWord) ?? [];
}

/** True for a character of a script that is written without blanks between words. */
export function isIdeograph(character: string): boolean {
  return ideograph.test(character);
}

/** Letters and digits of a text in a row, folded, with the start of every word; `starts` ends with the length. */
export type Skeleton = { readonly units: Uint16Array; readonly starts: readonly number[] };

/** Folded code of each ASCII letter and digit, 0 for everything else. */
const folding = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /[A-Za-z0-9]/.test(character) ? character.toLowerCase().charCodeAt(0) : 0;
});

/** Folds case and drops everything but letters and digits, so that re-spaced and re-cased copies are recognised. */
export function skeletonOf(text: string): Skeleton {
  return asciiSkeleton(text) ?? wideSkeleton(text);
}

/** Nearly all text is ASCII, and every released text is folded: this loop is most of what indexing costs. */
function asciiSkeleton(text: string): Skeleton | undefined {
  const units = new Uint16Array(text.length);
  const starts: number[] = [];
  let length = 0;
  let inWord = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 127) return undefined;
    const folded = folding[code] ?? 0;
    if (folded === 0) inWord = false;
    else {
      if (!inWord) starts.push(length);
      inWord = true;
      units[length] = folded;
      length += 1;
    }
  }
  starts.push(length);
  return { units: units.subarray(0, length), starts };
}

/** Marks that any letter can be given, and what is not seen at all. Marks that make another letter of a script stay. */
const ornaments =
  /[\p{Default_Ignorable_Code_Point}\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+/gu;

/**
 * The same letter in another dress is the same letter here: full-width, bold, ligature, capital `ß`, with marks over,
 * under and through it; and what is not seen parts nothing. Upper case before lower: letters with several lower forms
 * (final sigma) meet only there.
 */
function wideSkeleton(text: string): Skeleton {
  const plain = text.normalize("NFKD").replace(ornaments, "").normalize("NFC");
  const folded = plain.toUpperCase().toLowerCase().replaceAll("ς", "σ").normalize("NFC");
  const units = new Uint16Array(folded.length);
  const starts: number[] = [];
  let length = 0;
  for (const word of wordsOf(folded)) {
    starts.push(length);
    for (let index = 0; index < word.length; index += 1) units[length + index] = word.charCodeAt(index);
    length += word.length;
  }
  starts.push(length);
  return { units: units.subarray(0, length), starts };
}

/** True for the code of a digit as skeletons have it. */
export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** How much a unit of a skeleton says: a digit or an ideograph as much as three letters. */
export function unitWeight(code: number): number {
  return isDigit(code) || code >= 0x0e00 ? 3 : 1;
}

export function weightOf(units: Uint16Array): number {
  let weight = 0;
  for (const code of units) weight += unitWeight(code);
  return weight;
}

/** Never inside an address, a path or a URL. */
const hardSeparators = new Set('"<>|`“”„«»‹›');
/** Inside a path or URL perhaps, elsewhere between items. */
const softSeparators = new Set("'’‘()[]{},;");
const droppedBefore = new Set("'’‘([{#@$€£¥~,;:");
const droppedAfter = new Set(".,;:!?…)]}'’%€$£¥");

const blank = /^\s$/u;

export function isHardSeparator(character: string): boolean {
  return hardSeparators.has(character) || blank.test(character);
}

export function isSoftSeparator(character: string): boolean {
  return softSeparators.has(character);
}

export function isDroppedBefore(character: string): boolean {
  return droppedBefore.has(character);
}

export function isDroppedAfter(character: string): boolean {
  return droppedAfter.has(character);
}

const itemPattern = /[^\s"<>|`“”„«»‹›]+/gu;
const plainItem = /^[A-Za-z0-9]+$/;
const outer = /^['’‘([{#@$€£¥,;:]|[.,;:!?…)\]}'’%€$£¥]$/u;
/** A mark between digits, with one to three after it, may be a decimal comma or part thousands: `12,50` is not 50. */
const amountMark = /^[0-9][,'’][0-9]{1,3}(?![0-9])/;
const inner = /(?:['’‘()[\]{},;](?!(?<=[0-9][,'’])[0-9]{1,3}(?![0-9])))+/u;

/** True where the character at `at` is inside of an amount, which is not to be cut there. */
export function isInAmount(text: string, at: number): boolean {
  return at > 0 && amountMark.test(text.slice(at - 1, at + 5));
}

/** Items of a text without outer punctuation; an item without a slash is also cut at soft separators. */
export function itemsOf(text: string): readonly string[] {
  const items: string[] = [];
  for (const whole of text.match(itemPattern) ?? []) {
    // Most items are words, and texts are long: the common case takes one test.
    if (plainItem.test(whole)) items.push(whole);
    else addParts(items, whole);
  }
  return items;
}

function addParts(items: string[], whole: string): void {
  const parts = /[/\\]/.test(whole) ? whole.split("](") : inner.test(whole) ? whole.split(inner) : [whole];
  // `1,000.50` and `f(x)` are items as they stand, too.
  if (parts.length > 1) parts.push(whole);
  for (const part of parts) {
    const item = outer.test(part) ? stripped(part) : part;
    if (item !== "") items.push(item);
  }
}

function stripped(part: string): string {
  let start = 0;
  let end = part.length;
  while (start < end && droppedBefore.has(part.charAt(start)) && part.charAt(start) !== "~") start += 1;
  while (end > start && droppedAfter.has(part.charAt(end - 1))) end -= 1;
  return part.slice(start, end);
}

const grouped = /^[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?$/;

/** The number that an item is, in canonical decimal form; `1,100.00` is one, `1,1` is none. */
export function numberOf(item: string): string | undefined {
  const first = item.charCodeAt(0);
  if (!((first >= 48 && first <= 57) || first === 43 || first === 45)) return undefined;
  return parseDecimal(grouped.test(item) ? item.replaceAll(",", "") : item);
}

/** The number that `1.842,50` is where a comma comes before the fraction; only for what may be found too much. */
export function decimalCommaOf(item: string): string | undefined {
  if (!/^[+-]?[0-9][0-9.]*(?:,[0-9]+)?$/.test(item)) return undefined;
  return numberOf(item.replace(/[.,]/g, (mark) => (mark === "," ? "." : ",")));
}

/** An address, identifier, code or path: an item that does not occur by chance. */
function isDistinctive(item: string): boolean {
  return /[0-9@_/\\]|[^.]\.[^.]/.test(item);
}

/** Items that are distinctive. One pass over the units, since most words of a text are not. */
export function distinctiveItemsOf(text: string): readonly string[] {
  const items: string[] = [];
  let start = 0;
  let promising = false;
  for (let index = 0; index <= text.length; index += 1) {
    const code = index < text.length ? text.charCodeAt(index) : 32;
    if (
      code <= 32 ||
      code === 34 ||
      ((code === 60 || code === 62 || code === 96 || code > 122) && isHardSeparator(text.charAt(index)))
    ) {
      if (promising) addParts(items, text.slice(start, index));
      start = index + 1;
      promising = false;
    } else if (
      code < 65 ? (code >= 48 && code <= 57) || code === 46 || code === 47 || code === 64 : code === 92 || code === 95
    ) {
      promising = true;
    }
  }
  return items.filter(isDistinctive);
}
