/**
 * One pass over the bytes of a message, before it is parsed, for what `JSON.parse` would hide: names that appear twice
 * (it keeps the last), names that differ in case, NUL inside names, nesting, and numbers that it would round.
 *
 * The pass is exact on valid JSON in valid UTF-8 and merely harmless on anything else: the decoder and `JSON.parse`
 * refuse the rest. It walks over bytes because that is several times faster than over characters; names
 * are hashed while they are crossed and compared only within their own object.
 */
import type { WireLimits } from "../limits.ts";
import type { RawSpan } from "../message.ts";
import { type Frame, readName } from "./names.ts";
import { isExactNumber, endOfNumber } from "./numbers.ts";
import { region, type Region } from "../vocabulary.ts";
import type { WireErrorKind } from "../wire-error.ts";

/**
 * `inexactNumbers` holds the byte offsets, start and end in turn, of the numbers that writing again would change;
 * `id` and `result` are where those of a single message stand, if their names are spelt without escapes, and `result`
 * only where no white space stands between any two tokens; `position` is the byte offset of the offence.
 */
export type GuardVerdict =
  | {
      readonly kind: "pass";
      readonly inexactNumbers: readonly number[];
      readonly id: RawSpan | undefined;
      readonly result: RawSpan | undefined;
    }
  | { readonly kind: "refused"; readonly reason: WireErrorKind; readonly position: number };

const quote = 34;
const comma = 44;
const minus = 45;
const colon = 58;
const backslash = 92;
const openBracket = 91;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;

/** Frames by depth. A scan leaves them to the next one, so that most messages need no new ones; only one runs at a time. */
const frames: Frame[] = [];

/**
 * Scans one message or batch. Never throws; linear in the length of the bytes. `text` is the same message decoded, if
 * the caller has it; it only makes the look at long numbers faster.
 */
export function guard(bytes: Uint8Array, limits: WireLimits, text?: string): GuardVerdict {
  const verdict = scan(bytes, limits, text?.length === bytes.length ? text : undefined);
  for (const frame of frames) forgetNames(frame);
  return verdict;
}

/** The names of a message must not be kept until another one happens to be as deep. */
function forgetNames(frame: Frame): void {
  frame.namesLength = 0;
  frame.exact = undefined;
  frame.folded = undefined;
}

function scan(bytes: Uint8Array, limits: WireLimits, ascii: string | undefined): GuardVerdict {
  let depth = 0;
  let frame: Frame | undefined;
  let expectName = false;
  const inexactNumbers: number[] = [];
  let idFrom = -1;
  let resultFrom = -1;
  let resultEnd = -1;
  let spaced = false;
  let index = 0;
  const length = bytes.length;
  while (index < length) {
    const code = bytes[index] ?? 0;
    if (code === quote) {
      if (!expectName || frame === undefined) {
        index = skipString(bytes, index + 1, ascii);
        continue;
      }
      expectName = false;
      const next = readName(bytes, index + 1, frame);
      if (typeof next !== "number") return { kind: "refused", reason: next, position: index };
      if (depth === 1 && next - index === 4 && isIdName(bytes, index)) idFrom = next;
      if (depth === 1 && next - index === 8 && isResultName(bytes, index)) resultFrom = next;
      index = next;
    } else if (code === comma) {
      index += 1;
      if (frame === undefined) continue;
      frame.members += 1;
      if (frame.members >= limits.listLengthMax) return { kind: "refused", reason: "list-too-long", position: index };
      expectName = frame.isObject;
    } else if (code === openBrace || code === openBracket) {
      if (depth >= limits.depthMax) return { kind: "refused", reason: "too-deep", position: index };
      frame = openFrame(depth, code === openBrace);
      expectName = frame.isObject;
      depth += 1;
      index += 1;
    } else if (code === closeBrace || code === closeBracket) {
      if (depth > 0) depth -= 1;
      frame = depth === 0 ? undefined : frames[depth - 1];
      expectName = false;
      index += 1;
      if (depth === 1 && resultFrom >= 0 && resultEnd < 0) resultEnd = index;
    } else if (code === minus || (code >= 48 && code <= 57)) {
      const end = endOfNumber(bytes, index);
      if (!isExactNumber(bytes, index, end, ascii)) inexactNumbers.push(index, end);
      index = end;
    } else {
      if (isSpace(code)) spaced = true;
      index += 1;
    }
  }
  const id = idFrom < 0 ? undefined : valueSpan(bytes, idFrom);
  // A result is an object, so the first value that ends at its depth is the whole of it.
  const result = spaced || resultEnd < 0 ? undefined : { start: resultFrom + 1, end: resultEnd };
  return { kind: "pass", inexactNumbers, id, result };
}

