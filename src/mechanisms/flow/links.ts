/**
 * Links inside of content. A link steers whoever reads it, so a policy may treat the links of an argument as an argument
 * of their own: `args: { "body#links": destination }`. Control arguments must be derivable, and so must these.
 */
import { isArray, isObject } from "../../core/json.ts";
import type { Json } from "../../core/json.ts";

/** Suffix of the name under which the links of an argument are an argument of their own. */
export const linksSuffix = "#links";

/** Links of one argument that are looked at one by one; a text with more of them counts as one link itself. */
export const linksMax = 64;

const depthMax = 32;
const separators = /[\s"'`<>()[\]{}|,;]+/u;
const trailing = /[.!?:]+$/u;
/** A scheme, `www.`, or a dotted name that ends in letters: over-inclusion costs a question, omission an attack. */
const link = /^(?:[a-z][a-z0-9+.-]*:\/\/\S+|www\.\S+|(?:[\p{L}\p{N}-]+\.)+\p{L}{2,24}(?:[/:?#]\S*)?)$/iu;

/** The links of a value, in order, without repetition; linear in its text. Addresses of people are no links. */
export function linksIn(value: Json): readonly string[] {
  const found = new Set<string>();
  collect(value, found, 0);
  return [...found];
}

function collect(value: Json, found: Set<string>, depth: number): void {
  if (typeof value === "string") return fromText(value, found);
  if (!isArray(value) && !isObject(value)) return;
  // What is nested too deep to look at must not pass unseen: this is no text that anybody trusted could have written.
  if (depth >= depthMax) return void found.add("\u0000 nested too deep");
  if (isArray(value)) for (const one of value) collect(one, found, depth + 1);
  else if (isObject(value)) for (const one of Object.values(value)) collect(one as Json, found, depth + 1); // own members of JSON
}

function fromText(text: string, found: Set<string>): void {
  for (const word of text.split(separators)) {
    const bare = word.replace(trailing, "");
    if (bare.length < 4 || !link.test(bare)) continue;
    if (found.size < linksMax) found.add(bare);
    // Too many to look at one by one: the text itself must then come from somebody who is trusted.
    else found.add(text);
  }
}
