/**
 * Signs: what is visible of a tool before any call, each with an id that the table of weights knows and a sentence for
 * the operator. Every text here was written by the server and is bounded before it is looked at.
 */
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { externalWords, listed, localWords, wordsOf } from "../../policy/contracts/name-words.ts";
import { inferArguments } from "../../policy/contracts/infer.ts";
import { type DeedKind, deedsOfWord, outletWords, switchWords } from "./lexicon.ts";

/** `id` is a row of the table of weights. `because` is a part of a sentence, in words of this project and of the tool's name. */
export type Sign = { readonly id: string; readonly because: string };

/** What is known of the server besides the tool. */
export type ReadingContext = {
  /** The name that the policy knows the server by. */
  readonly server: string;
  /** Everything that the server lists, the tool included. */
  readonly tools: readonly JsonObject[];
  /** True where the server is reached over the network, so that nothing it does is local. */
  readonly remote?: boolean;
};

/** Characters of a description that are looked at; of a longer one the beginning. */
const descriptionCharsMax = 4_000;
const sentencesMax = 40;
/** Words at the start of a sentence in which its verb is looked for (`This tool sends`, `Use this to create`). */
const openingWordsMax = 5;

export function signsOf(tool: JsonObject, context: ReadingContext): readonly Sign[] {
  const found = new Map<string, string>();
  const add = (id: string, because: string): void => {
    if (!found.has(id)) found.set(id, because);
  };
  const name = wordsOf(stringMember(tool, "name") ?? "").filter((word) => !ownWords(context).has(word));
  nameSigns(name, add);
  textSigns(stringMember(tool, "description") ?? "", name, add);
  argumentSigns(tool, add);
  hintSigns(tool, add);
  placeSigns(name, context, add);
  return [...found].map(([id, because]) => ({ id, because }));
}

type Add = (id: string, because: string) => void;

/** Words that stand before the names of all tools of a server (`slack_`, `browser_`) tell nothing of one tool. */
const prefixes = new WeakMap<readonly JsonObject[], ReadonlySet<string>>();

function ownWords({ tools, server }: ReadingContext): ReadonlySet<string> {
  const known = prefixes.get(tools);
  if (known !== undefined) return known;
  const firsts = tools.map((tool) => wordsOf(stringMember(tool, "name") ?? "")[0] ?? "");
  const shared = firsts.filter(
    (word) => firsts.length >= 3 && firsts.filter((other) => other === word).length > firsts.length / 2,
  );
  // A verb that most tools begin with is still their verb.
  const words = new Set([...shared, ...wordsOf(server)].filter((word) => listed(deedsOfWord, word) === undefined));
  prefixes.set(tools, words);
  return words;
}

function nameSigns(words: readonly string[], add: Add): void {
  let first = true;
  for (const word of words) {
    const kinds = listed(deedsOfWord, word);
    add(`n=${word}`, `\`${word}\` in the name`);
    if (kinds === undefined) continue;
    for (const kind of kinds) add(`${first ? "name" : "name-later"}:${kind}`, `\`${word}\` in the name`);
    first = false;
  }
  if (first) add("name:none", "no verb in the name");
}

