/**
 * Text as numbers: hashes of words and of pairs of facts. No locale, no Unicode tables and no string concatenation, so
 * that a feature is the same number everywhere and costs nanoseconds.
 */

/** Longest part of a name that is looked at, and the words taken from it. */
export const nameUnitsMax = 96;
const wordsMax = 8;

const offset = 0x811c9dc5;

/** 32-bit FNV-1a over UTF-16 code units; upper-case ASCII counts as lower case. */
export function hashText(text: string, from = 0, to: number = text.length): number {
  let hash = offset;
  for (let at = from; at < to; at += 1) {
    const unit = text.charCodeAt(at);
    hash = Math.imul(hash ^ (unit >= 65 && unit <= 90 ? unit + 32 : unit), 0x01000193);
  }
  return hash | 0;
}

/** Hash of a pair of hashes; the order counts. */
export function mix(left: number, right: number): number {
  let hash = Math.imul(left ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(right + 0x7f4a7c15, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) | 0;
}

/** Hashes of the words of a name: `sendEmail`, `send_email` and `send-email` give the same. */
export function wordHashes(name: string): readonly number[] {
  const found: number[] = [];
  const end = Math.min(name.length, nameUnitsMax);
  let start = 0;
  for (let at = 0; at <= end && found.length < wordsMax; at += 1) {
    const boundary = at === end || !isWordUnit(name.charCodeAt(at));
    const hump = !boundary && at > start && isUpper(name.charCodeAt(at)) && !isUpper(name.charCodeAt(at - 1));
    if (!boundary && !hump) continue;
    if (at > start) found.push(hashText(name, start, at));
    start = hump ? at : at + 1;
  }
  return found;
}

function isUpper(unit: number): boolean {
  return unit >= 65 && unit <= 90;
}

/** Letters and digits; everything beyond ASCII is a letter here. */
function isWordUnit(unit: number): boolean {
  return (unit >= 48 && unit <= 57) || isUpper(unit) || (unit >= 97 && unit <= 122) || unit > 127;
}
