/**
 * Plain data as text and back: what a folded run consists of. Beside JSON it knows `undefined`, every number, maps, sets,
 * lists of 32-bit integers and raw JSON numbers. What is one value in two places stays one, but for parts that are JSON all
 * through. Equal data that was built in the same order gives equal text. Whatever else there is (functions, classes with
 * state of their own) has no text: the caller then has to rebuild it by folding.
 */
import { setOwn } from "./json.ts";
import { err, ok, type Result } from "./result.ts";

/** Parts of lists and maps that are written between two pauses. */
const partsPerPause = 256;

/** Depth down to which lists and maps are written part by part; each part below is written at once. */
const pausesDepth = 5;

/** Depth of nested values; beyond it the data is not that of a run. */
const depthMax = 512;

/** First element of a list that stands for something that JSON does not have, or for a value that is JSON all through. */
const tag = { number: 0, none: 1, list: 2, again: 3, object: 4, map: 5, set: 6, integers: 7, raw: 8, json: 9 } as const;

class NoText extends Error {}

type Opened = { readonly start: string; readonly values: Iterable<unknown> };

class Writer {
  readonly pieces: string[] = [];
  readonly #charactersMax: number;
  readonly #numbers = new Map<object, number>();
  readonly #shapes = new Map<string, number>();
  readonly #names: (readonly string[])[] = [];
  #characters = 0;
  #parts = 0;

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax;
  }

  shapes(): string {
    return JSON.stringify(this.#names);
  }

  /** Writes a value that may be large. */
  *parts(value: unknown, depth: number): Generator<void, void> {
    const opened = this.#open(value);
    if (typeof opened === "string") return this.#put(opened);
    this.#put(opened.start);
    for (const one of opened.values) {
      this.#put(",");
      if (depth < pausesDepth && typeof one === "object" && one !== null) yield* this.parts(one, depth + 1);
      else this.#put(isJson(one, depth) ? jsonText(one) : this.#text(one, depth));
      this.#parts += 1;
      if (this.#parts % partsPerPause === 0) yield;
    }
    this.#put("]");
  }

  #text(value: unknown, depth: number): string {
    if (depth > depthMax) throw new NoText("it is nested too deeply");
    const opened = this.#open(value);
    if (typeof opened === "string") return opened;
    let text = opened.start;
    for (const one of opened.values) text += `,${this.#text(one, depth + 1)}`;
    return `${text}]`;
  }

  /** The whole text of a value without parts, or how the text of its parts begins. */
  #open(value: unknown): string | Opened {
    if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
    if (typeof value === "number") return numberText(value);
    if (value === undefined) return `[${tag.none}]`;
    if (typeof value !== "object") throw new NoText(`there is a ${typeof value} in it`);
    if (JSON.isRawJSON(value)) return `[${tag.raw},${JSON.stringify((value as { rawJSON: string }).rawJSON)}]`;
    const known = this.#numbers.get(value);
    if (known !== undefined) return `[${tag.again},${known}]`;
    this.#numbers.set(value, this.#numbers.size);
    if (Array.isArray(value)) return { start: `[${tag.list}`, values: value };
    if (value instanceof Int32Array) return `[${tag.integers},${value.length},"${textOfIntegers(value)}"]`;
    if (value instanceof Set) return { start: `[${tag.set}`, values: value };
    if (isMap(value)) return { start: `[${tag.map}`, values: flat(value) };
    if (!isPlain(value)) throw new NoText("there is an object of a class in it");
    return { start: `[${tag.object},${this.#shape(Object.keys(value))}`, values: Object.values(value) };
  }

  #shape(names: readonly string[]): number {
    const joined = names.join("\0");
    // Names are text from outside: one may hold what parts them here.
    const key =
      names.length > 0 && joined.split("\0").length !== names.length ? `\0\0${JSON.stringify(names)}` : joined;
    const known = this.#shapes.get(`${names.length} ${key}`);
    if (known !== undefined) return known;
    this.#shapes.set(`${names.length} ${key}`, this.#names.length);
    return this.#names.push(names) - 1;
  }

  #put(text: string): void {
    this.#characters += text.length;
    if (this.#characters > this.#charactersMax) throw new NoText(`it has more than ${this.#charactersMax} characters`);
    this.pieces.push(text);
  }
}

/** Whether a list or object comes back from JSON as it is: most of a run's state are events. */
function isJson(value: unknown, depth: number): boolean {
  return typeof value === "object" && value !== null && isJsonPart(value, depth);
}

function isJsonPart(value: unknown, depth: number): boolean {
  if (value === null || typeof value === "boolean" || typeof value === "string") return true;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== "object" || depth > depthMax || JSON.isRawJSON(value)) return false;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return false;
  for (const one of Array.isArray(value) ? value : Object.values(value)) if (!isJsonPart(one, depth + 1)) return false;
  return true;
}

function jsonText(value: unknown): string {
  return `[${tag.json},${JSON.stringify(value)}]`;
}

