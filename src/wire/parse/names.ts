/** Member names inside the guard: twice, in another case, with NUL, or half a surrogate pair. Works on bytes. */
import { candidates, foldCase, hashFolded, region, type KnownName, type Region } from "../vocabulary.ts";
import type { WireErrorKind } from "../wire-error.ts";

/** An object or array that is open at the current position. */
export type Frame = {
  isObject: boolean;
  region: Region;
  /** Region for an object or array that is the value of the last name. */
  childRegion: Region;
  /** Folded hash of the last name. */
  nameHash: number;
  members: number;
  /** Spans and folded hashes of the names so far: start, end, hash, start, end, hash ... up to `namesLength`. */
  readonly names: number[];
  namesLength: number;
  exact: Set<string> | undefined;
  folded: Set<string> | undefined;
};

const quote = 34;
const backslash = 92;

/** Objects up to this size compare hashes one by one; larger ones use a set, whose hashing an attacker cannot predict. */
const linearNamesMax = 16;

/**
 * Reads the name that begins at `start`, judges it against its object and the protocol's names, and remembers it. As a
 * side effect the frame learns the region of the value that follows. Returns the index after the closing quote, or why
 * the name is refused.
 */
export function readName(bytes: Uint8Array, start: number, frame: Frame): number | WireErrorKind {
  const length = bytes.length;
  let hash = 0;
  let plain = true;
  let end = start;
  while (end < length) {
    let code = bytes[end] ?? 0;
    if (code === quote) break;
    if (code === backslash) {
      plain = false;
      end += 2;
      continue;
    }
    if (code >= 128) plain = false;
    else if (code >= 65 && code <= 90) code |= 32;
    hash = (Math.imul(hash, 31) + code) | 0;
    end += 1;
  }
  if (!plain) {
    const name = decodeName(bytes, start, end);
    // Malformed escapes and UTF-8 are left to the decoder and `JSON.parse`, which refuse the whole message.
    if (name === undefined) return end + 1;
    if (name.includes("\0")) return "nul-in-name";
    if (!name.isWellFormed()) return "ill-formed-name";
    hash = hashFolded(foldCase(name));
  }
  frame.nameHash = hash;
  return remember(bytes, frame, start, end) ?? misspelt(bytes, frame, start, end) ?? end + 1;
}

/** The name as a reader sees it; undefined if it cannot be read. */
function decodeName(bytes: Uint8Array, start: number, end: number): string | undefined {
  if (end - start <= 32) {
    let ascii = "";
    let index = start;
    for (; index < end; index += 1) {
      const code = bytes[index] ?? 128;
      if (code >= 128 || code === backslash) break;
      ascii += String.fromCharCode(code);
    }
    if (index === end) return ascii;
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(start, end));
    if (!text.includes("\\")) return text;
    const name: unknown = JSON.parse(`"${text}"`);
    return typeof name === "string" ? name : undefined;
  } catch {
    return undefined;
  }
}

/** For names that were readable when they were met. */
function nameAt(bytes: Uint8Array, start: number | undefined, end: number | undefined): string {
  return decodeName(bytes, start ?? 0, end ?? 0) ?? "";
}

function remember(bytes: Uint8Array, frame: Frame, start: number, end: number): WireErrorKind | undefined {
  if (frame.exact !== undefined) return rememberInSets(nameAt(bytes, start, end), frame);
  const hash = frame.nameHash;
  const names = frame.names;
  const length = frame.namesLength;
  for (let at = 0; at < length; at += 3) {
    if (names[at + 2] !== hash) continue;
    const earlier = nameAt(bytes, names[at], names[at + 1]);
    const name = nameAt(bytes, start, end);
    if (earlier === name) return "duplicate-name";
    if (frame.region !== region.free && foldCase(earlier) === foldCase(name)) return "case-variant-name";
  }
  names[length] = start;
  names[length + 1] = end;
  names[length + 2] = hash;
  frame.namesLength = length + 3;
  if (frame.namesLength === 3 * linearNamesMax) moveToSets(bytes, frame);
  return undefined;
}

function moveToSets(bytes: Uint8Array, frame: Frame): void {
  frame.exact = new Set();
  frame.folded = frame.region === region.free ? undefined : new Set();
  for (let at = 0; at < frame.namesLength; at += 3) {
    const name = nameAt(bytes, frame.names[at], frame.names[at + 1]);
    frame.exact.add(name);
    frame.folded?.add(foldCase(name));
  }
}

function rememberInSets(name: string, frame: Frame): WireErrorKind | undefined {
  if (frame.exact?.has(name) === true) return "duplicate-name";
  frame.exact?.add(name);
  if (frame.folded === undefined) return undefined;
  const folded = foldCase(name);
  if (frame.folded.has(folded)) return "case-variant-name";
  frame.folded.add(folded);
  return undefined;
}

/** Refuses a name that is a protocol name in another case, and sets the region of the value that follows. */
function misspelt(bytes: Uint8Array, frame: Frame, start: number, end: number): WireErrorKind | undefined {
  const own = frame.region;
  if (own === region.free) return undefined;
  if (own === region.inputRequests || own === region.inputResponses) {
    // The names of these maps are chosen by a server; the values are the protocol's requests and results.
    frame.childRegion = own === region.inputRequests ? region.protocol : region.result;
    return undefined;
  }
  frame.childRegion = own === region.meta ? region.free : region.protocol;
  for (const known of candidates(frame.nameHash)) {
    const exact = spells(bytes, start, end, known);
    const name = exact ? known.name : nameAt(bytes, start, end);
    if (!exact && foldCase(name) !== known.folded) continue;
    if (!(own === region.meta ? known.inMeta : known.inProtocol)) continue;
    if (name !== known.name) return "case-variant-name";
    frame.childRegion = own === region.result && name === "content" ? region.formOrBlocks : known.child;
    return undefined;
  }
  return undefined;
}

/** True when the bytes are the known name as it stands, without escapes. */
function spells(bytes: Uint8Array, start: number, end: number, known: KnownName): boolean {
  const name = known.name;
  if (end - start !== name.length) return false;
  for (let index = 0; index < name.length; index += 1) {
    if (bytes[start + index] !== name.charCodeAt(index)) return false;
  }
  return true;
}
