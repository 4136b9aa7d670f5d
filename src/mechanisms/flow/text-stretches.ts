/**
 * Text inside of bytes: what is read of bytes that may be text in part only. A prefix of other bytes, a wrong phase of
 * base64 or a few bytes put between the letters do not hide the text beside them.
 */

/** A byte that is no text costs as much as so many that are: one in eight may be none. */
const faultCost = 6;

/** Bytes counted at most, so that a few faults end a stretch however long it is. */
const scoreMax = 24;

const utf8 = new TextDecoder();

/** What a byte is: 0 none of a text, 1 ASCII, 2 to 4 the first of so many, 5 a later one, 6 the zero of UTF-16 letters. */
const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0) return 6;
  if (byte < 0x80) return (byte >= 32 && byte !== 127) || byte === 9 || byte === 10 || byte === 13 ? 1 : 0;
  if (byte < 0xc0) return 5;
  return byte < 0xc2 || byte > 0xf4 ? 0 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
});

/** Every stretch of at least `unitsMin` bytes of UTF-8, or of UTF-16 letters of ASCII; in order, linear in the bytes. */
export function stretchesOf(bytes: Uint8Array, unitsMin: number): readonly string[] {
  const found: string[] = [];
  const total = bytes.length;
  let score = 0;
  let start = 0;
  let end = 0;
  let enough = false;
  for (let at = 0; at < total;) {
    const kind = kinds[bytes[at] ?? 0] ?? 0;
    const length = kind === 1 ? 1 : kind === 0 || kind > 4 ? 0 : characterAt(bytes, at, kind);
    if (length > 0) {
      if (score === 0) start = at;
      score += length;
      if (score > scoreMax) score = scoreMax;
      end = at + length;
      if (score >= unitsMin) enough = true;
      at = end;
      continue;
    }
    at += 1;
    if (kind === 6 || score === 0) continue;
    score -= faultCost;
    if (score > 0) continue;
    if (enough) found.push(textOf(bytes.subarray(start, end)));
    score = 0;
    enough = false;
  }
  if (enough) found.push(textOf(bytes.subarray(start, end)));
  return found;
}

/** Length of the character that begins here, 0 where its bytes do not follow. */
function characterAt(bytes: Uint8Array, at: number, length: number): number {
  for (let next = 1; next < length; next += 1) if (kinds[bytes[at + next] ?? 0] !== 5) return 0;
  return length;
}

function textOf(bytes: Uint8Array): string {
  // oxlint-disable-next-line no-control-regex -- control characters are the faults of a stretch
  return utf8.decode(bytes).replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]/g, "");
}