/** Maps, and what offers the same to its readers. */
function isMap(value: object): value is ReadonlyMap<unknown, unknown> {
  return value instanceof Map || ("entries" in value && "has" in value && "size" in value && !isPlain(value));
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function* flat(map: ReadonlyMap<unknown, unknown>): Generator<unknown, void> {
  for (const [key, value] of map) {
    yield key;
    yield value;
  }
}

function numberText(value: number): string {
  return Number.isFinite(value) && !Object.is(value, -0)
    ? String(value)
    : `[${tag.number},"${Object.is(value, -0) ? "-0" : value}"]`;
}

/**
 * The text of plain data, made in steps so that long work can make way; the error is a clause that says why there is none.
 * Nothing of the data may change until it ends.
 */
export function* plainText(value: unknown, charactersMax: number): Generator<void, Result<string, string>> {
  const writer = new Writer(charactersMax);
  try {
    yield* writer.parts(value, 0);
  } catch (thrown) {
    if (thrown instanceof NoText) return err(thrown.message);
    throw thrown;
  }
  return ok(`{"root":${writer.pieces.join("")},"shapes":${writer.shapes()}}`);
}

class Reader {
  readonly #shapes: readonly (readonly string[])[];
  readonly #known: unknown[] = [];

  constructor(shapes: readonly (readonly string[])[]) {
    this.#shapes = shapes;
  }

  value(written: unknown): unknown {
    if (!Array.isArray(written)) return written;
    const parts: readonly unknown[] = written;
    switch (parts[0]) {
      case tag.number:
        return Number(parts[1]);
      case tag.none:
        return undefined;
      case tag.json:
        return parts[1];
      case tag.raw:
        return JSON.rawJSON(String(parts[1]));
      case tag.again:
        return this.#known[Number(parts[1])];
      case tag.list:
        return this.#list(parts);
      case tag.integers:
        return this.#keep(integersOf(Number(parts[1]), String(parts[2])));
      case tag.set: {
        const set = this.#keep(new Set());
        for (let index = 1; index < parts.length; index += 1) set.add(this.value(parts[index]));
        return set;
      }
      case tag.map: {
        const map = this.#keep(new Map());
        for (let index = 1; index < parts.length; index += 2)
          map.set(this.value(parts[index]), this.value(parts[index + 1]));
        return map;
      }
      default:
        return this.#object(parts);
    }
  }

  #list(parts: readonly unknown[]): unknown {
    const list: unknown[] = this.#keep([]);
    for (let index = 1; index < parts.length; index += 1) list.push(this.value(parts[index]));
    return list;
  }

  #object(parts: readonly unknown[]): unknown {
    const object: { [name: string]: unknown } = this.#keep({});
    for (const [index, name] of (this.#shapes[Number(parts[1])] ?? []).entries()) {
      const value = this.value(parts[index + 2]);
      if (name === "__proto__") setOwn(object, name, value);
      else object[name] = value;
    }
    return object;
  }

  /** Numbered in the order of the writer, before what is in it. */
  #keep<T>(value: T): T {
    this.#known.push(value);
    return value;
  }
}

/**
 * The data of a text that `plainText` made. The text must be authentic: it is believed to be well formed, and an error only
 * says that it is no JSON.
 */
export function plainFrom(text: string): Result<unknown, string> {
  let written: { readonly root: unknown; readonly shapes: readonly (readonly string[])[] };
  try {
    written = JSON.parse(text) as typeof written; // authentic, see above
  } catch {
    return err("it is no JSON");
  }
  return ok(new Reader(written.shapes).value(written.root));
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const codes = Uint16Array.from(digits, (digit) => digit.charCodeAt(0));
const sixBits = new Uint8Array(128);
for (const [value, code] of codes.entries()) sixBits[code] = value;

/** Six digits of 64 for each integer; of integers that are 0 only how many there are, since hash tables are half empty. */
function textOfIntegers(integers: Int32Array): string {
  const pieces: string[] = [];
  let zeros = 0;
  const part = new Uint16Array(6);
  for (const integer of integers) {
    if (integer === 0) {
      zeros += 1;
      continue;
    }
    if (zeros > 0) pieces.push(`.${zeros}.`);
    zeros = 0;
    for (let digit = 0; digit < 6; digit += 1) part[digit] = codes[(integer >>> (digit * 6)) & 63] ?? 0;
    pieces.push(String.fromCharCode(...part));
  }
  return pieces.join("");
}

const dot = ".".charCodeAt(0);

function integersOf(length: number, text: string): Int32Array {
  const integers = new Int32Array(length);
  let at = 0;
  for (let index = 0; index < text.length;) {
    if (text.charCodeAt(index) === dot) {
      const end = text.indexOf(".", index + 1);
      at += Number(text.slice(index + 1, end));
      index = end + 1;
      continue;
    }
    let integer = 0;
    for (let digit = 0; digit < 6; digit += 1) integer |= (sixBits[text.charCodeAt(index + digit)] ?? 0) << (digit * 6);
    integers[at] = integer;
    at += 1;
    index += 6;
  }
  return integers;
}
