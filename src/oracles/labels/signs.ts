/**
 * Signs: what is visible of a tool before any call, each with an id that the table of weights knows and a sentence for
 * the operator. Every text here was written by the server and is bounded before it is looked at.
 */
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { listed, wordsOf } from "../../policy/contracts/name-words.ts";
import { inferArguments } from "../../policy/contracts/infer.ts";
import { messageNouns, moneyNouns, rightNouns, secretNouns, settingNouns, timeNouns } from "./places.ts";
import { changesSession, placeSigns } from "./place-signs.ts";
import { siblingsOf } from "./siblings.ts";
import { type Add, type ReadingContext, type Sign, descriptionCharsMax } from "./sign.ts";
import { type DeedKind, deedsOfWord, outletWords, switchWords } from "./lexicon.ts";

const sentencesMax = 40;
/** Words at the start of a sentence in which its verb is looked for (`This tool sends`, `Use this to create`). */
const openingWordsMax = 5;

export function signsOf(tool: JsonObject, context: ReadingContext): readonly Sign[] {
  const found = new Map<string, string>();
  const add = (id: string, because: string): void => {
    if (!found.has(id)) found.set(id, because);
  };
  const all = wordsOf(stringMember(tool, "name") ?? "");
  const { prefixes, suffix, methods } = siblingsOf(context);
  const own = all.filter((word) => !prefixes.has(word));
  const name = methods ? plainMethod(own) : own.length > 1 && own.at(-1) === suffix ? own.slice(0, -1) : own;
  if (changesSession(all, name)) add("session:state", `\`${name[0] ?? ""}\` of a page or a session`);
  else nameSigns(name, add);
  objectSigns(name, add);
  if (siblingsOf(context).called.includes("git")) vcsSigns(name, add);
  textSigns(stringMember(tool, "description") ?? "", name, add);
  argumentSigns(tool, add);
  hintSigns(tool, add);
  queryLanguage(tool, add);
  nounSigns(name, add);
  placeSigns(tool, name, context, add);
  return [...found].map(([id, because]) => ({ id, because }));
}

/** A name by its HTTP method in the words that other names use: `post` looks something up, or makes something. */
function plainMethod([first = "", ...others]: readonly string[]): readonly string[] {
  if (first !== "post") return [first, ...others];
  const asks = others.some((word) => word === "search" || word === "query" || word === "list");
  return [asks ? "query" : "create", ...others];
}

/** Behind these a second verb stands as if it were the first (`get_or_create`, `preview_and_send`). */
const joining: ReadonlySet<string> = new Set(["or", "and", "then"]);

/** Verbs that end a name of the form `invoice_create`, where the words before them are its object. */
const closing: ReadonlySet<string> = new Set(
  "create update delete list get set add remove run stop start send write".split(" "),
);

function nameSigns(words: readonly string[], add: Add): void {
  const last = words.at(-1) ?? "";
  // `batch_delete` deletes.
  if (["batch", "bulk", "multi"].includes(words[0] ?? "") && words.length > 1) return nameSigns(words.slice(1), add);
  const lead = listed(deedsOfWord, words[0] ?? "") ?? [];
  const ends = closing.has(last) && words.length > 1 && !closing.has(words[0] ?? "");
  const ordered = ends && lead.every((kind) => kind === "read") ? [last, ...words.slice(0, -1)] : words;
  const leads = ordered.map((_, index) => index === 0 || joining.has(ordered[index - 1] ?? ""));
  const leading = ordered.filter((_, index) => leads[index]).flatMap((word) => listed(deedsOfWord, word) ?? []);
  const acts = leading.some((kind) => kind !== "read");
  let seen = 0;
  for (const [index, word] of ordered.entries()) {
    const looks = word === "resolve" && /^(ids?|names?|urls?|domains?|hosts?)$/.test(last);
    const kinds = looks ? (["read"] as const) : kindsOf(word, ordered);
    add(`n=${word}`, `\`${word}\` in the name`);
    if (kinds === undefined) continue;
    const carried = leading.includes("carry");
    const place = leads[index] ? "name" : carried ? "name-carried" : seen === 0 ? "name-mid" : "name-later";
    for (const kind of kinds) {
      // What reads or writes, writes.
      if (kind !== "read" || !leads[index] || !acts) add(`${place}:${kind}`, `\`${word}\` in the name`);
    }
    seen += 1;
  }
  if (seen === 0) add("name:none", "no verb in the name");
}

