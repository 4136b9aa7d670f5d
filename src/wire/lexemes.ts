/**
 * Parsing that keeps the lexeme of numbers which a double would change.
 *
 * The reviver with source access does this by itself but costs ten times `JSON.parse` on a large document. So the
 * numbers that the guard found are replaced by marker strings, the text is parsed at full speed, and one walk puts the
 * lexemes where the markers are. A document may hold strings that look like markers, by chance or on purpose: then
 * more of them are found than were put in, the result is thrown away, and the reviver does the work.
 */
import { isArray, isObject, type Json } from "../core/json.ts";

/** Start of a marker; a control character makes it rare in honest text. */
const prefix = "\u0001#";
const encodedPrefix = new TextEncoder().encode(String.raw`"\u0001#`);

/**
 * Parses `text`, whose bytes are `bytes`; `spans` are start and end offsets of the inexact numbers in the bytes, in
 * order. Throws a SyntaxError exactly when `JSON.parse` does.
 */
export function parseKeepingLexemes(text: string, bytes: Uint8Array, spans: readonly number[]): Json {
  // Below a few hundred numbers the reviver is fast enough, and it is the simpler of the two.
  if (bytes.length < 4096) return reviveLexemes(text);
  // Checks the syntax of the numbers too: a marker in the place of `1.2.3` would hide the fault.
  const lexemes = readLexemes(bytes, spans);
  if (lexemes === undefined) return reviveLexemes(text);
  const marked = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(withMarkers(bytes, spans));
  const slots = { lexemes, found: new Set<number>(), strangers: 0 };
  // `JSON.parse` returns JSON by definition.
  const value = putBack(JSON.parse(marked) as Json, slots);
  return slots.strangers === 0 && slots.found.size === lexemes.length ? value : reviveLexemes(text);
}

/** The plain way: exact for every document, slow for large ones. */
export function reviveLexemes(text: string): Json {
  // `JSON.parse` returns JSON by definition, and the reviver puts in nothing but `RawNumber`.
  return JSON.parse(text, (_name, value, context) => {
    if (typeof value !== "number" || context.source === undefined || String(value) === context.source) return value;
    return JSON.rawJSON(context.source);
  }) as Json;
}

function readLexemes(bytes: Uint8Array, spans: readonly number[]): readonly string[] | undefined {
  const decoder = new TextDecoder();
  const lexemes: string[] = [];
  for (let at = 0; at < spans.length; at += 2) {
    const lexeme = decoder.decode(bytes.subarray(spans[at], spans[at + 1]));
    if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(lexeme)) return undefined;
    lexemes.push(lexeme);
  }
  return lexemes;
}

function withMarkers(bytes: Uint8Array, spans: readonly number[]): Uint8Array {
  const count = spans.length / 2;
  const longest = encodedPrefix.length + String(count).length + 1;
  const marked = new Uint8Array(bytes.length + count * longest);
  let from = 0;
  let to = 0;
  for (let index = 0; index < count; index += 1) {
    const start = spans[2 * index] ?? 0;
    marked.set(bytes.subarray(from, start), to);
    to += start - from;
    marked.set(encodedPrefix, to);
    to += encodedPrefix.length;
    for (const digit of String(index)) marked[to++] = digit.charCodeAt(0);
    marked[to++] = 34;
    from = spans[2 * index + 1] ?? 0;
  }
  marked.set(bytes.subarray(from), to);
  return marked.subarray(0, to + bytes.length - from);
}

type Slots = { readonly lexemes: readonly string[]; readonly found: Set<number>; strangers: number };

/** Replaces markers in a tree that nobody else has seen yet; depth is bounded by the guard. */
function putBack(value: Json, slots: Slots): Json {
  if (typeof value === "string") return value.startsWith(prefix) ? unmark(value, slots) : value;
  if (typeof value !== "object" || value === null) return value;
  if (isArray(value)) {
    // Readonly is our promise to others; this tree is still ours alone.
    const elements = value as Json[];
    for (let index = 0; index < elements.length; index += 1) {
      const element = elements[index] ?? null;
      const next = putBack(element, slots);
      if (next !== element) elements[index] = next;
    }
  } else if (isObject(value)) {
    // As above. An own `__proto__` shadows the setter, so assigning to it stays within the object.
    const members = value as { [name: string]: Json };
    for (const name of Object.keys(members)) {
      const member = members[name] ?? null;
      const next = putBack(member, slots);
      if (next !== member) members[name] = next;
    }
  }
  return value;
}

function unmark(text: string, slots: Slots): Json {
  const index = Number(text.slice(prefix.length));
  const lexeme = slots.lexemes[index];
  if (lexeme === undefined || slots.found.has(index) || prefix + String(index) !== text) {
    slots.strangers += 1;
    return text;
  }
  slots.found.add(index);
  return JSON.rawJSON(lexeme);
}
