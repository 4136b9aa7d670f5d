/**
 * Values that a JSON Schema (2020-12, and the drafts before it) accepts: the arguments of probes. The schema is the server's,
 * so work, depth and length are bounded, nothing is fetched, and what it asks for beyond that has no value, with the reason.
 */
import { type Json, type JsonObject, isArray, isObject, member } from "../../core/json.ts";
import { unescapeToken } from "../../core/pointer.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { checkSchema, satisfies } from "../../policy/values/json-schema.ts";

/** `required`: only what must be there; `all`: every declared member; `edge`: the ends of ranges, and empty where that is allowed. */
export type SampleKind = "required" | "all" | "edge";

/** A text for a member of this name and format, of a length within the bounds; `wanted` = the schema names none itself. */
export type TextSource = (asked: {
  /** Names from the outside in, as a schema gives them. */
  readonly path: readonly string[];
  readonly format: string | undefined;
}) => string;

export type SampleOrder = { readonly kind: SampleKind; readonly text: TextSource };

const depthMax = 8;
const stepsMax = 2_000;
/** Choices of `oneOf` and `anyOf` that are tried. */
const choicesMax = 8;
const membersMax = 64;
const textMax = 4_096;

type Work = SampleOrder & { readonly root: Json; steps: number };
type Place = { readonly path: readonly string[]; readonly depth: number };

/** The value, or why there is none. What the project's own reading of the schema refuses is no sample. */
export function sampleOf(schema: Json, order: SampleOrder): Result<Json, string> {
  const work: Work = { ...order, root: schema, steps: 0 };
  const value = build(work, schema, { path: [], depth: 0 });
  if (value === undefined) return err("its schema is deeper or larger than is looked at, or permits nothing");
  // A schema with other keywords than are known cannot be checked here; its server will.
  const isKnown = checkSchema(schema) === undefined;
  return isKnown && satisfies(schema, value) === false ? err("no value was found that its schema accepts") : ok(value);
}

function build(work: Work, schema: Json, place: Place): Json | undefined {
  work.steps += 1;
  if (work.steps > stepsMax || place.depth > depthMax || schema === false) return undefined;
  if (!isObject(schema)) return work.text({ path: place.path, format: undefined });
  const target = member(schema, "$ref");
  if (typeof target === "string") {
    const found = resolved(work.root, target);
    return found === undefined ? undefined : build(work, found, { ...place, depth: place.depth + 1 });
  }
  if (member(schema, "const") !== undefined) return member(schema, "const");
  const offered = member(schema, "enum");
  if (isArray(offered) && offered.length > 0) return offered[work.kind === "edge" ? offered.length - 1 : 0];
  const merged = withParts(schema);
  for (const form of ["oneOf", "anyOf"]) {
    const choices = member(merged, form);
    if (isArray(choices) && choices.length > 0) return choice(work, merged, { form, choices, place });
  }
  return byType(work, merged, place);
}

type Choice = { readonly form: string; readonly choices: readonly Json[]; readonly place: Place };