/** What a word tells in a name; some verbs tell a thing of some objects alone. */
function kindsOf(word: string, name: readonly string[]): readonly DeedKind[] | undefined {
  const kinds = listed(deedsOfWord, word);
  const others = name.filter((one) => one !== word);
  if (kinds?.includes("pay") === true && looselyPaying.has(word)) {
    return tellsOfMoney(others) ? kinds : kinds.filter((kind) => kind !== "pay");
  }
  if (word === "open" && others.some((one) => opened.has(one))) return ["read"];
  // A search or a trace of the server's own that is begun or ended, and the log that is looked at.
  if ((word === "start" || word === "stop") && others.some((one) => looking.has(one))) return ["read"];
  if (word === "log" && name.at(-1) === word) return ["read"];
  if (word === "trigger" && !others.some((one) => jobs.has(one))) return ["write"];
  return kinds;
}

function tellsOfMoney(words: readonly string[]): boolean {
  return words.some((word) => moneyNouns.has(word) || moneyObjects.has(word));
}

/** Verbs of money that are said of other things as well (`transfer_issue`, `git_checkout`). */
const looselyPaying: ReadonlySet<string> = new Set("transfer checkout order trade deposit tip bet charge".split(" "));
const moneyObjects: ReadonlySet<string> = new Set(
  "fund funds balance bank account stock stocks share shares crypto coin token tokens position cart basket product".split(
    " ",
  ),
);
const looking: ReadonlySet<string> = new Set("search trace tracing profile profiling".split(" "));
const jobs: ReadonlySet<string> = new Set(
  "build builds job jobs run pipeline workflow dag task script function".split(" "),
);

/** Things that are opened to be looked at. */
const opened: ReadonlySet<string> = new Set("node nodes file files document documents note notes".split(" "));

/** Names that are told by more than their verb. */
function objectSigns(words: readonly string[], add: Add): void {
  const [first = "", second = ""] = words;
  const has = (list: string): boolean => words.some((word) => list.split(" ").includes(word));
  if (first === "check" && (second === "in" || second === "out")) add("name:write", "`check in` in the name");
  if (words.includes("draft")) add("name:draft", "`draft` in the name");
  if (
    has("user users member members") &&
    has("group groups team teams role roles organization channel project workspace")
  )
    add("noun:membership", "a user and a group in the name");
  if (has("create register") && ["user", "users", "account"].includes(words.at(-1) ?? ""))
    add("noun:account", "a new user");
  if (has("webhook webhooks hook hooks")) add("noun:webhook", "a webhook in the name");
  const runs = has("start spawn create run interact launch");
  if (runs && has("process processes command commands shell terminal subprocess"))
    add("noun:process", "a process in the name");
  if (has("create trigger retry rerun rebuild restart unblock") && has("build builds job jobs"))
    add("noun:job", "a job that is run, in the name");
  if (has("payment payments payout refund withdrawal donation")) add("noun:payment", "a payment in the name");
}

/** Between a repository of this machine and the one that it was cloned from. */
function vcsSigns(words: readonly string[], add: Add): void {
  const [verb = ""] = words;
  if (words.length > 2) return;
  if (verb === "push") add("vcs:push", "`push` in the name");
  if (verb === "pull" || verb === "clone" || verb === "fetch") add("vcs:pull", `\`${verb}\` in the name`);
}

function textSigns(description: string, name: readonly string[], add: Add): void {
  const sentences = description
    .slice(0, descriptionCharsMax)
    .split(/[.!?:\n]+\s*|\s[-*•]\s/u)
    .filter((sentence) => /\p{L}/u.test(sentence))
    .slice(0, sentencesMax);
  const [opening = "", ...others] = sentences;
  const begins = verbsOf(opening).filter(
    ([word, kind]) => kind !== "pay" || !looselyPaying.has(word) || tellsOfMoney(name),
  );
  for (const [word, kind] of begins.slice(0, 3)) {
    add(`text:${kind}`, `the description begins with \`${word}\``);
    add(`t=${word}`, `the description begins with \`${word}\``);
  }
  if (begins.length === 0) add("text:none", "no verb at the start of the description");
  for (const [word, kind] of joinedVerbs(opening)) add(`text-later:${kind}`, `the description says \`${word}\``);
  for (const sentence of others) {
    for (const [word, kind] of verbsOf(sentence)) add(`text-later:${kind}`, `the description says \`${word}\``);
  }
  if (/\b(read[- ]only|does not (modify|change|write)|without (modifying|changing))\b/iu.test(description))
    add("text:read-only", "the description says that it only reads");
  if (/\bbase64\b/iu.test(description)) add("text:inline", "the description says that it returns the content");
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
    // `Messages of a channel`: a noun that is spelled like a verb has no object behind it.
    if (nouns.has(word.replace(/s$/, "")) && !objects.has(words[index + 1] ?? "")) continue;
    return kinds.map((kind) => [word, kind] as const);
  }
  return [];
}

