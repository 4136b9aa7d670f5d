/**
 * A small interpreter of JSON Schema for argument tests: the keywords that tell values apart, on bounded work, without
 * references to fetch and without backtracking patterns. A schema that uses anything else is refused when it is read,
 * because a keyword that is skipped in silence would be a rule that does not hold.
 */
import { unescapeToken } from "../../core/pointer.ts";
import { type Json, isArray, isObject, isRawNumber, member, isPlainObject } from "../../core/json.ts";
import { policyDepthMax, schemaStepsMax, testTextUnitsMax } from "./limits.ts";
import { compilesAsRegex, regexFinds } from "./matchers.ts";
import { canonicalNumber, compareDecimal } from "./decimal.ts";

type Schema = boolean | { readonly [key: string]: unknown };
type Work = { steps: number; depth: number; readonly root: Schema };

/** Says something about a schema without constraining values. */
const silent = ["$schema", "$id", "$comment", "title", "description", "default", "examples", "deprecated", "format"];
const schemaKeys = ["not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames"];
const schemaLists = ["allOf", "anyOf", "oneOf", "prefixItems"];
const schemaMaps = ["properties", "patternProperties", "$defs", "definitions"];
const numbers = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
const counts = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];

/** Why a schema cannot be enforced, or undefined if it can. */
export function checkSchema(schema: unknown, depth = 0): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isPlainObject(schema)) return "a schema is a map, `true` or `false`";
  if (depth > policyDepthMax) return `it is nested deeper than ${policyDepthMax} levels`;
  for (const [key, value] of Object.entries(schema)) {
    const fault = checkKeyword(key, value, depth);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function checkKeyword(key: string, value: unknown, depth: number): string | undefined {
  const wrong = `\`${key}\` has a value of the wrong kind`;
  const inner = (schemas: readonly unknown[]): string | undefined => {
    for (const schema of schemas) {
      const fault = checkSchema(schema, depth + 1);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  if (silent.includes(key)) return undefined;
  if (schemaKeys.includes(key)) return inner([value]);
  if (schemaLists.includes(key)) return Array.isArray(value) ? inner(value) : wrong;
  if (schemaMaps.includes(key)) {
    if (!isPlainObject(value)) return wrong;
    const bad = key === "patternProperties" ? Object.keys(value).find((each) => !compilesAsRegex(each)) : undefined;
    return bad === undefined ? inner(Object.values(value)) : "a pattern is not a linear-time expression";
  }
  if (numbers.includes(key)) return typeof value === "number" ? undefined : wrong;
  if (counts.includes(key)) return Number.isInteger(value) ? undefined : wrong;
  switch (key) {
    case "type":
      return typesOf(value) === undefined ? wrong : undefined;
    case "enum":
    case "required":
      return Array.isArray(value) ? undefined : wrong;
    case "pattern":
      return typeof value === "string" && compilesAsRegex(value)
        ? undefined
        : "a pattern is not a linear-time expression";
    case "uniqueItems":
      return typeof value === "boolean" ? undefined : wrong;
    case "const":
      return undefined;
    case "$ref":
      return typeof value === "string" && /^#(\/|$)/.test(value)
        ? undefined
        : "only references inside the schema are followed";
  }
  return `the keyword \`${key.slice(0, 40)}\` is not supported`;
}

function typesOf(value: unknown): readonly string[] | undefined {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const legal = ["null", "boolean", "object", "array", "number", "integer", "string"];
  const words = list.filter((each): each is string => typeof each === "string" && legal.includes(each));
  return words.length === list.length ? words : undefined;
}

/**
 * True iff the value satisfies the schema; undefined if that takes more than `schemaStepsMax` steps, or exact arithmetic
 * on a number with more digits than are kept.
 */
export function satisfies(schema: unknown, value: Json): boolean | undefined {
  if (typeof schema !== "boolean" && !isPlainObject(schema)) return undefined;
  const work: Work = { steps: 0, depth: 0, root: schema };
  try {
    return holds(schema, value, work);
  } catch (cause) {
    if (cause === outOfSteps) return undefined;
    throw cause;
  }
}

/** Thrown and caught in this file only: it ends an evaluation that cannot be finished from any depth. */
const outOfSteps = new Error("schema evaluation needs too many steps or digits");

function step(work: Work, count = 1): void {
  work.steps += count;
  if (work.steps > schemaStepsMax) throw outOfSteps;
}

/** A schema may refer to itself without end; the stack must not find out. */
const referenceDepthMax = 256;

function holds(schema: unknown, value: Json, work: Work): boolean {
  step(work);
  work.depth += 1;
  if (work.depth > referenceDepthMax) throw outOfSteps;
  const answer = holdsHere(schema, value, work);
  work.depth -= 1;
  return answer;
}

function holdsHere(schema: unknown, value: Json, work: Work): boolean {
  if (typeof schema === "boolean") return schema;
  if (!isPlainObject(schema)) return false;
  const reference = schema["$ref"];
  if (typeof reference === "string" && !holds(resolve(reference, work), value, work)) return false;
  return (
    holdsAny(schema, value, work) &&
    (typeof value === "string" ? holdsText(schema, value, work) : true) &&
    holdsNumber(schema, value) &&
    (isArray(value) ? holdsList(schema, value, work) : true) &&
    (isObject(value) ? holdsObject(schema, value, work) : true)
  );
}

function resolve(reference: string, work: Work): unknown {
  let found: unknown = work.root;
  for (const part of reference.split("/").slice(1)) {
    const key = unescapeToken(part);
    if (Array.isArray(found)) found = found[Number(key)];
    else found = isPlainObject(found) && Object.hasOwn(found, key) ? found[key] : false;
  }
  return found;
}

type Keywords = { readonly [key: string]: unknown };

function holdsAny(schema: Keywords, value: Json, work: Work): boolean {
  const types = schema["type"] === undefined ? undefined : typesOf(schema["type"]);
  if (types !== undefined && !types.some((type) => hasType(type, value))) return false;
  if (Object.hasOwn(schema, "const") && !equal(schema["const"], value, work)) return false;
  const offered = listAt(schema, "enum");
  if (offered !== undefined && !offered.some((each) => equal(each, value, work))) return false;
  const all = listAt(schema, "allOf");
  if (all !== undefined && !all.every((each) => holds(each, value, work))) return false;
  const any = listAt(schema, "anyOf");
  if (any !== undefined && !any.some((each) => holds(each, value, work))) return false;
  const one = listAt(schema, "oneOf");
  if (one !== undefined && one.filter((each) => holds(each, value, work)).length !== 1) return false;
  if (Object.hasOwn(schema, "not") && holds(schema["not"], value, work)) return false;
  if (!Object.hasOwn(schema, "if")) return true;
  const branch = holds(schema["if"], value, work) ? "then" : "else";
  return !Object.hasOwn(schema, branch) || holds(schema[branch], value, work);
}

function listAt(schema: Keywords, key: string): readonly unknown[] | undefined {
  const value = schema[key];
  return Array.isArray(value) ? value : undefined;
}

function numberAt(schema: Keywords, key: string): number | undefined {
  const value = schema[key];
  return typeof value === "number" ? value : undefined;
}

function hasType(type: string, value: Json): boolean {
  if (type === "null") return value === null;
  if (type === "array") return isArray(value);
  if (type === "object") return isObject(value);
  if (type === "number") return typeof value === "number" || isRawNumber(value);
  if (type === "integer") return canonicalNumber(value)?.includes(".") === false;
  return typeof value === type;
}

/** Equality of JSON values, numbers by exact value. */
function equal(expected: unknown, value: Json, work: Work): boolean {
  step(work);
  if (typeof expected === "number") {
    const right = canonicalNumber(value);
    if (right === undefined && isRawNumber(value)) throw outOfSteps;
    return right !== undefined && compareDecimal(String(expected), right) === 0;
  }
  if (Array.isArray(expected)) {
    return (
      isArray(value) &&
      value.length === expected.length &&
      value.every((item, index) => equal(expected[index], item, work))
    );
  }
  if (!isPlainObject(expected)) return expected === value;
  if (!isObject(value)) return false;
  const keys = Object.keys(expected);
  return (
    keys.length === Object.keys(value).length &&
    keys.every((key) => {
      const item = member(value, key);
      return item !== undefined && equal(expected[key], item, work);
    })
  );
}

function holdsText(schema: Keywords, value: string, work: Work): boolean {
  const shortest = numberAt(schema, "minLength");
  const longest = numberAt(schema, "maxLength");
  if (shortest !== undefined || longest !== undefined) {
    step(work, Math.ceil(value.length / 64));
    const length = [...value].length; // code points, as the specification counts
    if ((shortest !== undefined && length < shortest) || (longest !== undefined && length > longest)) return false;
  }
  const pattern = schema["pattern"];
  if (typeof pattern !== "string") return true;
  step(work, Math.ceil(value.length / 64));
  return value.length <= testTextUnitsMax && regexFinds(pattern, value) === true;
}

function holdsNumber(schema: Keywords, value: Json): boolean {
  const exact = canonicalNumber(value);
  if (exact === undefined) {
    // A number beyond all digits is above or below every limit, and it is unknown which.
    if (isRawNumber(value) && numbers.some((key) => schema[key] !== undefined)) throw outOfSteps;
    return true;
  }
  const against = (key: string): -1 | 0 | 1 | undefined => {
    const limit = numberAt(schema, key);
    return limit === undefined ? undefined : compareDecimal(exact, String(limit));
  };
  const over = against("exclusiveMinimum");
  const under = against("exclusiveMaximum");
  return (
    against("minimum") !== -1 &&
    against("maximum") !== 1 &&
    (over === undefined || over === 1) &&
    (under === undefined || under === -1)
  );
}

function inCount(schema: Keywords, count: number, least: string, most: string): boolean {
  return count >= (numberAt(schema, least) ?? 0) && count <= (numberAt(schema, most) ?? Number.POSITIVE_INFINITY);
}

function holdsList(schema: Keywords, value: readonly Json[], work: Work): boolean {
  if (!inCount(schema, value.length, "minItems", "maxItems")) return false;
  const first = listAt(schema, "prefixItems") ?? [];
  const rest = schema["items"];
  for (const [index, item] of value.entries()) {
    const own = index < first.length ? first[index] : rest;
    if (own !== undefined && !holds(own, item, work)) return false;
  }
  if (Object.hasOwn(schema, "contains") && !value.some((item) => holds(schema["contains"], item, work))) return false;
  if (schema["uniqueItems"] !== true) return true;
  return value.every((item, index) => value.slice(0, index).every((other) => !equal(plain(other), item, work)));
}

/** A wire value as the kind of JSON that schemas hold; exact numbers stay exact only as far as a double. */
function plain(value: Json): unknown {
  return isRawNumber(value) ? Number(value.rawJSON) : value;
}

function holdsObject(schema: Keywords, value: { readonly [key: string]: Json }, work: Work): boolean {
  const keys = Object.keys(value);
  if (!inCount(schema, keys.length, "minProperties", "maxProperties")) return false;
  const needed = listAt(schema, "required") ?? [];
  if (!needed.every((key) => typeof key === "string" && Object.hasOwn(value, key))) return false;
  const properties = isPlainObject(schema["properties"]) ? schema["properties"] : {};
  const patterns = isPlainObject(schema["patternProperties"]) ? Object.entries(schema["patternProperties"]) : [];
  for (const key of keys) {
    const item = value[key];
    if (item === undefined) continue;
    if (Object.hasOwn(schema, "propertyNames") && !holds(schema["propertyNames"], key, work)) return false;
    const own = Object.hasOwn(properties, key);
    if (own && !holds(properties[key], item, work)) return false;
    const matching = patterns.filter(([pattern]) => regexFinds(pattern, key) === true);
    if (!matching.every(([, each]) => holds(each, item, work))) return false;
    const others = !own && matching.length === 0 && Object.hasOwn(schema, "additionalProperties");
    if (others && !holds(schema["additionalProperties"], item, work)) return false;
  }
  return true;
}