/** The first choice that gives a value, together with what the schema says beside its choices. */
function choice(work: Work, schema: JsonObject, { form, choices, place }: Choice): Json | undefined {
  const rest = Object.fromEntries(Object.entries(schema).filter(([name]) => name !== form));
  for (const one of choices.slice(0, choicesMax)) {
    const whole = isObject(one) ? withParts({ ...rest, allOf: [one] }) : one;
    const value = build(work, whole, { ...place, depth: place.depth + 1 });
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** The schema with the members of its `allOf` inside: properties and required names are joined, of others the last counts. */
function withParts(schema: JsonObject): JsonObject {
  const parts = member(schema, "allOf");
  if (!isArray(parts)) return schema;
  const { allOf: _allOf, ...base } = schema;
  return parts.filter(isObject).reduce<JsonObject>((all, part) => {
    const properties = { ...objectOf(all, "properties"), ...objectOf(part, "properties") };
    const required = [...listOf(all, "required"), ...listOf(part, "required")];
    return {
      ...all,
      ...part,
      ...(Object.keys(properties).length === 0 ? {} : { properties }),
      ...(required.length === 0 ? {} : { required }),
    };
  }, base);
}

function byType(work: Work, schema: JsonObject, place: Place): Json | undefined {
  switch (typeOf(schema)) {
    case "object":
      return objectSample(work, schema, place);
    case "array":
      return arraySample(work, schema, place);
    case "integer":
    case "number":
      return numberSample(work, schema);
    case "boolean":
      return work.kind !== "edge";
    case "null":
      return null;
    default:
      return textSample(work, schema, place);
  }
}

/** Its type, or the one that its keywords speak of; of several the first that is not null. */
function typeOf(schema: JsonObject): string {
  const stated = member(schema, "type");
  const types = isArray(stated) ? stated : [stated];
  const named = types.find((one) => typeof one === "string" && one !== "null") ?? types[0];
  if (typeof named === "string") return named;
  if (isObject(member(schema, "properties")) || isArray(member(schema, "required"))) return "object";
  if (member(schema, "items") !== undefined || isArray(member(schema, "prefixItems"))) return "array";
  return member(schema, "minimum") === undefined && member(schema, "maximum") === undefined ? "string" : "number";
}

function objectSample(work: Work, schema: JsonObject, { path, depth }: Place): Json | undefined {
  const properties = objectOf(schema, "properties");
  const required = listOf(schema, "required").filter((name) => typeof name === "string");
  const declared = work.kind === "all" ? Object.keys(properties) : [];
  const names = [...new Set([...required, ...declared])];
  if (names.length > membersMax) return undefined;
  const entries: [string, Json][] = [];
  for (const name of names) {
    const value = build(work, properties[name] ?? true, { path: [...path, name], depth: depth + 1 });
    // A member that may be left out is left out where it has no value.
    if (value === undefined && required.includes(name)) return undefined;
    if (value !== undefined) entries.push([name, value]);
  }
  for (let free = entries.length; free < Math.min(membersMax, numberOf(schema, "minProperties") ?? 0); free += 1)
    entries.push([`key${free}`, work.text({ path: [...path, "key"], format: undefined })]);
  return Object.fromEntries(entries);
}

function arraySample(work: Work, schema: JsonObject, { path, depth }: Place): Json | undefined {
  const first = listOf(schema, "prefixItems");
  const least = numberOf(schema, "minItems") ?? 0;
  const most = numberOf(schema, "maxItems") ?? membersMax;
  const usual = work.kind === "edge" ? 0 : Math.max(first.length, 1);
  const length = Math.max(least, Math.min(usual, most));
  if (length > membersMax) return undefined;
  const values: Json[] = [];
  for (let index = 0; index < length; index += 1) {
    const item = first[index] ?? member(schema, "items") ?? true;
    const value = build(work, item, { path: [...path, `${index}`], depth: depth + 1 });
    if (value === undefined) return undefined;
    values.push(member(schema, "uniqueItems") === true ? distinct(values, value) : value);
  }
  return values;
}

/** Another text or number than those before it. */
function distinct(before: readonly Json[], value: Json): Json {
  const isKnown = (one: Json): boolean => before.some((other) => JSON.stringify(other) === JSON.stringify(one));
  if (!isKnown(value)) return value;
  if (typeof value === "number") return value + before.length;
  return typeof value === "string" ? `${value}${before.length}` : value;
}

function numberSample(work: Work, schema: JsonObject): number {
  const whole = member(schema, "type") === "integer";
  const step = numberOf(schema, "multipleOf") ?? (whole ? 1 : undefined);
  const above = numberOf(schema, "exclusiveMinimum");
  const below = numberOf(schema, "exclusiveMaximum");
  const gap = step ?? 0.5;
  const least = numberOf(schema, "minimum") ?? (above === undefined ? undefined : above + gap);
  const most = numberOf(schema, "maximum") ?? (below === undefined ? undefined : below - gap);
  const stated = member(schema, "default");
  if (typeof stated === "number" && work.kind !== "edge") return stated;
  const wanted = work.kind === "edge" ? (least ?? most ?? 0) : Math.min(Math.max(5, least ?? 5), most ?? Infinity);
  return step === undefined || step <= 0 ? wanted : rounded(wanted, step, most);
}

/** The nearest multiple from `wanted` on, or below the bound where that is beyond it. */
function rounded(wanted: number, step: number, most: number | undefined): number {
  const up = Math.ceil(wanted / step) * step;
  return most !== undefined && up > most ? Math.floor(most / step) * step : up;
}

function textSample(work: Work, schema: JsonObject, { path }: Place): string | undefined {
  const least = Math.max(0, numberOf(schema, "minLength") ?? 0);
  const most = numberOf(schema, "maxLength") ?? textMax;
  if (least > textMax || most < least) return undefined;
  if (work.kind === "edge" && member(schema, "format") === undefined && member(schema, "pattern") === undefined)
    return "a".repeat(least);
  const stated = member(schema, "default");
  const examples = listOf(schema, "examples").filter((one) => typeof one === "string");
  const format = member(schema, "format");
  const made = work.text({ path, format: typeof format === "string" ? format : undefined });
  // What the server itself shows is the best guess at what a pattern wants.
  const offers =
    member(schema, "pattern") === undefined ? [made] : [...examples, stated, made, "abc", "1", "A1", "a-b"];
  const fitting = offers.filter((one) => typeof one === "string").map((one) => sized(one, least, most));
  return fitting.find((one) => satisfies(withoutSize(schema), one) !== false);
}

function withoutSize(schema: JsonObject): JsonObject {
  const pattern = member(schema, "pattern");
  return pattern === undefined ? {} : { pattern };
}

/** The text cut or repeated to a length, in characters. */
function sized(text: string, least: number, most: number): string {
  const units = [...(text === "" ? "a" : text)];
  const length = Math.max(least, Math.min(units.length, most));
  return Array.from({ length }, (_, at) => units[at % units.length]).join("");
}

/** A place within the same document: nothing is fetched. */
function resolved(root: Json, target: string): Json | undefined {
  if (target === "#") return root;
  if (!target.startsWith("#/")) return undefined;
  let found: Json | undefined = root;
  for (const token of target.slice(2).split("/")) found = member(found, unescapeToken(token));
  return found;
}

function objectOf(schema: JsonObject, name: string): JsonObject {
  const value = member(schema, name);
  return isObject(value) ? value : {};
}

function listOf(schema: JsonObject, name: string): readonly Json[] {
  const value = member(schema, name);
  return isArray(value) ? value : [];
}

function numberOf(schema: JsonObject, name: string): number | undefined {
  const value = member(schema, name);
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
