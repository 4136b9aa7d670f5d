/**
 * Parsing that keeps the lexeme of numbers which a double would change.
 *
 * The reviver with source access does this by itself but costs ten times `JSON.parse` on a large document. So the
 * numbers that the guard found are replaced by marker strings, the text is parsed at full speed, and one walk puts the
 * lexemes where the markers are. A document may hold strings that look like markers, by chance or to make us slow:
 * so markers begin as no string of this document does.
 */
import { isArray, isObject, type Json } from "../../core/json.ts";

/**
 * Parses `text`, whose bytes are `bytes`; `spans` are start and end offsets of the inexact numbers in the bytes, in
 * order. Throws a SyntaxError exactly when `JSON.parse` does.
 */
export function parseKeepingLexemes(text: string, bytes: Uint8Array, spans: readonly number[]): Json {
  // Below a few hundred numbers the reviver is fast enough, and it is the simpler of the two.
  if (bytes.length < 4096) return reviveLexemes(text);
  const mark = freshMark(text);
  const marked = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(withMarkers(bytes, spans, mark));
  // `JSON.parse` returns JSON by definition, and of a mark, too: it is the inside of a string.
  const slots = { bytes, spans, prefix: JSON.parse(`"${mark}"`) as string, filled: 0 };
  const value = putBack(JSON.parse(marked) as Json, slots);
  // A marker that is not a value became a name: there a number is not JSON, and the original text is refused for it.
  return 2 * slots.filled === spans.length ? value : reviveLexemes(text);
}

/** Signs of a mark. JSON spells them one way only: no raw form, no short escape, no digit that has a case. */
const signs = 7;
const stem = String.raw`\u000`;
const opening = `"${stem}`;

/** The first signs, as JSON spells them, with which no string of the text begins: as few as tell it from all of them. */
function freshMark(text: string): string {
  let strings = 0;
  for (let at = text.indexOf(opening); at >= 0; at = text.indexOf(opening, at + 1)) strings += 1;
  let length = 1;
  while (signs ** length <= strings) length += 1;
  const used = new Uint8Array(signs ** length);
  for (let at = text.indexOf(opening); at >= 0; at = text.indexOf(opening, at + 1)) {
    used[numberOfSigns(text, at + 1, length)] = 1;
  }
  const digits = used.indexOf(0).toString(signs).padStart(length, "0");
  return Array.from(digits, (digit) => stem + String(Number(digit) + 1)).join("");
}

/** The number that the signs from here on encode; not a whole number where other characters are among them. */
function numberOfSigns(text: string, from: number, length: number): number {
  let number = 0;
  for (let place = 0; place < length; place += 1) {
    const at = from + place * (stem.length + 1);
    const digit = text.startsWith(stem, at) ? text.charCodeAt(at + stem.length) - 49 : -1;
    if (!(digit >= 0 && digit < signs)) return Number.NaN;
    number = number * signs + digit;
  }
  return number;
}

/** The plain way: exact for every document, slow for large ones. */
export function reviveLexemes(text: string): Json {
  // `JSON.parse` returns JSON by definition, and the reviver puts in nothing but `RawNumber`.
  return JSON.parse(text, (_name, value, context) => {
    if (typeof value !== "number" || context.source === undefined || String(value) === context.source) return value;
    return JSON.rawJSON(context.source);
  }) as Json;
}

function withMarkers(bytes: Uint8Array, spans: readonly number[], mark: string): Uint8Array {
  const count = spans.length / 2;
  const markBytes = new TextEncoder().encode(`"${mark}`);
  const longest = markBytes.length + String(count).length + 1;
  const marked = new Uint8Array(bytes.length + count * longest);
  let from = 0;
  let to = 0;
  for (let index = 0; index < count; index += 1) {
    const start = spans[2 * index] ?? 0;
    marked.set(bytes.subarray(from, start), to);
    to += start - from;
    marked.set(markBytes, to);
    to += markBytes.length;
    for (const digit of String(index)) marked[to++] = digit.charCodeAt(0);
    marked[to++] = 34;
    from = spans[2 * index + 1] ?? 0;
  }
  marked.set(bytes.subarray(from), to);
  return marked.subarray(0, to + bytes.length - from);
}

type Slots = { readonly bytes: Uint8Array; readonly spans: readonly number[]; readonly prefix: string; filled: number };

/** Replaces markers in a tree that no other code has seen yet; depth is bounded by the guard. */
function putBack(value: Json, slots: Slots): Json {
  if (typeof value === "string") {
    if (!value.startsWith(slots.prefix)) return value;
    slots.filled += 1;
    return unmark(value, slots);
  }
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

const decoder = new TextDecoder();

function unmark(marker: string, { bytes, spans, prefix }: Slots): Json {
  const index = Number(marker.slice(prefix.length));
  // Throws where the lexeme is not a number, such as `1.2.3`, which the marker in its place has hidden so far.
  return JSON.rawJSON(decoder.decode(bytes.subarray(spans[2 * index], spans[2 * index + 1])));
}
