/**
 * Section 3 of the specification: a test of the canonical policy as a predicate. Every predicate is a free Boolean, so
 * only equality matters; spellings are not normalised, which can only distinguish more predicates.
 */
import { type Json, quoted, textOf } from "./json.ts";
import type { Refuse } from "./labels.ts";

type Members = { readonly [key: string]: Json };
type Conversion = { readonly restricts: boolean; readonly refuse: Refuse };

export const workspacePredicate: string = textOf({ kind: "workspace" });

/** Member of a predicate that holds the single operand of its test. */
const operands: { readonly [key: string]: string } = {
  equals: "values",
  glob: "patterns",
  domain: "domains",
  path: "prefixes",
  cidr: "blocks",
  regex: "pattern",
  schema: "schema",
  reads: "language",
};

/** @returns the RFC 8785 text of the predicate of one argument. */
export function predicateOf(argument: string, form: Json, conversion: Conversion): string {
  const [key, operand] = onlyMember(form, conversion.refuse);
  const ifAbsent = key === "present" ? operand !== true : conversion.restricts;
  return textOf({ kind: "argument", argument, test: convert(form, conversion), ifAbsent });
}

function convert(form: Json, conversion: Conversion): Json {
  const { restricts, refuse } = conversion;
  const [key, operand] = onlyMember(form, refuse);
  switch (key) {
    case "not":
      return { kind: "not", test: convert(operand, { restricts: !restricts, refuse }) };
    case "present":
      return operand === true ? { kind: "present" } : { kind: "not", test: { kind: "present" } };
    case "all":
    case "any":
      if (restricts && aboutLeaves(form, refuse)) return { kind: "some", test: leaf(form, refuse) };
      return { kind: key, tests: partsOf(operand, refuse).map((part) => convert(part, conversion)) };
    default:
      return restricts ? { kind: "some", test: basic(form, refuse) } : basic(form, refuse);
  }
}

function aboutLeaves(form: Json, refuse: Refuse): boolean {
  const [key, operand] = onlyMember(form, refuse);
  if (key === "not") return aboutLeaves(operand, refuse);
  if (key === "all" || key === "any") return partsOf(operand, refuse).every((part) => aboutLeaves(part, refuse));
  return key !== "schema" && key !== "reads" && key !== "present";
}

function leaf(form: Json, refuse: Refuse): Json {
  const [key, operand] = onlyMember(form, refuse);
  if (key === "not") return { kind: "not", test: convert(operand, { restricts: false, refuse }) };
  if (key !== "all" && key !== "any") return basic(form, refuse);
  return { kind: key, tests: partsOf(operand, refuse).map((part) => leaf(part, refuse)) };
}

function basic(form: Json, refuse: Refuse): Json {
  const [key, operand] = onlyMember(form, refuse);
  if (key === "range" && isMembers(operand)) return { ...operand, kind: "range" };
  const place = Object.hasOwn(operands, key) ? operands[key] : undefined;
  if (place === undefined) refuse(`the policy tests an argument by ${quoted(key)}, which is not a test`);
  return { kind: key, [place ?? "operand"]: operand };
}

function onlyMember(form: Json, refuse: Refuse): readonly [string, Json] {
  const entries = isMembers(form) ? Object.entries(form) : [];
  if (entries.length !== 1) refuse("the policy tests an argument by a form that has not exactly one member");
  return entries[0] ?? ["", null];
}

function partsOf(operand: Json, refuse: Refuse): readonly Json[] {
  if (!Array.isArray(operand)) refuse("the policy combines tests by something that is not a list");
  return isList(operand) ? operand : [];
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
const isMembers = (value: Json): value is Members => value !== null && typeof value === "object" && !isList(value);
