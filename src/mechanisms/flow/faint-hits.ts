/**
 * Hits that say little by themselves: a single ordinary word or a short number that stands in a sentence and also in a
 * private result. A subject of one word would else make every sentence with that word private. Such a hit counts as soon
 * as the call shows another one of the same label, anywhere in its arguments.
 */
import { denseUnits, ordinaryWordUnitsMax, sentenceWordsMin } from "./limits.ts";
import { visitCodes, visitItems, visitRuns, type Visit } from "./text-keys.ts";
import { isIdeograph, skeletonOf } from "./tokens.ts";

/** What a call showed so far: ranges (as bits) of the hits that count, and by range the words of those that are faint. */
export type FaintHits = { counted: number; readonly words: Map<number, Set<string>> };

export function makeFaintHits(): FaintHits {
  return { counted: 0, words: new Map() };
}

/** Notes a word for each of the ranges. */
export function noteFaint({ words }: FaintHits, bits: number, word: string): void {
  for (let bit = 0; bit < 32; bit += 1) {
    if ((bits & (1 << bit)) === 0) continue;
    const known = words.get(bit);
    if (known === undefined) words.set(bit, new Set([word]));
    else known.add(word);
  }
}

/** Whether some faint hit has company: another word, or a hit that counts, of the same range. */
export function haveCompany({ counted, words }: FaintHits): boolean {
  return [...words].some(([bit, known]) => known.size > 1 || (counted & (1 << bit)) !== 0);
}

const around = /^[\p{Ps}\p{Pi}"'*_]+|[\p{Pe}\p{Pf}"'*_.,;:!?…]+$/gu;
/** As prose has it: no capitals inside, no code. A name may have a hyphen or an apostrophe. */
const ordinaryWord = /^\p{L}?[\p{Ll}\p{M}]+(?:['’-]\p{L}?[\p{Ll}\p{M}]+)*$/u;
const ordinaryNumber = /^[$€£¥]?[0-9]+(?:[.,'’][0-9]+)*[%€]?$/;

/**
 * Those of the keys that single words or numbers of a sentence give, each with its word. A key that something else gives as
 * well, such as an address or a code, is none of them.
 */
export function ordinaryKeys(text: string, keys: ReadonlySet<number>): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  const items = text.split(/\s+/u).filter((item) => item !== "");
  if (items.length < sentenceWordsMin) return found;
  const others = new Set<number>();
  for (const item of items) {
    const word = item.replace(around, "");
    const ordinary = isOrdinary(word);
    visitKeys(ordinary ? word : item, (key) => {
      if (!keys.has(key)) return;
      if (ordinary) found.set(key, word.toLowerCase());
      else others.add(key);
    });
  }
  for (const key of others) found.delete(key);
  return found;
}

function isOrdinary(word: string): boolean {
  if (ordinaryNumber.test(word)) return word.replace(/[^0-9]/g, "").length < denseUnits;
  return word.length <= ordinaryWordUnitsMax && ordinaryWord.test(word) && ![...word].some(isIdeograph);
}

function visitKeys(text: string, visit: Visit): void {
  const skeleton = skeletonOf(text);
  visitRuns(skeleton, visit);
  visitCodes(skeleton, visit);
  visitItems(text, visit);
}
