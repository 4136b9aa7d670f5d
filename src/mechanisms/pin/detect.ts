/**
 * Findings in what a server says of itself (lifecycle.md 1.2). Deterministic, without a model, and linear in the text.
 * A finding is a suspicion with a place: one family asks, two deny (`verdictOf`).
 */
import type { JsonObject } from "../../core/json.ts";
import { holds } from "./chain.ts";
import { type ListText, namesOf, textsOf } from "./list-texts.ts";
import { nameFindings, nameIndex } from "./look-alikes.ts";
import { type Finding, type RuleId, type WordRule, contextArguments, familyOf, formRules, wordRules } from "./rules.ts";
import { type Names, type Sentence, sentencesOf, visible } from "./sentences.ts";

/**
 * Tools that the client may have at the same time, by who offers them; the entry itself may be among them. A list is
 * indexed once: pass the same one for all entries of a server.
 */
export type Neighbours = { readonly siblings: readonly string[]; readonly foreign: readonly string[] };

const excerptCharactersMax = 160;
const findingsMax = 32;

/** All findings in an entry of a list: each rule once, at the first place where it holds. */
export function findingsIn(entry: JsonObject, neighbours: Neighbours): readonly Finding[] {
  const { own, parameters } = namesOf(entry);
  const lower = (names: readonly string[]): Set<string> => new Set(names.map((name) => name.toLowerCase()));
  const [siblings, foreign] = [nameIndex(neighbours.siblings).lower, nameIndex(neighbours.foreign).lower];
  const others = { has: (name: string): boolean => siblings.has(name) || foreign.has(name) };
  const names: Names = { own: own.toLowerCase(), others, parameters: lower(parameters) };
  const { texts, complete } = textsOf(entry);
  const found = texts.flatMap((text) => [...formFindings(text), ...wordFindings(text, names)]);
  for (const rule of nameFindings(own, neighbours.siblings, neighbours.foreign)) {
    found.push(findingOf(rule, "/name", own));
  }
  for (const { pointer, text } of texts.filter(isContextArgument))
    found.push(findingOf("context.argument", pointer, text));
  if (!complete) found.push(findingOf("oversized.entry", "", own));
  const first = new Map<string, Finding>();
  for (const one of found) if (!first.has(one.rule)) first.set(one.rule, one);
  return [...first.values()].slice(0, findingsMax);
}

/** Findings in one text that belongs to no entry: the instructions of a server, a message, a title. */
export function findingsInText(text: string, neighbours: Neighbours): readonly Finding[] {
  return findingsIn({ text }, neighbours);
}

/** What the findings of an entry amount to: nothing, a question to the operator, or a refusal. */
export function verdictOf(findings: readonly Finding[]): "allow" | "confirm" | "deny" {
  const count = new Set(findings.map((finding) => finding.family)).size;
  if (count === 0) return "allow";
  return count === 1 ? "confirm" : "deny";
}

function formFindings({ pointer, text }: ListText): Finding[] {
  return formRules.flatMap(({ id, form }) => {
    const at = text.search(form);
    return at === -1 ? [] : [findingOf(id, pointer, text.slice(at))];
  });
}

function wordFindings({ pointer, text, name }: ListText, names: Names): Finding[] {
  if (name) return [];
  const sentences = sentencesOf(text, names);
  const rules = wordRules.filter(({ argumentsOnly }) => argumentsOnly !== true || pointer.includes("/properties/"));
  const across = rules.filter(({ acrossEnds }) => acrossEnds === true);
  const found = (sentence: Sentence, of: readonly WordRule[]): Finding[] =>
    of
      .filter(({ chains }) => chains.some((chain) => holds(sentence, chain)))
      .map(({ id }) => findingOf(id, pointer, sentence.text));
  return [
    ...sentences.flatMap((one) => found(one, rules)),
    ...joinedOf(sentences).flatMap((one) => found(one, across)),
  ];
}

/** What a sentence denies by itself is not the object of the one before. */
const denied = /\b(?:not|never|no)\b|n't\b/iu;

/** Each two neighbours as one sentence: an order may have been cut into two. */
function joinedOf(sentences: readonly Sentence[]): readonly Sentence[] {
  return sentences.flatMap((next, at) => {
    const before = sentences[at - 1];
    if (before === undefined || denied.test(next.text)) return [];
    return [{ text: `${before.text}. ${next.text}`, classes: [...before.classes, ...next.classes] }];
  });
}

function isContextArgument({ pointer, text, name }: ListText): boolean {
  return (
    name && pointer.includes("/properties/") && contextArguments.has(text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, ""))
  );
}

function findingOf(rule: RuleId, pointer: string, text: string): Finding {
  return {
    rule,
    family: familyOf(rule),
    pointer,
    excerpt: visible(text).trim().replace(/\s+/gu, " ").slice(0, excerptCharactersMax),
  };
}
