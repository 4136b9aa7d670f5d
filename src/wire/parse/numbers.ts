/**
 * Does a number survive being parsed and written again? Snowflake ids, `1.0`, `1e400` and `-0` do not, and a gateway
 * that changes them corrupts data or lets a check and a use disagree.
 */

const minus = 45;
const point = 46;
const zero = 48;
const nine = 57;

/** Every decimal of this many digits comes back from a double unchanged (IEEE 754 binary64). */
const exactDigitsMax = 15;

/** Index after the last byte that can belong to the number beginning at `start`. */
export function endOfNumber(bytes: Uint8Array, start: number): number {
  const length = bytes.length;
  let index = start + 1;
  while (index < length) {
    const code = bytes[index] ?? 0;
    const isDigit = code >= zero && code <= nine;
    // . + - e E
    if (!isDigit && code !== point && code !== 43 && code !== minus && code !== 101 && code !== 69) break;
    index += 1;
  }
  return index;
}

/**
 * True when `JSON.stringify(JSON.parse(lexeme))` gives back the same characters. `ascii` is the same message as text
 * where byte and character offsets agree; cutting the lexeme out of it is much faster than building it from bytes.
 */
export function isExactNumber(bytes: Uint8Array, start: number, end: number, ascii: string | undefined): boolean {
  if (isPlainNumber(bytes, start, end)) return true;
  // No double needs more than 25 characters, so a longer lexeme is inexact without being read.
  if (end - start > 25) return false;
  const lexeme = ascii === undefined ? lexemeOf(bytes, start, end) : ascii.slice(start, end);
  return String(Number(lexeme)) === lexeme;
}

/** Cheap test that settles nearly all numbers: few digits, no exponent, no trailing zero, not minus zero. */
function isPlainNumber(bytes: Uint8Array, start: number, end: number): boolean {
  const negative = bytes[start] === minus;
  const first = negative ? start + 1 : start;
  if (end - first > exactDigitsMax + 1) return false;
  let pointAt = -1;
  for (let index = first; index < end; index += 1) {
    const code = bytes[index] ?? 0;
    if (code >= zero && code <= nine) continue;
    if (code !== point || pointAt >= 0) return false;
    pointAt = index;
  }
  if (pointAt < 0) return end - first <= exactDigitsMax && !(negative && bytes[first] === zero);
  // Below a millionth JavaScript writes an exponent.
  const decimals = end - pointAt - 1;
  return bytes[end - 1] !== zero && decimals > 0 && (decimals <= 6 || bytes[first] !== zero);
}

function lexemeOf(bytes: Uint8Array, start: number, end: number): string {
  let lexeme = "";
  for (let index = start; index < end; index += 1) lexeme += String.fromCharCode(bytes[index] ?? 0);
  return lexeme;
}
