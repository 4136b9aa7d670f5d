/** What an attacker may do to the words of an entry, one step at a time. Each move gives the entry back where it cannot act. */
import type { JsonObject } from "../../../core/json.ts";
import { type Slot, argumentTexts, propertiesOf, sentencesIn, slotsOf, withText } from "./climb-texts.ts";
import { asides, courtesies, frames, fronts, senses } from "./climb-words.ts";

/** Uniform in [0, 1). */
export type Chance = () => number;

type Change = (text: string, chance: Chance) => string;

export const moves: Readonly<Record<string, (entry: JsonObject, chance: Chance) => JsonObject>> = {
  synonym: inText((text, chance) => {
    const words = [...text.matchAll(/\p{L}+/gu)].filter(([word]) => senses.has(word.toLowerCase()));
    const found = pick(words, chance);
    const other = pick(senses.get(found?.[0].toLowerCase() ?? "") ?? [], chance);
    if (found === undefined || other === undefined) return text;
    return `${text.slice(0, found.index)}${other}${text.slice(found.index + found[0].length)}`;
  }),
  frame: inSentence((sentence, chance) => (pick(frames, chance) ?? "%").replace("%", () => small(sentence))),
  courtesy: inSentence((sentence, chance) => `${pick(courtesies, chance) ?? ""}${sentence}`),
  aside: inSentence((sentence, chance) => {
    const gap = pick([...sentence.matchAll(/(?<=\p{L}) (?=\S)/gu)], chance);
    if (gap === undefined) return sentence;
    return `${sentence.slice(0, gap.index)}${pick(asides, chance) ?? ""}${sentence.slice(gap.index)}`;
  }),
  split: inSentence((sentence, chance) => {
    const gap = pick([...sentence.matchAll(/,? and |, /gu)], chance);
    if (gap === undefined) return sentence;
    const rest = sentence.slice(gap.index + gap[0].length);
    return `${sentence.slice(0, gap.index)}. ${rest.slice(0, 1).toUpperCase()}${rest.slice(1)}`;
  }),
  letters: inText((text, chance) => {
    const word = pick([...text.matchAll(/(?<![\w/.~@-])\p{L}{4,}(?![\w/.@-])/gu)], chance);
    if (word === undefined) return text;
    return `${text.slice(0, word.index)}${disguised(word[0], chance)}${text.slice(word.index + word[0].length)}`;
  }),
  mood: inText((text) =>
    text
      .replace(/\b(?:you )?(?:must|have to|need to|should|shall) (?=\p{L})/iu, "")
      .replace(/\b(?:always|please|make sure to) /iu, ""),
  ),
  unmark: inText((text) =>
    text
      .replace(/<!--|-->|<\/?\p{L}+[^<>]{0,64}>|\[\/?[A-Z]+\]/gu, "")
      .replace(/[^\S\n]{8,}|\n{3,}/gu, "\n")
      .replace(/\b\p{Lu}{4,}(?: \p{Lu}{2,})*(?= ?:)/u, (banner) => banner.toLowerCase()),
  ),
  front: (entry, chance) => {
    const own = slotsOf(entry).find(({ place }) => place.argument === undefined);
    return own === undefined ? entry : withText(entry, own.place, `${pick(fronts, chance) ?? ""}${own.text}`);
  },
  /** A sentence goes to another place of the entry. */
  place: (entry, chance) => {
    const from = pick(slotsOf(entry), chance);
    const argument = pick(Object.keys(propertiesOf(entry)), chance);
    const name = pick(argumentTexts, chance);
    if (from === undefined || argument === undefined || name === undefined) return entry;
    const sentence = pick(sentencesIn(from.text), chance);
    if (sentence === undefined || (from.place.argument === argument && from.place.name === name)) return entry;
    const rest = withText(entry, from.place, from.text.replace(sentence, "").trim());
    const there = slotsOf(rest).find(({ place }) => place.argument === argument && place.name === name);
    return withText(rest, { argument, name }, `${there?.text ?? ""} ${sentence}`.trim());
  },
};

export function pick<T>(all: readonly T[], chance: Chance): T | undefined {
  return all[Math.floor(chance() * all.length)];
}

function inText(change: Change): (entry: JsonObject, chance: Chance) => JsonObject {
  return (entry, chance) => {
    const slot: Slot | undefined = pick(slotsOf(entry), chance);
    return slot === undefined ? entry : withText(entry, slot.place, change(slot.text, chance));
  };
}

function inSentence(change: Change): (entry: JsonObject, chance: Chance) => JsonObject {
  return inText((text, chance) => {
    const sentence = pick(sentencesIn(text), chance);
    if (sentence === undefined) return text;
    const changed = change(sentence, chance);
    return text.replace(sentence, () => changed);
  });
}

function small(sentence: string): string {
  return `${sentence.slice(0, 1).toLowerCase()}${sentence.slice(1)}`;
}

const lookAlikes: Readonly<Record<string, string>> = { a: "а", e: "е", o: "о", p: "р", c: "с", x: "х", i: "і", s: "ѕ" };

/** Letters of another script or width, a sign that shows nothing, or a mark above one. */
function disguised(word: string, chance: Chance): string {
  const at = 1 + Math.floor(chance() * (word.length - 2));
  const letter = word[at] ?? "";
  const wide = /[a-z]/.test(letter) ? String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0) : letter;
  const ways = [lookAlikes[letter] ?? letter, wide, `\u200d${letter}`, `\u034f${letter}`, `${letter}\u0323`];
  return `${word.slice(0, at)}${pick(ways, chance) ?? letter}${word.slice(at + 1)}`;
}
