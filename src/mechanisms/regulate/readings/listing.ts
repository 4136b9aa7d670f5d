/**
 * Words of a program against a listing of what it may be given: subcommands, options and operands of which it is known
 * that the program does nothing but read. What the listing does not name is refused, abbreviations of options included.
 */

/** Words apart by blanks; options of one letter and long ones stand together. */
export type Listing = {
  /** Options without a value. */
  readonly flags?: string;
  /** Options with a value, in the same word or the next; of one that is optional as well the next word is the value. */
  readonly valued?: string;
  /** Options that may have a value in the same word. */
  readonly optional?: string;
  /** Words that are not options: at most this many, or only those that match. */
  readonly operands?: number | RegExp;
  /** The first of them matches: a program in a language of its own, such as an address of sed. */
  readonly first?: RegExp;
  /** One of these options must be there, or there is no operand. */
  readonly operandsWith?: string;
  /** One of these options must be there. */
  readonly needs?: string;
  /** `-20` stands for a number of lines. */
  readonly numbers?: true;
  /** An option of one letter with a value stands alone: in one word with others, its value and theirs follow in turn. */
  readonly apart?: true;
  /** Long options begin with one dash. */
  readonly oneDash?: true;
  /** No value or operand may match. */
  readonly never?: RegExp;
  /** It is listed without a subcommand, too. */
  readonly bare?: true;
  /** The first operand is one of these, with a listing of its own for what follows. */
  readonly subcommands?: { readonly [name: string]: Listing };
};

export type ListedWord = { readonly text: string; readonly glob: boolean };

type Prepared = {
  readonly listing: Listing;
  readonly flags: ReadonlySet<string>;
  readonly valued: ReadonlySet<string>;
  readonly optional: ReadonlySet<string>;
};

const known = new WeakMap<Listing, Prepared>();

const set = (names: string | undefined): ReadonlySet<string> => new Set(names?.split(/\s+/).filter(Boolean));

function prepared(listing: Listing): Prepared {
  let found = known.get(listing);
  if (found === undefined) {
    found = { listing, flags: set(listing.flags), valued: set(listing.valued), optional: set(listing.optional) };
    known.set(listing, found);
  }
  return found;
}

type Taken = { readonly options: Set<string>; readonly operands: ListedWord[]; readonly values: string[] };

/** What keeps the words from being a listed call, as a clause about `program`; undefined where nothing does. */
export function faultIn(program: string, listing: Listing, words: readonly ListedWord[]): string | undefined {
  const own = prepared(listing);
  const taken: Taken = { options: new Set(), operands: [], values: [] };
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (word === undefined) break;
    const { text } = word;
    if (text === "--" && listing.subcommands === undefined) {
      taken.operands.push(...words.slice(at + 1));
      break;
    }
    if (!text.startsWith("-") || text === "-") {
      if (listing.subcommands !== undefined) return subcommandFault(program, listing.subcommands, words.slice(at));
      taken.operands.push(word);
      continue;
    }
    const step = optionFault(own, text, taken);
    if (step === "unlisted") return `the option ${shown(text.replace(/=.*/s, ""))} of ${program} is not listed`;
    if (step === "next") {
      const value = words[at + 1];
      // A dash would begin an option, should the program take the value from the same word only.
      if (value === undefined || value.glob || value.text.startsWith("-"))
        return `the value of ${shown(text)} of ${program} is not plain`;
      taken.values.push(value.text);
      at += 1;
    }
  }
  if (listing.subcommands !== undefined && listing.bare !== true && !taken.options.has("version"))
    return `${program} names no subcommand`;
  return operandFault(program, own.listing, taken);
}

function subcommandFault(
  program: string,
  subcommands: NonNullable<Listing["subcommands"]>,
  [first, ...rest]: readonly ListedWord[],
): string | undefined {
  const name = first?.text ?? "";
  const listing = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
  if (listing === undefined) return `it runs ${program} ${shown(name)}`;
  return faultIn(`${program} ${name}`, listing, rest);
}

/** Whether the option is listed, and whether its value is the next word. */
function optionFault(own: Prepared, text: string, taken: Taken): "listed" | "next" | "unlisted" {
  if (own.listing.numbers === true && /^-\d+$/.test(text)) return "listed";
  const long = text.startsWith("--") || own.listing.oneDash === true;
  return long ? longOption(own, text.replace(/^--?/, ""), taken) : letters(own, text, taken);
}

function longOption(
  { listing, flags, valued, optional }: Prepared,
  text: string,
  taken: Taken,
): "listed" | "next" | "unlisted" {
  const end = text.indexOf("=");
  const name = end < 0 ? text : text.slice(0, end);
  // A letter is no long option: `--n` is short for another one.
  if (name.length < 2 && listing.oneDash !== true) return "unlisted";
  taken.options.add(name);
  if (end >= 0) taken.values.push(text.slice(end + 1));
  if (end < 0 && valued.has(name)) return "next";
  if (end < 0) return flags.has(name) || optional.has(name) ? "listed" : "unlisted";
  return valued.has(name) || optional.has(name) ? "listed" : "unlisted";
}

function letters(
  { listing, flags, valued, optional }: Prepared,
  text: string,
  taken: Taken,
): "listed" | "next" | "unlisted" {
  for (let at = 1; at < text.length; at += 1) {
    const letter = text[at] ?? "";
    taken.options.add(letter);
    if (flags.has(letter)) continue;
    const value = text.slice(at + 1);
    if (listing.apart === true && text.length > 2) return "unlisted";
    taken.values.push(value);
    if (value === "" && valued.has(letter)) return "next";
    return optional.has(letter) || valued.has(letter) ? "listed" : "unlisted";
  }
  return "listed";
}

function operandFault(program: string, listing: Listing, { options, operands, values }: Taken): string | undefined {
  const { operands: listed, operandsWith, first, needs, never } = listing;
  const has = (names: string): boolean => [...set(names)].some((name) => options.has(name));
  if (needs !== undefined && !has(needs)) return `${program} is listed with ${needs.split(" ")[0] ?? ""} only`;
  const bare = operandsWith !== undefined && !has(operandsWith);
  const limited = typeof listed === "number" || bare;
  // A pattern may stand for any number of names.
  if (limited && operands.some(({ glob }) => glob)) return `${program} is given a pattern of names`;
  if (operands.length > (bare ? 0 : typeof listed === "number" ? listed : Infinity))
    return `${program} is given ${shown(operands.at(-1)?.text ?? "")}`;
  const [head] = operands;
  if (first !== undefined && (head === undefined || head.glob || !first.test(head.text)))
    return `${program} is given ${shown(head?.text ?? "")}`;
  const odd = listed instanceof RegExp ? operands.find(({ text, glob }) => glob || !listed.test(text)) : undefined;
  if (odd !== undefined) return `${program} is given ${shown(odd.text)}`;
  const banned = never && [...operands.map(({ text }) => text), ...values].find((text) => never.test(text));
  return banned === undefined ? undefined : `${program} is given ${shown(banned)}`;
}

/** A word of a value in a clause: plain characters and few of them, since the clause is shown to users and models. */
export function shown(text: string): string {
  return /^[\w@%+=:,./~-]{1,40}$/.test(text) ? text : "something else";
}
