/**
 * A first, honest guess at what a tool does, from its names, the first words of its description, its schema and its
 * annotations. All of that was written by the server, so nothing here is certain: `must` stays empty, the output stays
 * unknown, and a caller may narrow `may` by the guess only for a server that the operator trusts.
 */
import type { Role } from "../../core/contract.ts";
import { type Effect, everyEffect } from "../../core/effect.ts";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { argumentsMax } from "../values/limits.ts";
import { type Deed, deedsByWord, externalWords, listed, localWords, roleByWord, wordsOf } from "./name-words.ts";

export type InferredArgument = {
  readonly role: Role;
  /** False where no word or format said so, and the role is only the cautious default. */
  readonly known: boolean;
  readonly schemaValues: readonly Json[];
};

export type Inferred = {
  /** Everything it could do if its own words are true; all effects where they say nothing. */
  readonly may: readonly Effect[];
  readonly irreversible: boolean;
  readonly openWorld: boolean;
  readonly arguments: ReadonlyMap<string, InferredArgument>;
  /** In words, for `labels` and `policy explain`. */
  readonly because: readonly string[];
};

type Hints = {
  readonly readOnly: boolean | undefined;
  readonly destructive: boolean | undefined;
  readonly openWorld: boolean | undefined;
};

export function inferTool(listedTool: JsonObject): Inferred {
  const because: string[] = [];
  const name = stringMember(listedTool, "name") ?? "";
  const found = inferArguments(listedTool);
  const hints = hintsOf(listedTool);
  const deeds = deedsOf(name, stringMember(listedTool, "description") ?? "", because);
  const reaches = reachesOf(name, found, hints, because);
  const may = effectsOf(deeds, reaches, hints, because);
  return {
    may,
    irreversible: hints.destructive ?? may.some((effect) => /\.(delete|pay|send|publish|actuate)$/.test(effect)),
    openWorld: hints.openWorld ?? reaches.includes("external"),
    arguments: found,
    because,
  };
}

function hintsOf(tool: JsonObject): Hints {
  const annotations = member(tool, "annotations");
  const hint = (key: string): boolean | undefined => {
    const value = member(annotations, key);
    return typeof value === "boolean" ? value : undefined;
  };
  return { readOnly: hint("readOnlyHint"), destructive: hint("destructiveHint"), openWorld: hint("openWorldHint") };
}

/** Deeds of the name; the start of the description is asked only where the name has no verb. */
function deedsOf(name: string, description: string, because: string[]): readonly Deed[] {
  const words = wordsOf(name);
  const named = words.flatMap((word) => {
    const deeds = listed(deedsByWord, word) ?? [];
    if (deeds.length > 0) because.push(`\`${word}\` in the name`);
    return deeds;
  });
  // The first verb of a name says what is done; later ones are often nouns (`list_comments`, `get_order`).
  const first = words.map((word) => listed(deedsByWord, word)).find((deeds) => deeds !== undefined);
  if (first !== undefined) return first.every((deed) => deed.base === "read") ? first : named;
  const opening = wordsOf(description.slice(0, 80)).slice(0, 3);
  const spoken = opening.map((word) => listed(deedsByWord, word)).find((deeds) => deeds !== undefined);
  if (spoken !== undefined) because.push("the first words of the description");
  return spoken ?? [];
}

type Reach = "local" | "external";

function reachesOf(
  name: string,
  found: ReadonlyMap<string, InferredArgument>,
  hints: Hints,
  because: string[],
): readonly Reach[] {
  const words = wordsOf(name);
  const sends = [...found.values()].some(
    (argument) => argument.known && (argument.role === "destination" || argument.role === "recipient"),
  );
  if (sends) because.push("an argument that names a recipient or destination");
  // A destination speaks louder than a hint: a read of a URL that the agent chose sends what the URL holds.
  if (sends || words.some((word) => listed(asMap(externalWords), word) === true)) return ["external"];
  if (hints.openWorld !== undefined) because.push("`openWorldHint`");
  if (hints.openWorld === false) return ["local"];
  if (hints.openWorld === true) return ["external"];
  if (words.some((word) => listed(asMap(localWords), word) === true)) return ["local"];
  return ["local", "external"];
}

function asMap(words: ReadonlySet<string>): { get(word: string): true | undefined } {
  return { get: (word) => (words.has(word) ? true : undefined) };
}