/** True for the name `id`, given the index of its opening quote. */
function isIdName(bytes: Uint8Array, at: number): boolean {
  return bytes[at + 1] === 105 && bytes[at + 2] === 100;
}

const resultName = new TextEncoder().encode("result");

/** The same for `result`. */
function isResultName(bytes: Uint8Array, at: number): boolean {
  return resultName.every((code, index) => bytes[at + 1 + index] === code);
}

/** Where the value after a name stands: a string, or everything up to the next comma, brace or space. */
function valueSpan(bytes: Uint8Array, afterName: number): RawSpan {
  let start = afterName;
  while (bytes[start] === colon || isSpace(bytes[start])) start += 1;
  if (bytes[start] === quote) return { start, end: skipString(bytes, start + 1, undefined) };
  let end = start;
  while (end < bytes.length && bytes[end] !== comma && bytes[end] !== closeBrace && !isSpace(bytes[end])) end += 1;
  return { start, end };
}

function isSpace(code: number | undefined): boolean {
  return code === 32 || code === 9 || code === 10 || code === 13;
}

/** Bytes of a string that are looked at one by one before the search for its end is left to `indexOf`. */
const shortStringBytes = 24;

/** Index after the closing quote; `start` is the first byte inside the string. */
function skipString(bytes: Uint8Array, start: number, ascii: string | undefined): number {
  const length = bytes.length;
  let index = start;
  let look = shortStringBytes;
  for (;;) {
    const near = ascii === undefined ? length : Math.min(index + look, length);
    while (index < near) {
      const code = bytes[index];
      if (code === quote) return index + 1;
      index += code === backslash ? 2 : 1;
    }
    if (ascii === undefined || index >= length) return length;
    const found = ascii.indexOf('"', index);
    if (found < 0) return length;
    let slashes = 0;
    while (found - slashes > index && bytes[found - slashes - 1] === backslash) slashes += 1;
    // Where quotes are dense, as in JSON inside a string, calls of `indexOf` cost more than the bytes they skip.
    look = found - index < 2 * shortStringBytes ? 4 * look : shortStringBytes;
    index = found + 1;
    if (slashes % 2 === 0) return index;
  }
}

function openFrame(depth: number, isObject: boolean): Frame {
  const own = ownRegion(isObject, depth === 0 ? undefined : frames[depth - 1]);
  const used = frames[depth];
  if (used !== undefined) {
    used.isObject = isObject;
    used.region = own;
    used.childRegion = own;
    used.members = 0;
    forgetNames(used);
    return used;
  }
  const made: Frame = {
    isObject,
    region: own,
    childRegion: own,
    nameHash: 0,
    members: 0,
    names: [],
    namesLength: 0,
    exact: undefined,
    folded: undefined,
  };
  frames.push(made);
  return made;
}

function ownRegion(isObject: boolean, parent: Frame | undefined): Region {
  if (parent === undefined) return region.envelope;
  if (!parent.isObject) return parent.region;
  const child = parent.childRegion;
  // `content` of a result: an object is a user's filled form, a list holds the protocol's content blocks.
  if (child === region.formOrBlocks) return isObject ? region.free : region.protocol;
  // The elements of a list are never results or maps themselves.
  return !isObject && child > region.meta ? region.protocol : child;
}
