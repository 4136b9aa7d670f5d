/** Normalisation of text before it is compared: NFC and outer white space, nothing else; and what a text may stand for. */
import type { Json } from "../../core/json.ts";

const whiteSpace = /^\p{White_Space}$/u;

/**
 * NFC, without white space at both ends. Nothing inside is folded: case, look-alike letters and zero-width characters
 * stay different, because equating them would let an attacker's value pass for a trusted one (homoglyph attack).
 * U+FEFF is not white space in Unicode, so a value that hides one stays different too.
 */
export function normaliseText(text: string): string {
  const composed = text.normalize("NFC");
  let start = 0;
  let end = composed.length;
  // Loops instead of a regular expression: `\s+$` takes quadratic time on long inner runs of blanks.
  while (start < end && whiteSpace.test(composed.charAt(start))) start += 1;
  while (end > start && whiteSpace.test(composed.charAt(end - 1))) end -= 1;
  return composed.slice(start, end);
}

/** Characters that are not seen: control, format, filler and variation characters. */
const unseen = /[\p{Cc}\p{Default_Ignorable_Code_Point}]/u;

export function hasUnseen(text: string): boolean {
  return unseen.test(text);
}

/**
 * True iff nothing in the text is an unseen character or a compatibility twin of another one (full-width letters,
 * ligatures). IDNA maps those away; a name that needs it is refused instead of equated.
 */
export function isPlain(text: string): boolean {
  return !hasUnseen(text) && text.normalize("NFKC") === text.normalize("NFC");
}

/** A list or an object that came as its text, which servers parse where they want one; undefined for any other text. */
export function valueInText(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json; // a JSON value by construction
  } catch {
    return undefined; // text that only begins like JSON is a text and nothing else
  }
}
