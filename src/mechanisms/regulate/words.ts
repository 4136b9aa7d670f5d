/** Words of a text in any script, for comparing what is asked for with what tools say of themselves. */

/** Words read of one text. */
const wordsMax = 2_048;

/** Where the next word of a name such as `sendEmail` begins. */
const boundary = /(?<=\p{Ll})(?=\p{Lu})/gu;
const word = /[\p{L}\p{M}]+|\p{N}+/gu;

/** Most tools are described in ASCII, for which plain classes are several times as fast. */
const plainText = /^[ -~\s]*$/;
const plainBoundary = /(?<=[a-z])(?=[A-Z])/g;
const plainWord = /[a-z]+|[0-9]+/g;

/** Scripts that are written without spaces: pairs of characters stand for words. */
const unspaced = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** Code points that words of one stem share: `files` and `file` both have `~file`. */
const stemPoints = 4;

/**
 * Lower-cased words, the same for full-width and other forms of a letter (NFKC), and the beginning of each longer one. A
 * single letter says nothing and is left out.
 */
export function wordsOf(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  const plain = plainText.test(text);
  const tokens = plain
    ? text.replace(plainBoundary, " ").toLowerCase().match(plainWord)
    : text.normalize("NFKC").replace(boundary, " ").toLowerCase().match(word);
  for (const token of tokens ?? []) {
    if (found.size >= wordsMax) break;
    if (!plain && unspaced.test(token)) addPairs(found, [...token]);
    else if (token.length > 1 && !found.has(token)) {
      found.add(token);
      const stem = plain ? token.slice(0, stemPoints) : [...token].slice(0, stemPoints).join("");
      if (token.length >= stemPoints) found.add(`~${stem}`);
    }
  }
  return found;
}

function addPairs(found: Set<string>, points: readonly string[]): void {
  if (points.length === 1) found.add(points[0] ?? "");
  for (let at = 0; at + 1 < points.length && found.size < wordsMax; at += 1)
    found.add(`${points[at]}${points[at + 1]}`);
}
