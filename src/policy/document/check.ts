/** Checks a plain JSON value against a shape and says what is wrong in words, with the nearest legal word. */
import { isPlainObject } from "../../core/json.ts";
import { type DocumentPath, type Problem, pathText, problem, quoted } from "./diagnostic.ts";
import { diagnosticsMax, policyDepthMax } from "../values/limits.ts";
import { suggestion } from "./nearest.ts";
import type { ObjectNode, ShapeNode } from "./shape.ts";

/** Problems of `value`, in document order; empty iff the value has the shape. */
export function checkShape(shape: ShapeNode, value: unknown): readonly Problem[] {
  const found: Problem[] = [];
  check(shape, value, [], found);
  return found;
}

function check(shape: ShapeNode, value: unknown, path: DocumentPath, found: Problem[]): void {
  if (found.length >= diagnosticsMax) return;
  if (path.length > policyDepthMax) {
    found.push(problem("DEPTH", path, `nested deeper than ${policyDepthMax} levels`, "flatten this part"));
    return;
  }
  switch (shape.kind) {
    case "named":
      return check(shape.get(), value, path, found);
    case "any":
      return;
    case "null":
    case "boolean":
    case "string":
    case "enum":
    case "const":
    case "number":
      return checkScalar(shape, value, path, found);
    case "array":
      return checkArray(shape, value, path, found);
    case "record":
      return checkRecord(shape, value, path, found);
    case "object":
      return checkObject(shape, value, path, found);
    case "union":
      return checkUnion(shape, value, path, found);
  }
}

type Scalar = Extract<ShapeNode, { kind: "null" | "boolean" | "string" | "enum" | "const" | "number" }>;

function checkScalar(shape: Scalar, value: unknown, path: DocumentPath, found: Problem[]): void {
  const wrong = (code: string, message: string, remedy: string): void => {
    found.push(problem(code, path, message, remedy));
  };
  if (!fits(shape, value)) {
    wrong("TYPE", `${pathText(path)} is ${kindOf(value)}, expected ${expected(shape)}`, `write ${expected(shape)}`);
    return;
  }
  if (shape.kind === "enum" && typeof value === "string" && !shape.values.includes(value)) {
    wrong("WORD", `${quoted(value)} is not ${withArticle(shape.what)}`, suggestion(value, shape.values));
  }
  if (shape.kind === "const" && value !== shape.value) {
    wrong("WORD", `${quoted(value)} is not allowed at ${pathText(path)}`, `write ${quoted(shape.value)}`);
  }
  if (shape.kind === "string" && typeof value === "string" && shape.pattern !== undefined) {
    if (!new RegExp(shape.pattern, "u").test(value)) {
      const example = shape.example === undefined ? "" : ` such as \`${shape.example}\``;
      wrong("FORM", `${quoted(value)} is not ${withArticle(shape.what)}`, `write ${withArticle(shape.what)}${example}`);
    }
  }
  if (shape.kind === "number" && typeof value === "number") {
    const low = shape.min !== undefined && value < shape.min;
    const high = shape.max !== undefined && value > shape.max;
    if (low || high || (shape.integer && !Number.isInteger(value))) {
      const bounds = `${shape.integer ? "a whole number " : ""}from ${shape.min ?? "any"} to ${shape.max ?? "any"}`;
      wrong("RANGE", `${quoted(value)} is out of range for ${shape.what}`, `write ${bounds}`);
    }
  }
}

type ArrayNode = Extract<ShapeNode, { kind: "array" }>;

function checkArray(shape: ArrayNode, value: unknown, path: DocumentPath, found: Problem[]): void {
  if (!Array.isArray(value)) {
    found.push(problem("TYPE", path, `${pathText(path)} is ${kindOf(value)}, expected a list`, "write a list"));
    return;
  }
  if (value.length < shape.min || (shape.max !== undefined && value.length > shape.max)) {
    const bounds = shape.max === undefined ? `at least ${shape.min}` : `${shape.min} to ${shape.max}`;
    found.push(problem("LENGTH", path, `${pathText(path)} has ${value.length} entries`, `write ${bounds}`));
  }
  value.forEach((item: unknown, index) => check(shape.items, item, [...path, index], found));
}

type RecordNode = Extract<ShapeNode, { kind: "record" }>;

