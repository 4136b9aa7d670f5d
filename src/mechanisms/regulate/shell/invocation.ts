/** One program with its arguments, as the tables of programs see it. */
import type { Effect } from "../../../core/effect.ts";
import { type Findings, add } from "./findings.ts";
import { type Word, literal } from "./syntax.ts";

export type Invocation = {
  /** Name without folder, lower case. */
  readonly program: string;
  readonly args: readonly Word[];
  readonly found: Findings;
  /** These words are run as a command of their own. */
  readonly run: (words: readonly Word[]) => void;
  /** A variable is set for what follows. */
  readonly assign: (word: Word) => void;
  /** This text is read by a shell. */
  readonly script: (word: Word) => void;
};

export type Program = (call: Invocation) => void;

export type Option = {
  readonly name: string;
  readonly value: Word | undefined;
  /** Written with two dashes, so it may be the beginning of a name. */
  readonly long: boolean;
};

export type Arguments = {
  readonly options: readonly Option[];
  /** Everything that is neither an option nor the value of one. */
  readonly rest: readonly Word[];
  /** An option that `valued` and `flags` do not name: it may or may not have taken the next word. */
  readonly strange: boolean;
};

/**
 * Splits arguments as most programs do: `-abc value`, `-ovalue`, `--name=value`, `--name value`, `--`. `valued` names
 * options that take a value, letters and long names apart by blanks; the beginning of such a name is that option, too, but
 * may be another, so that the next word is also taken for itself. `flags` those that take none, or undefined where every
 * other option is taken for one. With `stop`, everything from the first other word on is rest.
 */
export function splitArguments(
  args: readonly Word[],
  spec: { readonly valued?: string; readonly flags?: string; readonly stop?: true },
): Arguments {
  const valued = new Set((spec.valued ?? "").split(" "));
  const flags = spec.flags === undefined ? undefined : new Set(spec.flags.split(" "));
  const options: Option[] = [];
  const rest: Word[] = [];
  let strange = false;
  for (let index = 0; index < args.length; index += 1) {
    const word = args[index];
    if (word === undefined) break;
    const { text } = word;
    if (text === "--" || (spec.stop === true && (!text.startsWith("-") || text === "-"))) {
      rest.push(...args.slice(text === "--" ? index + 1 : index));
      break;
    }
    if (!text.startsWith("-") || text === "-") {
      rest.push(word);
      continue;
    }
    const takes = optionsOf(text, valued);
    const long = text.startsWith("--");
    for (const { name, value, open } of takes) {
      if (!open && flags !== undefined && !flags.has(name) && !valued.has(name)) strange = true;
      if (open) index += 1;
      const own = open ? args[index] : value === undefined ? undefined : { ...word, text: value };
      options.push({ name, value: own, long });
      if (!long || open || valued.has(name)) continue;
      for (const whole of valued) {
        if (whole.startsWith(name) && whole !== name)
          options.push({ name: whole, value: own ?? args[index + 1], long });
      }
    }
  }
  return { options, rest, strange };
}

type Taken = { readonly name: string; readonly value?: string; readonly open: boolean };

/** Options in one word; `open` where the value is the next word. */
function optionsOf(text: string, valued: ReadonlySet<string>): readonly Taken[] {
  if (text.startsWith("--")) {
    const end = text.indexOf("=");
    if (end > 0) return [{ name: text.slice(2, end), value: text.slice(end + 1), open: false }];
    const name = text.slice(2);
    return [{ name, open: name.length > 1 && valued.has(name) }];
  }
  const found: Taken[] = [];
  for (let at = 1; at < text.length; at += 1) {
    const name = text[at] ?? "";
    if (!valued.has(name)) {
      found.push({ name, open: false });
      continue;
    }
    const value = text.slice(at + 1);
    found.push(value === "" ? { name, open: true } : { name, value, open: false });
    break;
  }
  return found;
}

export function optionValues({ options }: Arguments, ...names: readonly string[]): readonly Word[] {
  return options.flatMap(({ name, value }) => (names.includes(name) && value !== undefined ? [value] : []));
}

/** Whether one of the options is, or may be short for, one of these names. */
export function hasOption({ options }: Arguments, ...names: readonly string[]): boolean {
  return options.some(({ name, long }) =>
    names.some((one) => one === name || (long && one.length > 1 && one.startsWith(name))),
  );
}

/** Words as one text, as `eval` and `ssh` join them. */
export function joinedWords(words: readonly Word[]): Word {
  return { ...literal(words.map((word) => word.text).join(" ")), exact: words.every((word) => word.exact) };
}

/** Rows of a table: every name of the list with the same program. */
export function named(names: string, program: Program): readonly (readonly [string, Program])[] {
  return names.split(" ").map((name) => [name, program] as const);
}

/** Always the same, whatever the words. */
export function always(...effects: readonly Effect[]): Program {
  return ({ found }) => add(found, ...effects);
}
