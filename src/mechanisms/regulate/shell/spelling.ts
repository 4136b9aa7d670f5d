/**
 * The value of a word where it can be computed: `{a,b}` written out, variables that the command line itself sets, and
 * words that stand in for a variable. Without it `f=~/.bashrc; echo x > $f` would write to an unknown place.
 */
import { type Word, literal } from "./syntax.ts";

/** Texts that a variable was set to anywhere before, by name. */
export type Variables = Map<string, readonly string[]>;

/** Spellings of one word, and values of one variable. */
export const spellingsMax = 64;

const innermost = /(?<![$\0])\{([^{}]*)\}/g;
/** `$x`, or `${x...}` with whatever is done to its value. */
const variable = /\$(?:\{([A-Za-z_]\w*)?([^{}]*)\}|([A-Za-z_]\w*))/;

/** All that the word can come out as; undefined if that is too much. */
export function spellings({ text, exact }: Word, variables: Variables): readonly string[] | undefined {
  if (exact) return [text];
  const valued = grown(text, (one) => withVariable(one, variables));
  const listed = valued?.map((one) => grown(one, withList));
  if (listed === undefined || listed.includes(undefined)) return undefined;
  const all = [...new Set(listed.flatMap((some) => some ?? []))].map((one) => one.replaceAll("\0", "$"));
  return all.length > spellingsMax ? undefined : all;
}

/** Replaces until nothing is left to replace. Each step leaves less to do, so it ends. */
function grown(text: string, step: (text: string) => readonly string[] | undefined): readonly string[] | undefined {
  const open = [text];
  const found: string[] = [];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const more = step(next);
    if (more === undefined) found.push(next);
    else open.push(...more.toReversed());
    if (found.length + open.length > spellingsMax) return undefined;
  }
  return found;
}

/** The first variable as each of its values; what was replaced once stays as it is. */
function withVariable(text: string, variables: Variables): readonly string[] | undefined {
  const found = variable.exec(text);
  if (found === null) return undefined;
  const [, worked, work = "", plain] = found;
  const name = plain ?? worked ?? "";
  const instead = /^:?[-=+]/.test(work) ? [work.replace(/^:?./, "")] : [];
  const values = [...(variables.get(name) ?? [`$${name}`]), ...instead];
  return values.map((value) => text.replace(variable, () => value.replaceAll("$", "\0")));
}

function withList(text: string): readonly string[] | undefined {
  for (const { 0: written, 1: inside = "", index } of text.matchAll(innermost)) {
    const parts = inside.includes(",") ? inside.split(",") : inside.includes("..") ? ["*"] : undefined;
    if (parts !== undefined)
      return parts.map((part) => text.slice(0, index) + part + text.slice(index + written.length));
  }
  return undefined;
}

/** The words as they come out, undefined where that is as they are written, and `too much`. */
export function spelled(words: readonly Word[], variables: Variables): readonly Word[] | "too much" | undefined {
  let changed = false;
  const found: Word[] = [];
  for (const word of words) {
    const texts = spellings(word, variables);
    if (texts === undefined) return "too much";
    if (texts.length === 1 && texts[0] === word.text) {
      found.push(word);
      continue;
    }
    changed = true;
    // Blanks in a value come between words, where it is not quoted.
    for (const text of texts.flatMap((one) => one.split(/[ \t\n]+/)))
      found.push({ ...literal(text), exact: !text.includes("$"), glob: /[*?[]/.test(text) });
  }
  return changed ? found : undefined;
}
