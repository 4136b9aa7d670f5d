/** Sentences and tables for terminals, with text from outside shown safely. */
/** A sentence that quotes text from outside: what would move the cursor or turn the line is shown as an escape. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Text from outside for a terminal: control and invisible characters are shown as escapes, and it is cut. */
export function shown(text: string, lengthMax = 200): string {
  const escaped = visible(text);
  return escaped.length <= lengthMax ? escaped : `${escaped.slice(0, lengthMax - 1)}…`;
}

/**
 * A word of a command that a sentence offers to copy into a shell. Names come from project files and from servers: what a shell
 * would read as more than a word is quoted.
 */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${visible(text).replaceAll("'", "'\\''")}'`;
}

/** A path as a sentence can hold it: its end, which tells files apart, and nothing that could end a line. */
export function shortPath(path: string, lengthMax = 80): string {
  const plain = shown(path, 4_096);
  return plain.length <= lengthMax ? plain : `...${plain.slice(3 - lengthMax)}`;
}

/** A number with its noun: `1 call`, `2 calls`. */
export function many(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** User-facing sentences have at most this many characters; what was quoted into one is cut. */
export const sentenceMax = 240;

/** Columns of equal width, two spaces apart. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, cell.length)));
  return rows
    .map((row) => row.map((cell, index) => cell.padEnd(index === row.length - 1 ? 0 : (widths[index] ?? 0))).join("  "))
    .join("\n");
}
