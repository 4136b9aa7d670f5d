/**
 * Task-scoped shortlists (foresight.md 3): which of many tools a run with an instruction is shown, so that their texts
 * do not crowd out its context. Never a security decision: a tool that is left out can still be called.
 *
 * Words of the instruction are looked for in names and descriptions; a word counts the more the fewer tools have it, and
 * more in a name than in a description. Scores are whole numbers, so the same texts give the same list on every
 * machine.
 */
import { wordsOf } from "./words.ts";

export type ListedTool = {
  readonly name: string;
  readonly description: string;
  /** Size of its entry in the list. */
  readonly bytes: number;
  /** It was used in the run, or a `keep:` names it: never left out, and not counted against the limit. */
  readonly stays?: boolean;
};

export type Shortlist = {
  /** Places in the list that was given. */
  readonly shown: ReadonlySet<number>;
  /** Tokens that the entries left out would have cost, at four bytes each. */
  readonly tokensSaved: number;
};

/** UTF-16 units read of all instructions together, the latest first: what was said last is what is wanted now. */
const instructionUnitsMax = 16_384;

/** UTF-16 units read of one name and of one description. */
const nameUnitsMax = 256;
const descriptionUnitsMax = 2_048;

const bytesOfToken = 4;
const nameWeight = 3;

/**
 * At most `toolsMax` tools beside those that stay, best first and in the order of the list where two are equal. All are
 * shown where the instruction tells no tool from another, as in a language that is not theirs: a guess would be in the way.
 */
export function shortlist(instructions: readonly string[], tools: readonly ListedTool[], toolsMax: number): Shortlist {
  const scores = scoresOf(instructions, tools);
  const shown = new Set(tools.keys());
  if (tools.length <= toolsMax || scores.every((score) => score === 0)) return { shown, tokensSaved: 0 };
  const others = [...tools.keys()].filter((index) => tools[index]?.stays !== true);
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
export function scoresOf(instructions: readonly string[], tools: readonly ListedTool[]): readonly number[] {
  const wanted = wordsOf(latest(instructions));
  if (wanted.size === 0) return tools.map(() => 0);
  const texts = tools.map((tool) => ({
    name: wordsOf(tool.name.slice(0, nameUnitsMax)),
    description: wordsOf(tool.description.slice(0, descriptionUnitsMax)),
  }));
  const having = new Map(
    [...wanted].map((word) => [
      word,
      texts.filter(({ name, description }) => name.has(word) || description.has(word)).length,
    ]),
  );
  // 0 for what every tool has, such as `the`. A root is rounded alike by every machine; a logarithm is not.
  const rarity = (word: string): number =>
    Math.round(16 * (Math.sqrt(tools.length / Math.max(1, having.get(word) ?? 1)) - 1));
  return texts.map(({ name, description }) => {
    let score = 0;
    for (const word of wanted) {
      if (name.has(word)) score += nameWeight * rarity(word);
      else if (description.has(word)) score += rarity(word);
    }
    return score;
  });
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