function textSigns(description: string, name: readonly string[], add: Add): void {
  const sentences = description
    .slice(0, descriptionCharsMax)
    .split(/[.!?:\n]+\s*|\s[-*•]\s/u)
    .filter((sentence) => /\p{L}/u.test(sentence))
    .slice(0, sentencesMax);
  const [opening = "", ...others] = sentences;
  const opened = verbsOf(opening);
  for (const [word, kind] of opened.slice(0, 3)) {
    add(`text:${kind}`, `the description begins with \`${word}\``);
    add(`t=${word}`, `the description begins with \`${word}\``);
  }
  if (opened.length === 0) add("text:none", "no verb at the start of the description");
  for (const [word, kind] of joinedVerbs(opening)) add(`text-later:${kind}`, `the description says \`${word}\``);
  for (const sentence of others) {
    for (const [word, kind] of verbsOf(sentence)) add(`text-later:${kind}`, `the description says \`${word}\``);
  }
  if (/\b(read[- ]only|does not (modify|change|write)|without (modifying|changing))\b/iu.test(description))
    add("text:read-only", "the description says that it only reads");
  if (/\b(irreversibl|permanent|cannot be undone|destructive|can't be undone)/iu.test(description))
    add("text:irreversible", "the description says that it cannot be undone");
  for (const word of wordsOf(opening.slice(0, 120)))
    if (!name.includes(word)) add(`d=${word}`, `the description says \`${word}\``);
}

/** The first verb among the first words of a sentence, in each of its kinds; a verb that is denied is none. */
function verbsOf(sentence: string): readonly (readonly [string, DeedKind])[] {
  const words = wordsOf(sentence.slice(0, 200)).slice(0, openingWordsMax);
  for (const [index, word] of words.entries()) {
    const kinds = listed(deedsOfWord, word);
    if (kinds === undefined || denied(words, index)) continue;
    return kinds.map((kind) => [word, kind] as const);
  }
  return [];
}

/** `Creates a draft and sends it`: verbs behind `and`, `then`, `or`, `to`. */
function joinedVerbs(sentence: string): readonly (readonly [string, DeedKind])[] {
  const words = wordsOf(sentence.slice(0, 400));
  return words.flatMap((word, index) => {
    const joined = ["and", "then", "or", "to", "also"].includes(words[index - 1] ?? "");
    if (!joined || denied(words, index)) return [];
    return (listed(deedsOfWord, word) ?? []).map((kind) => [word, kind] as const);
  });
}

function denied(words: readonly string[], index: number): boolean {
  return words
    .slice(Math.max(0, index - 3), index)
    .some((word) => ["not", "never", "without", "cannot"].includes(word));
}

function argumentSigns(tool: JsonObject, add: Add): void {
  const schema = member(tool, "inputSchema");
  const properties = member(schema, "properties");
  const required = member(schema, "required");
  const named = inferArguments(tool);
  if (named.size === 0) add("arg:none", "no arguments");
  for (const [name, { role, known }] of named) {
    const needed = isArray(required) && required.includes(name);
    if (known) add(`arg:${role}${needed ? "!" : ""}`, `an argument \`${name}\` of the kind ${role}`);
    propertySigns(name, isObject(properties) ? member(properties, name) : undefined, add);
  }
}

function propertySigns(name: string, schema: Json | undefined, add: Add): void {
  const words = wordsOf(name);
  const because = `an argument \`${name}\``;
  if (words.some((word) => outletWords.has(word))) add("schema:outlet", because);
  if (words.some((word) => switchWords.has(word)) || switchWords.has(words.join("_"))) add("schema:switch", because);
  const choices = member(schema, "enum");
  if (isArray(choices) && choices.some((one) => typeof one === "string" && actsAsChoice(one)))
    add("schema:choice", `a choice of \`${name}\` that acts`);
  for (const word of words.slice(-1)) add(`a=${word}`, because);
}

/** `method: POST`, `action: delete`. */
function actsAsChoice(choice: string): boolean {
  if (/^(POST|PUT|PATCH|DELETE)$/iu.test(choice)) return true;
  const kinds = listed(deedsOfWord, wordsOf(choice)[0] ?? "");
  return kinds !== undefined && !kinds.includes("read");
}

function hintSigns(tool: JsonObject, add: Add): void {
  const hints = member(tool, "annotations");
  for (const key of ["readOnlyHint", "destructiveHint", "openWorldHint", "idempotentHint"]) {
    const value = member(hints, key);
    if (typeof value === "boolean") add(`${key}=${value}`, `\`${key}: ${value}\``);
  }
}

function placeSigns(name: readonly string[], context: ReadingContext, add: Add): void {
  if (context.remote === true) add("place:remote", "a server on the network");
  const all = [
    ...wordsOf(context.server),
    ...context.tools.flatMap((tool) => wordsOf(stringMember(tool, "name") ?? "")),
  ];
  const count = (words: ReadonlySet<string>): number => all.filter((word) => words.has(word)).length;
  const [outside, inside] = [count(externalWords), count(localWords)];
  if (outside > inside) add("server:external", "words of other tools of the server");
  if (inside > outside) add("server:local", "words of other tools of the server");
  if (name.some((word) => externalWords.has(word))) add("name:external", "a word in the name");
  if (name.some((word) => localWords.has(word))) add("name:local", "a word in the name");
  for (const word of wordsOf(context.server)) add(`s=${word}`, `the server is called \`${word}\``);
}