function checkRecord(shape: RecordNode, value: unknown, path: DocumentPath, found: Problem[]): void {
  if (!isPlainObject(value)) {
    found.push(problem("TYPE", path, `${pathText(path)} is ${kindOf(value)}, expected a map`, "write `key: value`"));
    return;
  }
  if (shape.notEmpty === true && Object.keys(value).length === 0) {
    found.push(problem("EMPTY", path, `${pathText(path)} names no ${shape.what}`, `name one, or leave it out`));
  }
  const pattern = shape.pattern === undefined ? undefined : new RegExp(shape.pattern, "u");
  for (const [key, item] of Object.entries(value)) {
    if (found.length >= diagnosticsMax) return;
    const at = [...path, key];
    if (pattern !== undefined && !pattern.test(key)) {
      const remedy = `write ${withArticle(shape.what)}`;
      found.push({ ...problem("KEY", at, `${quoted(key)} is not ${withArticle(shape.what)}`, remedy), atKey: true });
    }
    check(shape.values, item, at, found);
  }
}

function checkObject(shape: ObjectNode, value: unknown, path: DocumentPath, found: Problem[]): void {
  if (!isPlainObject(value)) {
    const message = `${pathText(path)} is ${kindOf(value)}, expected ${shape.what}`;
    const keys = Object.keys(shape.fields);
    const such = keys.length > keysNamedMax ? "keys such as " : "";
    found.push(problem("TYPE", path, message, `write a map with ${such}${names(keys.slice(0, keysNamedMax))}`));
    return;
  }
  for (const [key, item] of Object.entries(value)) {
    // Each finding costs a search for the nearest word and for its place: a flood of them must not.
    if (found.length >= diagnosticsMax) return;
    const field = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined;
    const at = [...path, key];
    if (field === undefined) {
      const message = `${quoted(key)} is not a key of ${shape.what}`;
      const remedy = suggestion(key, Object.keys(shape.fields));
      found.push({ ...problem("KEY", at, message, remedy), atKey: true });
    } else check(field.shape, item, at, found);
  }
  for (const [key, field] of Object.entries(shape.fields)) {
    if (field.required && !Object.hasOwn(value, key)) {
      found.push(problem("MISSING", path, `${shape.what} has no \`${key}\``, `add \`${key}\`: ${field.says}`));
    }
  }
  if (shape.notEmpty === true && Object.keys(value).length === 0) {
    found.push(problem("EMPTY", path, `${shape.what} says nothing`, `add ${names(Object.keys(shape.fields))}`));
  }
  checkGroup(shape, value, path, found);
}

function checkGroup(shape: ObjectNode, value: object, path: DocumentPath, found: Problem[]): void {
  if (shape.oneOf === undefined) return;
  const present = shape.oneOf.filter((key) => Object.hasOwn(value, key));
  if (present.length === 1) return;
  const message =
    present.length === 0
      ? `${shape.what} has none of ${names(shape.oneOf)}`
      : `${shape.what} has ${names(present)} at once`;
  found.push(problem("CHOICE", path, message, "keep exactly one of them"));
}

type UnionNode = Extract<ShapeNode, { kind: "union" }>;

/** The problems of the option that was most likely meant: of the right JSON kind, with the fewest problems. */
function checkUnion(shape: UnionNode, value: unknown, path: DocumentPath, found: Problem[]): void {
  let best: readonly Problem[] | undefined;
  for (const option of shape.options) {
    if (!fits(option, value)) continue;
    const problems: Problem[] = [];
    check(option, value, path, problems);
    if (problems.length === 0) return;
    if (best === undefined || problems.length < best.length) best = problems;
  }
  if (best !== undefined) {
    found.push(...best);
    return;
  }
  const message = `${pathText(path)} is ${kindOf(value)}, expected ${shape.what}`;
  found.push(problem("TYPE", path, message, `write ${shape.what}`));
}

/** The value has the JSON kind that the shape is about. */
function fits(shape: ShapeNode, value: unknown): boolean {
  switch (shape.kind) {
    case "named":
      return fits(shape.get(), value);
    case "any":
      return true;
    case "null":
      return value === null;
    case "boolean":
      return typeof value === "boolean";
    case "string":
    case "enum":
      return typeof value === "string";
    case "const":
      return typeof value === typeof shape.value;
    case "number":
      return typeof value === "number";
    case "array":
      return Array.isArray(value);
    case "record":
    case "object":
      return isPlainObject(value);
    case "union":
      return shape.options.some((option) => fits(option, value));
  }
}

function expected(shape: Scalar): string {
  switch (shape.kind) {
    case "null":
      return "nothing";
    case "boolean":
      return "`true` or `false`";
    case "const":
      return quoted(shape.value);
    case "string":
    case "enum":
    case "number":
      return withArticle(shape.what);
  }
}

function withArticle(what: string): string {
  return `${/^[aeiou]/.test(what) ? "an" : "a"} ${what}`;
}

/** More would crowd what is wrong out of the sentence. */
const keysNamedMax = 6;

function names(keys: readonly string[]): string {
  return keys.map((key) => `\`${key}\``).join(", ");
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a map";
  return typeof value === "string" ? "text" : `a ${typeof value}`;
}
