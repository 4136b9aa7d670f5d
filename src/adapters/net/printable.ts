/**
 * Makes foreign text fit for one line of a terminal, a log or a sentence. Escape sequences could rewrite the screen,
 * line breaks could forge log lines, and direction marks could reverse a sentence; all of them become spaces.
 */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu;

/** Terminal escape sequences go as a whole, so that no `[31m` is left behind. */
// oxlint-disable-next-line no-control-regex -- the control characters are what this pattern is for
const escapes = /\u001b(?:\[[0-9;?]{0,32}[ -/]{0,4}[@-~]|\][^\u0007\u001b]{0,512}(?:\u0007|\u001b\\)|.)/gu;

/** One line of at most `lengthMax` characters without control, format or unpaired characters. */
export function printable(text: string, lengthMax: number): string {
  // Four times the wanted length bounds the work on a huge text and leaves room for what is taken out.
  const clean = text
    .slice(0, lengthMax * 4)
    .replace(escapes, "")
    .replace(hidden, " ")
    .trim();
  if (clean.length <= lengthMax) return clean;
  const cut = clean.slice(0, lengthMax - 1);
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)}…`;
}

const decoder = new TextDecoder("utf-8", { fatal: false });

/** The same for bytes; invalid UTF-8 is shown as replacement characters. */
export function printableBytes(bytes: Uint8Array, lengthMax: number): string {
  return printable(decoder.decode(bytes.subarray(0, lengthMax * 16)), lengthMax);
}
