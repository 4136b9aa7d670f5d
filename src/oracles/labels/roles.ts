/**
 * Roles of arguments from their names, formats, types and descriptions, and from what the tool does: the same logistic
 * scores as for its deeds, one for each role, made into shares of one.
 */
import { type Role, roles } from "../../core/contract.ts";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { inferArguments } from "../../policy/contracts/infer.ts";
import { listed, wordsOf } from "../../policy/contracts/name-words.ts";
import { deedsOfWord } from "./lexicon.ts";
import { fitted } from "./fitted.ts";
import type { ReadingContext } from "./sign.ts";
import { siblingsOf } from "./siblings.ts";

export type ArgumentReading = {
  readonly role: Role;
  readonly probability: number;
  readonly because: readonly string[];
};

const descriptionCharsMax = 400;

/** What descriptions of arguments say of their role, each a sign of its own. */
const phrases: readonly (readonly [string, RegExp])[] = [
  ["id", /\b(ids?|identifiers?|uuid|key of|name of (the|a|an)|which)\b/iu],
  ["url", /\b(urls?|uri|https?|endpoint|host|web ?page|website|link to)\b/iu],
  ["path", /\b(file ?path|paths?|director(y|ies)|folder|filename|file to)\b/iu],
  ["command", /\b(command|sql|script|code to|javascript|python|expression|statement|execute[ds]?)\b/iu],
  [
    "query",
    /\b(filter|search|query|keywords?|sort|order by|limit|maximum number|page|offset|cursor|only return|include)\b/iu,
  ],
  [
    "content",
    /\b(content|body|text|message|description|title|markdown|html|comment|note|data to|properties|value)\b/iu,
  ],
  [
    "recipient",
    /\b(recipients?|send to|email address|assignees?|invite|participants?|attendees?|channel to|post to)\b/iu,
  ],
  ["amount", /\b(amount|price|quantity|how many|number of (replicas|units|items to))\b/iu],
];

/** Ids of the signs of one argument, for the table of weights. */
export function argumentSigns(
  tool: JsonObject,
  name: string,
  known: Role | undefined,
  context: ReadingContext,
): readonly string[] {
  const properties = member(member(tool, "inputSchema"), "properties");
  const schema = isObject(properties) ? member(properties, name) : undefined;
  const words = wordsOf(name);
  const [last = "", first = ""] = [words.at(-1), words[0]];
  const said = (stringMember(schema, "description") ?? "").slice(0, descriptionCharsMax);
  const subject = wordsOf(stringMember(tool, "name") ?? "");
  const kinds = subject.flatMap((word) => listed(deedsOfWord, word) ?? []);
  const acts = kinds.some((kind) => kind !== "read");
  const required = member(member(tool, "inputSchema"), "required");
  const type = typeOf(schema);
  const [place = "nowhere"] = siblingsOf(context).named[0] ?? [];
  const verb = subject.find((word) => verbs.has(word)) ?? (acts ? "other" : "get");
  // Whom something is sent to is told by few words, which mean other things elsewhere (`to_date`).
  if (acts && addressees.has(singular(last))) return ["acts&addressee", `type=${type}`];
  return [
    `rule=${known ?? "none"}`,
    `r=${singular(last)}`,
    `f=${singular(first)}`,
    `${acts ? "acts" : "reads"}&r=${singular(last)}`,
    `${acts ? "acts" : "reads"}&rule=${known ?? "none"}`,
    `type=${type}`,
    `${acts ? "acts" : "reads"}&type=${type}`,
    // A path in a store that is elsewhere names an object there, and what a record is made of names none.
    `at=${place}&rule=${known ?? "none"}`,
    ...(onMap(properties) ? [`map&rule=${known ?? "none"}`] : []),
    `v=${verb}&r=${singular(last)}`,
    `v=${verb}&rule=${known ?? "none"}`,
    ...(words.includes("local") || localPath.test(said) ? ["says=local"] : []),
    ...(member(schema, "enum") === undefined ? [] : ["enum"]),
    ...(isArray(required) && required.includes(name) ? ["required"] : []),
    ...(subject.includes(singular(last)) || subject.includes(last) ? ["subject"] : []),
    ...(/id$/i.test(name) ? ["ends-id"] : []),
    ...phrases.flatMap(([id, phrase]) => (phrase.test(said) ? [`says=${id}`] : [])),
  ];
}

/** Where a way begins stands beside where it ends: both are places of a map and no addresses. */
function onMap(properties: Json | undefined): boolean {
  if (!isObject(properties)) return false;
  return ["origin", "origins", "waypoints", "coordinates", "latitude"].some((name) => Object.hasOwn(properties, name));
}

const verbs: ReadonlySet<string> = new Set("create update delete add list search send set".split(" "));
const localPath = /\b(local|on disk|absolute path|this machine|your computer)\b/iu;

/** Whom something that acts is done for or sent to. */
const addressees: ReadonlySet<string> = new Set(
  "to cc bcc recipient attendee invitee participant assignee email phone audience payee".split(" "),
);

function typeOf(schema: Json | undefined): string {
  const type = member(schema, "type");
  return typeof type === "string" ? type : "any";
}

function singular(word: string): string {
  return word.length > 3 ? word.replace(/s$/, "") : word;
}

/** By name of the argument. */
export function readArguments(tool: JsonObject, context: ReadingContext): ReadonlyMap<string, ArgumentReading> {
  const found = new Map<string, ArgumentReading>();
  for (const [name, { role, known }] of inferArguments(tool)) {
    const signs = argumentSigns(tool, name, known ? role : undefined, context);
    found.set(name, { ...roleOfSigns(signs), because: becauseOf(name, tool) });
  }
  return found;
}

function roleOfSigns(signs: readonly string[]): Pick<ArgumentReading, "role" | "probability"> {
  const odds = roles.map((role) => {
    const weights = fitted.roles.get(role);
    return Math.exp(signs.reduce((sum, sign) => sum + (weights?.get(sign) ?? 0), weights?.get("bias") ?? 0));
  });
  const total = odds.reduce((sum, one) => sum + one, 0);
  const best = odds.indexOf(Math.max(...odds));
  const role = roles[best] ?? "query";
  return { role, probability: fitted.calibrated(roleCase(role, signs), (odds[best] ?? 0) / total) };
}

/** Whether the first guess from the name is the answer: each case has a calibration of its own. */
export function roleCase(role: string, signs: readonly string[]): string {
  return signs.includes(`rule=${role}`) || (role === "recipient" && signs.includes("acts&addressee"))
    ? "role agreed"
    : signs.includes("rule=none")
      ? "role unnamed"
      : "role against";
}

function becauseOf(name: string, tool: JsonObject): readonly string[] {
  const properties = member(member(tool, "inputSchema"), "properties");
  const schema = isObject(properties) ? member(properties, name) : undefined;
  const format = stringMember(schema, "format");
  const said = stringMember(schema, "description") === undefined ? [] : ["its description"];
  return [`the name \`${name}\``, ...(format === undefined ? [] : [`the format \`${format}\``]), ...said];
}
