/** `$'...'`, whose escapes can spell any program without writing its name. */

const single: { readonly [letter: string]: string } = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};
const coded = /x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c([\s\S])/y;

/** Text and end of the string that begins at `start`; undefined if it never ends. */
export function ansiText(source: string, start: number): { readonly text: string; readonly end: number } | undefined {
  let text = "";
  let at = start;
  while (at < source.length) {
    const letter = source[at] ?? "";
    if (letter === "'") return { text, end: at + 1 };
    if (letter !== "\\") {
      text += letter;
      at += 1;
      continue;
    }
    coded.lastIndex = at + 1;
    const found = coded.exec(source);
    if (found === null) {
      const next = source[at + 1] ?? "";
      text += single[next] ?? next;
      at += 2;
    } else {
      text += decoded(found);
      at = coded.lastIndex;
    }
  }
  return undefined;
}

function decoded([, hex, short, long, octal, control]: RegExpExecArray): string {
  if (control !== undefined) return String.fromCodePoint((control.codePointAt(0) ?? 0) & 31);
  const digits = hex ?? short ?? long;
  const point = digits === undefined ? Number.parseInt(octal ?? "0", 8) & 255 : Number.parseInt(digits, 16);
  return point > 0x10ffff ? "\ufffd" : String.fromCodePoint(point);
}
