/** Globs on linear time: `*` within a segment, `**` across segments, `?` one character; everything else is literal. */
import { regexFinds } from "./regex.ts";

function escaped(character: string): string {
  return /[\p{L}\p{N}]/u.test(character) ? character : `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** RE2 source that is anchored at both ends. */
export function globSource(pattern: string, foldCase: boolean): string {
  let source = foldCase ? "(?is)^" : "(?s)^";
  const characters = [...pattern];
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? "";
    if (character === "?") source += "[^/]";
    else if (character !== "*") source += escaped(character);
    else if (characters[index + 1] !== "*") source += "[^/]*";
    else {
      index += 1;
      // `**/` also matches no folder at all, so that `**/x` finds `x` itself.
      const folder = characters[index + 1] === "/" && (index < 2 || characters[index - 2] === "/");
      source += folder ? "(?:.*/)?" : ".*";
      if (folder) index += 1;
    }
  }
  return `${source}$`;
}

/** True iff the whole text matches; a pattern with a slash is about paths, where some file systems fold case. */
export function globMatches(pattern: string, text: string, foldCase: boolean): boolean {
  return regexFinds(globSource(pattern, foldCase), text) === true;
}
