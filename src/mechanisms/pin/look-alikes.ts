/** Names made to be taken for another: mixed scripts, look-alike letters, and a known name with a boast around it. */

/** Letters of other scripts that look like a Latin one (Unicode TR 39, the part that is common in identifiers). */
const latinOf: Readonly<Record<string, string>> = {
  а: "a",
  ɑ: "a",
  α: "a",
  е: "e",
  о: "o",
  ο: "o",
  р: "p",
  ρ: "p",
  с: "c",
  ϲ: "c",
  х: "x",
  χ: "x",
  у: "y",
  і: "i",
  ι: "i",
  ј: "j",
  ѕ: "s",
  һ: "h",
  ԁ: "d",
  ԛ: "q",
  ԝ: "w",
  ь: "b",
  к: "k",
  κ: "k",
  м: "m",
  т: "t",
  τ: "t",
  ν: "v",
  ո: "n",
  ս: "u",
  ı: "i",
  ℓ: "l",
};

function folded(word: string): string {
  return Array.from(word.toLowerCase(), (letter) => latinOf[letter] ?? letter).join("");
}

/** A word of mixed scripts in Latin letters; any other word as it is. */
export function asLatin(word: string): string {
  return mixesScripts(word) ? folded(word) : word;
}

/** What is left of a name for the eye: lower case, look-alike letters folded, separators gone. */
export function skeleton(name: string): string {
  return folded(name.normalize("NFKC")).replace(/[^\p{L}\p{N}]/gu, "");
}

/** True if the name has letters of more than one alphabet. */
export function mixesScripts(name: string): boolean {
  const scripts = [
    /\p{Script=Latin}/u,
    /\p{Script=Cyrillic}/u,
    /\p{Script=Greek}/u,
    /\p{Script=Armenian}/u,
    /\p{Script=Cherokee}/u,
  ];
  return scripts.filter((script) => script.test(name)).length > 1;
}

/** Words that praise a tool and say nothing of what it does. */
const praise: ReadonlySet<string> = new Set(
  (
    "premium best ultimate enhanced advanced superior improved optimized optimised secure trusted official pro plus " +
    "better super smart turbo professional perfect preferred recommended verified safe new fast"
  ).split(" "),
);

/** Words that may be added to a name without another meaning. */
const filler: ReadonlySet<string> = new Set("the a an of for tool v1 v2 v3 v4 function api".split(" "));

function wordsOf(name: string): string[] {
  return name
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, "_")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** The name without praise, and whether it had any. */
export function withoutPraise(name: string): { readonly name: string; readonly praised: boolean } {
  const words = wordsOf(name);
  const kept = words.filter((word) => !praise.has(word) && !filler.has(word));
  return { name: kept.join("_"), praised: words.some((word) => praise.has(word)) };
}

export type NameFinding = "look-alike.letters" | "look-alike.same-name" | "look-alike.praised";

/** Names by the forms that they are compared in; of each form two names, so that a name finds another than itself. */
type NameIndex = {
  readonly lower: ReadonlySet<string>;
  readonly shapes: ReadonlyMap<string, readonly string[]>;
  readonly bare: ReadonlyMap<string, readonly string[]>;
};

/** A server chooses how long its list is, and each of its names is compared with all others. */
const indices = new WeakMap<readonly string[], NameIndex>();

/** The index of a list of names, made once for each list: callers pass the same list for all of its entries. */
export function nameIndex(names: readonly string[]): NameIndex {
  const known = indices.get(names);
  if (known !== undefined) return known;
  const distinct = [...new Set(names)];
  const index = {
    lower: new Set(distinct.map((name) => name.toLowerCase())),
    shapes: byForm(distinct, skeleton),
    bare: byForm(distinct, (name) => withoutPraise(name).name),
  };
  indices.set(names, index);
  return index;
}

function byForm(names: readonly string[], formOf: (name: string) => string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const name of names) {
    const form = formOf(name);
    const alike = found.get(form);
    if (alike === undefined) found.set(form, [name]);
    else if (alike.length < 2) alike.push(name);
  }
  return found;
}

/**
 * What is wrong with a tool's name, given the names of its own server's other tools (`siblings`, in which the name itself
 * counts for nothing) and of other servers' (`foreign`). A name that another server has as well is not wrong by itself:
 * two servers may both `search`.
 */
export function nameFindings(name: string, siblings: readonly string[], foreign: readonly string[]): NameFinding[] {
  const found: NameFinding[] = [];
  const bare = withoutPraise(name);
  const among = (names: readonly string[], list: "shapes" | "bare", form: string): boolean =>
    nameIndex(names)
      [list].get(form)
      ?.some((other) => other !== name) === true;
  const alike = (list: "shapes" | "bare", form: string): boolean =>
    among(siblings, list, form) || among(foreign, list, form);
  if (mixesScripts(name) || (/[^\p{ASCII}]/u.test(name) && alike("shapes", skeleton(name))))
    found.push("look-alike.letters");
  if (bare.name === "") return found;
  if (bare.praised && alike("bare", bare.name)) found.push("look-alike.praised");
  else if (among(foreign, "bare", bare.name)) found.push("look-alike.same-name");
  return found;
}
