/**
 * Text that was encoded with what every program and every agent can undo: base64 (in which the protocol itself carries
 * `blob`), hexadecimal digits, the bytes of variation selectors. Only for what may be found too much: a copy in one of
 * them is still a copy. Symbols are read across whatever parts them, and in every phase, so that neither wrapping nor
 * letters before them hide anything. Each text is passed over a fixed number of times.
 */
import { stretchesOf } from "./text-stretches.ts";

/** Bytes of text that make an encoding of symbols which are parted, or which stand among others. */
const stretchUnitsMin = 12;

/** Bytes of text that make one where a whole word, or pairs of digits, are nothing else: the length of a short code. */
const wordUnitsMin = 6;

/** Symbols beside a mark that is left out: as many as are a stretch by themselves. */
const markReach = 24;

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/** The value of a symbol, by its code; `-` and `_` are those of URLs, and 255 marks other characters. */
const values = new Uint8Array(128).fill(255);
for (let value = 0; value < 64; value += 1) values[alphabet.charCodeAt(value)] = value;
values["-".charCodeAt(0)] = 62;
values["_".charCodeAt(0)] = 63;

/** Everything that the text says in an encoding, parted by blanks; undefined where it has none. */
export function encodedIn(text: string): string | undefined {
  const found = [...inBase64(text), ...inWords(text), ...inHexadecimal(text), ...inSelectors(text)];
  return found.length === 0 ? undefined : ` ${[...new Set(found)].join(" ")} `;
}

/** Symbols of the whole text in a row, in each of the four phases; near marks that may only part them, once without. */
function inBase64(text: string): readonly string[] {
  const symbols = new Uint8Array(text.length);
  let count = 0;
  let marked = false;
  for (let at = 0; at < text.length; at += 1) {
    const value = values[text.charCodeAt(at)] ?? 255; // outside of the table nothing is a symbol
    if (value === 255) continue;
    symbols[count] = value;
    count += 1;
    if (value >= 62) marked = true;
  }
  const all = symbols.subarray(0, count);
  const found = inPhases(all);
  return marked ? [...found, ...inPhases(withoutMarks(all))] : found;
}

/** The symbols that are near one of `+/-_`, without these; further ones are a stretch without them. */
function withoutMarks(symbols: Uint8Array): Uint8Array {
  let far = markReach;
  const reached = symbols.map((value) => ((far = value >= 62 ? 0 : far + 1) < markReach ? 1 : 0));
  far = markReach;
  for (let at = symbols.length - 1; at >= 0; at -= 1) {
    far = (symbols[at] ?? 0) >= 62 ? 0 : far + 1;
    if (far < markReach) reached[at] = 1;
  }
  return symbols.filter((value, at) => value < 62 && reached[at] === 1);
}

function inPhases(symbols: Uint8Array): readonly string[] {
  if (symbols.length * 3 < stretchUnitsMin * 4) return [];
  return [0, 1, 2, 3].flatMap((phase) => stretchesOf(bytesOf(symbols, phase), stretchUnitsMin));
}

/** The whole bytes of the symbols from `from` on; spare bits are left out. */
function bytesOf(symbols: Uint8Array, from: number): Uint8Array {
  const bytes = new Uint8Array(((symbols.length - from) * 3) >> 2);
  let at = 0;
  let held = 0;
  let bits = 0;
  for (let index = from; index < symbols.length; index += 1) {
    held = ((held << 6) | (symbols[index] ?? 0)) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at] = (held >> bits) & 0xff;
    at += 1;
  }
  return bytes;
}

/** Every fourth symbol begins a byte of ASCII, so most words are none. */
const codeWord =
  /(?<![A-Za-z0-9+/_-])(?=.{1,23}[A-Z0-9])[I-Za-f][A-Za-z0-9+/_-]{3}[I-Za-f][A-Za-z0-9+/_-]{3,19}(?![A-Za-z0-9+/_-])/g;

/** Codes in base64 are short, and so are words: each by itself, all of it ASCII, and with a capital or a digit inside. */
function inWords(text: string): readonly string[] {
  const found: string[] = [];
  for (const [word] of text.matchAll(codeWord)) {
    const bytes = bytesOf(
      Uint8Array.from(word, (symbol) => values[symbol.charCodeAt(0)] ?? 0),
      0,
    );
    const [first, ...others] = stretchesOf(bytes, wordUnitsMin);
    if (first !== undefined && others.length === 0 && first.length === bytes.length) found.push(first);
  }
  return found;
}

/** Digits in a row, whatever parts them. */
const digitRow = /[0-9a-fA-F](?:[^0-9a-zA-Z]{0,4}[0-9a-fA-F]){11,}/g;
/** Parts of a row in which a short code is one, too: digits in one group, and nothing but pairs. */
const digitGroup = /[0-9a-fA-F]{12,}/g;
const digitPairs = /(?<![0-9a-zA-Z])[0-9a-fA-F]{2}(?:[^0-9a-zA-Z]{1,4}[0-9a-fA-F]{2}(?![0-9a-zA-Z])){5,}/g;
/** Before each pair, or before all (`0x4f`, `\\x4f`, `x4f`); in `x50x61` the zero is a digit. */
const digitMarks = [/(?:0|\\)?[xX](?=[0-9a-fA-F]{2})/g, /\\?[xX](?=[0-9a-fA-F]{2})/g];

function inHexadecimal(text: string): readonly string[] {
  const plain = new Set(digitMarks.map((mark) => text.replace(mark, " ")));
  const rows = [...plain].flatMap((each) => each.match(digitRow) ?? []);
  return rows.flatMap((row) => [
    ...inDigits(row, stretchUnitsMin),
    ...[digitGroup, digitPairs].flatMap((form) =>
      (row.match(form) ?? []).flatMap((part) => inDigits(part, wordUnitsMin)),
    ),
  ]);
}

/** A digit before the row shifts every pair. */
function inDigits(row: string, unitsMin: number): readonly string[] {
  const digits = row.replace(/[^0-9a-fA-F]+/g, "");
  return [0, 1].flatMap((phase) => stretchesOf(hexBytes(digits, phase), unitsMin));
}

function hexBytes(digits: string, from: number): Uint8Array {
  const bytes = new Uint8Array((digits.length - from) >> 1);
  for (let at = 0; at < bytes.length; at += 1) {
    bytes[at] = (digitValue(digits, from + at * 2) << 4) | digitValue(digits, from + at * 2 + 1);
  }
  return bytes;
}

function digitValue(digits: string, at: number): number {
  const code = digits.charCodeAt(at);
  return code <= 57 ? code - 48 : (code | 32) - 87;
}

/** 256 selectors that are not seen stand for 256 bytes. */
const selectors = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+/gu;

function inSelectors(text: string): readonly string[] {
  const all = text.match(selectors)?.join("") ?? "";
  const bytes = Uint8Array.from(Array.from(all), (selector) => {
    const code = selector.codePointAt(0) ?? 0;
    return code < 0xe0100 ? code - 0xfe00 : code - 0xe0100 + 16;
  });
  return stretchesOf(bytes, wordUnitsMin);
}