const nouns: ReadonlySet<string> = new Set(
  (
    "message email mail text call order post comment share charge invoice trade hook webhook label tag link star pin branch " +
    "commit record note draft schedule cron release script report review request transaction log copy archive " +
    "rate vote place contact command terminal shell process stage lock switch turn password login " +
    "file document transfer purchase alert feedback head tree status stat total"
  ).split(" "),
);
const objects: ReadonlySet<string> = new Set(
  "a an the new one this your some multiple existing it them all any or and to in for on by using information".split(
    " ",
  ),
);

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

/** What is carried out as it stands, whatever the tool is called. */
const statements: ReadonlySet<string> = new Set(
  "sql pipeline script code statement cypher command cmd expression".split(" "),
);

function propertySigns(name: string, schema: Json | undefined, add: Add): void {
  const words = wordsOf(name);
  const because = `an argument \`${name}\``;
  if (words.some((word) => statements.has(word))) add("schema:statement", because);
  if (words.some((word) => outletWords.has(word))) add("schema:outlet", because);
  if (words.some((word) => switchWords.has(word)) || switchWords.has(words.join("_"))) add("schema:switch", because);
  const said = stringMember(schema, "description") ?? "";
  if (savesTo(words, said.slice(0, 500))) add("schema:saves", `a file to write, in \`${name}\``);
  const choices = member(schema, "enum");
  if (isArray(choices) && choices.some((one) => typeof one === "string" && actsAsChoice(one)))
    add("schema:choice", `a choice of \`${name}\` that acts`);
  for (const word of words.slice(-1)) add(`a=${word}`, because);
}

/** A place that a result is written to: `outputPath`, or a file of which the schema says that something is saved there. */
function savesTo(words: readonly string[], said: string): boolean {
  if (words.some((word) => /^(download|save|export|persist)$/.test(word))) return true;
  const place = words.some((word) =>
    /^(file|filename|filepath|path|dir|directory|folder|dest|destination)$/.test(word),
  );
  if (!place) return false;
  const named = words.some((word) =>
    /^(output|out|save|download|target|dest|destination|export|result|response)$/.test(word),
  );
  return named || /\b(sav(e|ed|es|ing)|writ(e|es|ten)|stored?|output|export(ed)?|download(ed)?)\b/iu.test(said);
}

/** A `query` in a language that also writes. */
function queryLanguage(tool: JsonObject, add: Add): void {
  const text = `${stringMember(tool, "name") ?? ""} ${(stringMember(tool, "description") ?? "").slice(0, descriptionCharsMax)}`;
  if (!/(^|[^a-z])(sql|cypher|sparql|graphql|gremlin)([^a-z]|$)/iu.test(text)) return;
  for (const name of inferArguments(tool).keys()) {
    if (/^(query|queries|q|statement|sql)$/i.test(name))
      add("schema:statement", `an argument \`${name}\` in a language that also writes`);
  }
}

/** `method: POST`, `action: delete`. */
function actsAsChoice(choice: string): boolean {
  return actingChoices.has(choice.toLowerCase());
}

const actingChoices: ReadonlySet<string> = new Set(
  (
    "post put patch delete create update add remove send write execute run insert drop move rename publish approve reject " +
    "cancel start stop restart merge upsert install uninstall reply forward archive"
  ).split(" "),
);

function hintSigns(tool: JsonObject, add: Add): void {
  const hints = member(tool, "annotations");
  for (const key of ["readOnlyHint", "destructiveHint"]) {
    const value = member(hints, key);
    if (typeof value === "boolean") add(`${key}=${value}`, `\`${key}: ${value}\``);
  }
}

/** Nouns of the name that say which kind of change a change is. */
function nounSigns(name: readonly string[], add: Add): void {
  const lists = {
    setting: settingNouns,
    right: rightNouns,
    secret: secretNouns,
    message: messageNouns,
    money: moneyNouns,
    time: timeNouns,
  };
  for (const [kind, list] of Object.entries(lists)) {
    const word = name.find((one) => list.has(one));
    if (word !== undefined) add(`noun:${kind}`, `\`${word}\` in the name`);
  }
}
