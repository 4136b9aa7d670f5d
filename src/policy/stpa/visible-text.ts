/** Text from outside on one line, with what a reader cannot see, or what would turn the line, shown as escapes. */
export function visibleText(text: string): string {
  return text
    .replace(/[\r\n]+/g, " ")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}