function effectsOf(
  deeds: readonly Deed[],
  reaches: readonly Reach[],
  hints: Hints,
  because: string[],
): readonly Effect[] {
  if (hints.readOnly !== undefined) because.push("`readOnlyHint`");
  const named = hints.readOnly === true ? deeds.filter((deed) => deed.base === "read") : deeds;
  const acting: readonly Deed[] = [{ base: "write" }, { base: "execute" }];
  let all: readonly Deed[] = named;
  if (named.length === 0 && hints.readOnly === true) all = [{ base: "read" }];
  if (named.length === 0 && hints.readOnly === false) all = acting;
  // A name that sounds like reading against a hint that says it is not: both could be true.
  if (hints.readOnly === false && named.every((deed) => deed.base === "read")) all = [...named, ...acting];
  if (all.length === 0) return everyEffect;
  const destroys = hints.destructive === true && hints.readOnly !== true ? (["delete"] as const) : [];
  const effects = new Set<string>();
  for (const reach of reaches) {
    for (const deed of all) {
      effects.add(deed.action === undefined ? `${deed.base}.${reach}` : `${deed.base}.${reach}.${deed.action}`);
      // A prefix covers every action; without a destructive hint a plain write stays a plain write.
      if (deed.base === "write") for (const action of destroys) effects.add(`write.${reach}.${action}`);
    }
  }
  return [...effects].toSorted();
}

export function inferArguments(tool: JsonObject): ReadonlyMap<string, InferredArgument> {
  const properties = member(member(tool, "inputSchema"), "properties");
  const found = new Map<string, InferredArgument>();
  const subject = wordsOf(stringMember(tool, "name") ?? "");
  if (!isObject(properties)) return found;
  for (const name of Object.keys(properties).slice(0, argumentsMax)) {
    const schema = member(properties, name);
    found.set(name, {
      ...inContext(roleOf(name, schema), name, schema, subject),
      schemaValues: schemaValuesOf(schema),
    });
  }
  return found;
}

/** Values beyond this many are left out; they are then not derivable, which only asks more. */
const schemaValuesMax = 256;

function schemaValuesOf(schema: Json | undefined): readonly Json[] {
  const own = (part: Json | undefined): readonly Json[] => {
    const offered = member(part, "enum");
    const single = [member(part, "const"), member(part, "default")].filter((value) => value !== undefined);
    return [...(isArray(offered) ? offered : []), ...single];
  };
  return [...own(schema), ...own(member(schema, "items"))].slice(0, schemaValuesMax);
}

function roleOf(name: string, schema: Json | undefined): Pick<InferredArgument, "role" | "known"> {
  const format = stringMember(schema, "format");
  if (format === "email" || format === "idn-email") return { role: "recipient", known: true };
  if (format === "uri" || format === "url" || format === "iri" || format === "hostname") {
    return { role: "destination", known: true };
  }
  const words = wordsOf(name);
  // The last word is the noun: an `email_body` is a body, a `repo_owner` an owner.
  for (const word of words.toReversed()) {
    const role = listed(roleByWord, word);
    if (role !== undefined) return { role: refined(role, words, schema), known: true };
  }
  return { role: "query", known: false };
}

/** The role of an argument may depend on the tool: a `destination` of files is a path; a deletion names its target. */
function inContext(
  found: Pick<InferredArgument, "role" | "known">,
  name: string,
  schema: Json | undefined,
  subject: readonly string[],
): Pick<InferredArgument, "role" | "known"> {
  const files = subject.some((word) => listed(roleByWord, word) === "path");
  const place = /^(source|src|destination|dest|dst|target|from|to)$/i.test(name);
  if (files && place && member(schema, "format") === undefined) return { role: "path", known: true };
  const deletes = subject.some((word) => listed(deedsByWord, word)?.some((deed) => deed.action === "delete") === true);
  return deletes && found.role === "content" ? { role: "identifier", known: found.known } : found;
}

/** A number or a choice is never content: it steers the call. */
function refined(role: Role, words: readonly string[], schema: Json | undefined): Role {
  const type = member(schema, "type");
  const steering =
    type === "number" || type === "integer" || type === "boolean" || member(schema, "enum") !== undefined;
  if (steering && (role === "content" || role === "recipient" || role === "destination")) return "query";
  // `source_file`, `destination_folder`: the words before the noun do not make it a host.
  if (role === "destination" && words.some((word) => listed(roleByWord, word) === "path")) return "path";
  return role;
}
