/**
 * Task-scoped shortlists (foresight.md 3): which of many tools a run with an instruction is shown, so that their texts
 * do not crowd out its context. Never a security decision: a tool that is left out can still be called.
 *
 * Words of the instruction are looked for in names and descriptions; a word counts the more the fewer tools have it, and
 * more in a name than in a description. Scores are whole numbers, so the same texts give the same list on every
 * machine.
 */
import { BoundedMap } from "../../../core/bounded-map.ts";
import type { ListedTool, Shortlist } from "../../../core/explain/regulation-view.ts";

/** A tool as the words of the instruction are compared with it. */
export type ShortlistedTool = Omit<ListedTool, "server">;

/** UTF-16 units read of all instructions together, the latest first: the last instruction is the current wish. */
const instructionUnitsMax = 16_384;

/** UTF-16 units read of one name and of one description. */
const nameUnitsMax = 256;
const descriptionUnitsMax = 2_048;

const bytesOfToken = 4;
const nameWeight = 3;

/**
 * At most `toolsMax` tools beside those that stay whatever is asked for, best first and in the order of the list where two
 * are equal. All are shown where the instruction tells no tool from another, as in a language that is not theirs: a guess
 * would be in the way.
 */
export function shortlist<T extends ShortlistedTool>(
  instructions: readonly string[],
  tools: readonly T[],
  toolsMax: number,
  stays: (tool: T) => boolean = () => false,
): Shortlist {
  const scores = scoresOf(instructions, tools);
  const shown = new Set(tools.keys());
  if (tools.length <= toolsMax || scores.every((score) => score === 0)) return { shown, tokensSaved: 0 };
  const others = [...tools.entries()].flatMap(([index, tool]) => (stays(tool) ? [] : [index]));
  // Sorting is stable: equal scores keep the order of the list.
  const ranked = others.toSorted((left, right) => (scores[right] ?? 0) - (scores[left] ?? 0));
  let bytes = 0;
  for (const index of ranked.slice(Math.max(0, toolsMax))) {
    shown.delete(index);
    bytes += tools[index]?.bytes ?? 0;
  }
  return { shown, tokensSaved: Math.floor(bytes / bytesOfToken) };
}

/** How well each tool fits the instructions, as whole numbers without a unit. Does not depend on the order of the list. */
export function scoresOf(instructions: readonly string[], tools: readonly ShortlistedTool[]): readonly number[] {
  const wanted = wantedBy(latest(instructions));
  if (wanted.words.size === 0) return tools.map(() => 0);
  const hits = tools.map((tool) => hitsOf(wanted, tool));
  const having = new Map<string, number>();
  for (const { name, description } of hits) {
    for (const word of name) having.set(word, (having.get(word) ?? 0) + 1);
    for (const word of description) having.set(word, (having.get(word) ?? 0) + 1);
  }
  // 0 for what every tool has, such as `the`. A root is rounded alike by every machine; a logarithm is not.
  const rarity = (word: string): number =>
    Math.round(16 * (Math.sqrt(tools.length / Math.max(1, having.get(word) ?? 1)) - 1));
  return hits.map(({ name, description }) => {
    let score = 0;
    for (const word of name) score += nameWeight * rarity(word);
    for (const word of description) score += rarity(word);
    return score;
  });
}

/** Words of the instruction that stand in a tool's name, and those that stand in its description only. */
type Hits = { readonly name: readonly string[]; readonly description: readonly string[] };

type Wanted = { readonly words: ReadonlySet<string>; readonly hits: WeakMap<ShortlistedTool, Hits> };

/** Instructions whose hits are kept. */
const instructionsMax = 16;

/**
 * A list is ranked at every change of a run, and its texts are the server's, as long as they may be: they are read once
 * for an instruction, and only what was looked for is kept of them.
 */
const known = new BoundedMap<string, Wanted>(instructionsMax);

function wantedBy(text: string): Wanted {
  const found = known.get(text) ?? { words: wordsOf(text), hits: new WeakMap<ShortlistedTool, Hits>() };
  known.set(text, found);
  return found;
}

function hitsOf({ words, hits }: Wanted, tool: ShortlistedTool): Hits {
  const found = hits.get(tool);
  if (found !== undefined) return found;
  const inName = wordsOf(tool.name.slice(0, nameUnitsMax));
  const inText = wordsOf(tool.description.slice(0, descriptionUnitsMax));
  const made = {
    name: [...inName].filter((word) => words.has(word)),
    description: [...inText].filter((word) => words.has(word) && !inName.has(word)),
  };
  hits.set(tool, made);
  return made;
}

function latest(instructions: readonly string[]): string {
  const taken: string[] = [];
  let left = instructionUnitsMax;
  for (const text of instructions.toReversed()) {
    if (left <= 0) break;
    taken.push(text.slice(0, left));
    left -= text.length;
  }
  return taken.join("\n");
}

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
