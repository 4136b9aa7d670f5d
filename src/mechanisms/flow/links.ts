/**
 * Links inside of content. A link steers its reader, so a policy may treat the links of an argument as an argument of
 * their own: `args: { "body#links": destination }`. Control arguments must be derivable, and so must these.
 */
import { isArray, isObject, type Json } from "../../core/json.ts";

/** Suffix of the name under which the links of an argument are an argument of their own. */
export const linksSuffix = "#links";

/** Links of one argument that are looked at one by one; a text with more of them counts as one link itself. */
export const linksMax = 64;

const depthMax = 32;
const separators = /[\s"'`<>()[\]{}|,;]+/u;
/**
 * A scheme, two slashes, `www.`, or a dotted name that ends in letters: over-inclusion costs a question, omission an
 * attack. Browsers take `\` for `/`, one slash for two after `https:`, and what has no scheme for the page's own.
 */
const link =
  /^(?:[a-z][a-z0-9+.-]*:[/\\]{2}\S+|(?:https?|ftp|wss?):\S+|(?:javascript|data|file|blob):\S+|[/\\]{2}[^/\\]\S*|www\.\S+|(?:[\p{L}\p{M}\p{N}_-]+[.。．｡])+(?:[\p{L}\p{M}]{2,24}|xn--[a-z0-9-]{1,59})\.?(?:[/:?#\\]\S*)?)$/iu;

/** The links of a value, in order, without repetition; linear in its text. Mail addresses are not links. */
export function linksIn(value: Json): readonly string[] {
  const found = new Set<string>();
  collect(value, found, 0);
  return [...found];
}

function collect(value: Json, found: Set<string>, depth: number): void {
  if (typeof value === "string") return fromText(value, found);
  if (!isArray(value) && !isObject(value)) return;
  // A part that is nested too deep must not pass unseen: this text has no trusted author.
  if (depth >= depthMax) return void found.add("\u0000 nested too deep");
  if (isArray(value)) for (const one of value) collect(one, found, depth + 1);
  else if (isObject(value)) for (const one of Object.values(value)) collect(one as Json, found, depth + 1); // own members of JSON
}

function fromText(text: string, found: Set<string>): void {
  for (const word of text.split(separators)) {
    const bare = linkOf(withoutMarks(word));
    if (bare === undefined) continue;
    if (found.size < linksMax) found.add(bare);
    // Too many to examine one by one: the text itself must then come from a trusted author.
    else found.add(text);
  }
}

/** Places inside of one word where a link may begin (`href=//h`, `to:h.example`); beyond them the word counts as one. */
const beginningsMax = 8;

function linkOf(word: string): string | undefined {
  let rest = word;
  for (let tries = 0; rest.length >= 4; tries += 1) {
    if (tries >= beginningsMax || link.test(rest)) return rest;
    const next = rest.search(/[=:*]/);
    if (next < 0) return undefined;
    rest = rest.slice(next + 1);
  }
  return undefined;
}

/** Emphasis before and punctuation after; two loops, since `/[.]+$/` is quadratic on dots that do not end the word. */
function withoutMarks(word: string): string {
  let start = 0;
  let end = word.length;
  while (start < end && marksBefore.has(word.charAt(start))) start += 1;
  while (end > start && marksAfter.has(word.charAt(end - 1))) end -= 1;
  return word.slice(start, end);
}

const marksBefore = new Set("_*~!#@&.:-–—…“”„‘’«»‹›");
const marksAfter = new Set(".!?:_*~…“”„‘’«»‹›");
