/** Words of a text in any script, for comparing what is asked for with what tools say of themselves. */

/** Words read of one text. */
const wordsMax = 2_048;

/** Where one script ends and the next word of a name such as `sendEmail` or `read_file2` begins. */
const boundary = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})/gu;
const word = /[\p{L}\p{M}]+|\p{N}+/gu;

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
  for (const [token] of text.normalize("NFKC").replace(boundary, " ").toLowerCase().matchAll(word)) {
    if (found.size >= wordsMax) break;
    const points = [...token];
    if (unspaced.test(token)) {
      if (points.length === 1) found.add(token);
      for (let at = 0; at + 1 < points.length && found.size < wordsMax; at += 1)
        found.add(`${points[at]}${points[at + 1]}`);
    } else if (points.length > 1) {
      found.add(token);
      if (points.length >= stemPoints) found.add(`~${points.slice(0, stemPoints).join("")}`);
    }
  }
  return found;
}
