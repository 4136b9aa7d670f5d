/**
 * Text that was encoded with what every program and every agent can undo: base64 (in which the protocol itself carries
 * `blob`), hexadecimal digits, `\x` escapes. Only for what may be found too much: a copy in one of them is still a copy.
 */
const escapes = /(?:\\x[0-9a-fA-F]{2}){4,}/g;
const hexadecimal = /^(?:[0-9a-fA-F]{2})+$/;

/** Symbols of a run that may be something encoded. Every result is searched for them, so the search leaps this far. */
const runUnitsMin = 16;

/** Characters of a run that are examined first: they identify an image or a key. */
const sampleUnits = 64;

/** Times that encodings are undone, one in the other. */
const undoneMax = 2;

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/** The value of a symbol, by its code; `-` and `_` are those of URLs, and 255 marks other characters. */
const values = new Uint8Array(128).fill(255);
for (let value = 0; value < 64; value += 1) values[alphabet.charCodeAt(value)] = value;
values["-".charCodeAt(0)] = 62;
values["_".charCodeAt(0)] = 63;

/** The text with its encoded parts decoded; undefined where it has none. */
export function withoutEncodings(text: string): string | undefined {
  let plain = text;
  for (let times = 0; times < undoneMax; times += 1) {
    const undone = withoutRuns(plain.includes("\\x") ? withoutEscapes(plain) : plain);
    if (undone === plain) break;
    plain = undone;
  }
  return plain === text ? undefined : plain;
}

function withoutEscapes(text: string): string {
  return text.replace(escapes, (found) => decoded(found.replaceAll("\\x", "")) ?? found);
}

/** The text with every run of symbols, from its first to its last, undone if it says something. */
function withoutRuns(text: string): string {
  const parts: string[] = [];
  let told = 0;
  for (let at = runUnitsMin - 1; at < text.length;) {
    let start = at;
    while (start >= told && isSymbol(text, start)) start -= 1;
    if (at - start < runUnitsMin) {
      // No run that is long enough ends before the next symbol in reach.
      at = start + runUnitsMin;
      continue;
    }
    let end = at + 1;
    while (isSymbol(text, end)) end += 1;
    const run = text.slice(start + 1, end);
    const plain = decoded(run) ?? inParts(run);
    if (plain !== run) {
      parts.push(text.slice(told, start + 1), plain);
      told = end;
    }
    at = end + runUnitsMin;
  }
  return told === 0 ? text : parts.join("") + text.slice(told);
}

function isSymbol(text: string, at: number): boolean {
  // Outside of the text, and of the table, nothing is one.
  return (values[text.charCodeAt(at)] ?? 255) !== 255;
}

/** In a path or a name the encoded part stands between others. */
function inParts(found: string): string {
  return found.replace(/[A-Za-z0-9+]{16,}/g, (part) => (part === found ? part : (decoded(part) ?? part)));
}

/** With blanks around it: an address beside other text is still one. */
function decoded(digits: string): string | undefined {
  const bytesOf = hexadecimal.test(digits) ? hexBytes : base64Bytes;
  const sample = textOf(bytesOf(digits.slice(0, sampleUnits)));
  const text = sample === undefined || digits.length <= sampleUnits ? sample : textOf(bytesOf(digits));
  return text === undefined ? undefined : ` ${text} `;
}

/** Bytes of digits; undefined as soon as one is of no text. */
function hexBytes(digits: string): Uint8Array | undefined {
  const bytes = new Uint8Array(digits.length >> 1);
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = Number.parseInt(digits.slice(at * 2, at * 2 + 2), 16);
    if (isControl(byte)) return undefined;
    bytes[at] = byte;
  }
  return bytes;
}

/** The whole bytes of the symbols, padding and spare bits left out; undefined as soon as one is of no text. */
function base64Bytes(symbols: string): Uint8Array | undefined {
  const bytes = new Uint8Array((symbols.length * 3) >> 2);
  let held = 0;
  let bits = 0;
  let at = 0;
  for (let index = 0; index < symbols.length; index += 1) {
    held = ((held << 6) | (values[symbols.charCodeAt(index)] ?? 0)) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    const byte = (held >> bits) & 0xff;
    if (isControl(byte)) return undefined;
    bytes[at] = byte;
    at += 1;
  }
  return bytes;
}

/** Control characters that no text has: all but tab, line feed and carriage return. */
function isControl(byte: number): boolean {
  return byte < 32 && byte !== 9 && byte !== 10 && byte !== 13;
}

const utf8 = new TextDecoder();

/** Of so many characters one may be none: cut off at an end, or put there so that the rest be taken for no text. */
const charactersForOneLost = 8;

/** Bytes as text, if they are any. */
function textOf(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined) return undefined;
  const text = utf8.decode(bytes);
  const rest = text.replaceAll("\ufffd", "");
  return rest === "" || (text.length - rest.length) * charactersForOneLost > text.length ? undefined : text;
}
