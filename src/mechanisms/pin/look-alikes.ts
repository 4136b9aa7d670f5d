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

/**
 * What is wrong with a tool's name, given the names of its own server's other tools (`siblings`) and of other servers'
 * (`foreign`). A name that another server has as well is not wrong by itself: two servers may both `search`.
 */
export function nameFindings(name: string, siblings: readonly string[], foreign: readonly string[]): NameFinding[] {
  const found: NameFinding[] = [];
  const shape = skeleton(name);
  const others = [...siblings, ...foreign];
  if (
    mixesScripts(name) ||
    others.some((other) => other !== name && skeleton(other) === shape && /[^\p{ASCII}]/u.test(name))
  ) {
    found.push("look-alike.letters");
  }
  const bare = withoutPraise(name);
  const same = (other: string): boolean =>
    other !== name && withoutPraise(other).name === bare.name && bare.name !== "";
  if (bare.praised && others.some(same)) found.push("look-alike.praised");
  else if (foreign.some(same)) found.push("look-alike.same-name");
  return found;
}
