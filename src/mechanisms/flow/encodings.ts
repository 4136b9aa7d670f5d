/**
 * Text that was encoded with what every program and every agent can undo: base64 (in which the protocol itself carries
 * `blob`), hexadecimal digits, `\x` escapes. Only for what may be found too much: a copy in one of them is still a copy.
 */
const run = /(?:\\x[0-9a-fA-F]{2}){4,}|(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}/g;
const hexadecimal = /^(?:[0-9a-fA-F]{2})+$/;

/** Characters of a run that are looked at first: what is an image or a key is told by them. */
const sampleUnits = 64;

/** Times that encodings are undone, one in the other. */
const undoneMax = 2;

/** The text with what is encoded in it in plain; undefined where nothing is. */
export function withoutEncodings(text: string): string | undefined {
  let plain = text;
  for (let times = 0; times < undoneMax; times += 1) {
    const undone = plain.replace(run, (found) => decoded(found) ?? inParts(found));
    if (undone === plain) break;
    plain = undone;
  }
  return plain === text ? undefined : plain;
}

/** In a path or a name the encoded part stands between others. */
function inParts(found: string): string {
  return found.replace(/[A-Za-z0-9+]{16,}/g, (part) => (part === found ? part : (decoded(part) ?? part)));
}

/** With blanks around it: an address beside other text is still one. */
function decoded(found: string): string | undefined {
  const digits = found.startsWith("\\x") ? found.replaceAll("\\x", "") : found;
  const bytesOf = hexadecimal.test(digits) ? hexBytes : base64Bytes;
  const sample = textOf(bytesOf(digits.slice(0, sampleUnits)));
  const text = sample === undefined || digits.length <= sampleUnits ? sample : textOf(bytesOf(digits));
  return text === undefined ? undefined : ` ${text} `;
}

function hexBytes(digits: string): Uint8Array {
  return Uint8Array.from({ length: digits.length >> 1 }, (_, at) =>
    Number.parseInt(digits.slice(at * 2, at * 2 + 2), 16),
  );
}

const values = new Map(
  Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", (symbol, value) => [symbol, value]),
)
  .set("-", 62)
  .set("_", 63);

/** The whole bytes of the symbols; padding and spare bits are left out. */
function base64Bytes(symbols: string): Uint8Array {
  const bytes = new Uint8Array((symbols.length * 3) >> 2);
  let held = 0;
  let bits = 0;
  let at = 0;
  for (let index = 0; index < symbols.length; index += 1) {
    held = ((held << 6) | (values.get(symbols.charAt(index)) ?? 0)) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at] = (held >> bits) & 0xff;
    at += 1;
  }
  return bytes;
}

const utf8 = new TextDecoder();

/** Bytes as text, if they are any; a character may have been cut off at either end. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.some((byte) => byte < 32 && byte !== 9 && byte !== 10 && byte !== 13)) return undefined;
  const text = utf8.decode(bytes).replace(/^\ufffd+|\ufffd+$/g, "");
  return text === "" || text.includes("\ufffd") ? undefined : text;
}
