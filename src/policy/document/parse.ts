/**
 * Text of a document to its checked value. YAML 1.2 and JSON (which is YAML) go the same way, so positions are exact
 * for both. Never throws: a policy comes from disk, from an extended file, or over an administration channel, and a
 * file that cannot be read must leave the old policy in force, not stop the gateway.
 */
import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { type Result, err, ok } from "../../core/result.ts";
import { type Diagnostic, type DocumentPath, type Problem, clipped, pathText, problem, quoted } from "./diagnostic.ts";
import { checkShape } from "./check.ts";
import { isPlainObject } from "../../core/json.ts";
import type { Shape } from "./shape.ts";
import {
  diagnosticsMax,
  policyAliasesMax,
  policyBracketsMax,
  policyDepthMax,
  policyTextUnitsMax,
  policyValuesMax,
} from "../values/limits.ts";

export type Position = { readonly line: number; readonly column: number };

/** A checked document with the way back from a path to its place in the text. */
export type SourceDocument<D> = {
  readonly file: string;
  readonly document: D;
  readonly locate: (path: DocumentPath, atKey: boolean) => Position;
};

/** A kind of document, with the words that its messages use. */
export type DocumentKind<D> = {
  readonly shape: Shape<D>;
  /** `the policy` */
  readonly what: string;
  /** Remedy for a document that is too large. */
  readonly split: string;
};

const brokenText = "remove the broken character, or save the file as UTF-8";

const nowhere: Position = { line: 0, column: 0 };

export function diagnose(found: Problem, source: Pick<SourceDocument<unknown>, "file" | "locate">): Diagnostic {
  const { line, column } = source.locate(found.path, found.atKey === true);
  const { code, severity, message, remedy } = found;
  return { code, severity, message, file: source.file, line, column, remedy };
}

/** Parses and checks one document; `file` is only a name for messages. All diagnostics are errors. */
export function parseChecked<D>(
  text: string,
  file: string,
  kind: DocumentKind<D>,
): Result<SourceDocument<D>, readonly Diagnostic[]> {
  const { what, split } = kind;
  const refuse = (code: string, message: string, remedy: string, position: Position = { line: 1, column: 1 }) =>
    err([{ ...diagnose(problem(code, [], message, remedy), { file, locate: () => position }) }]);
  if (text.length > policyTextUnitsMax) {
    return refuse("SIZE", `${what} has more than ${policyTextUnitsMax} characters`, split);
  }
  if (openBrackets(text) > policyBracketsMax) {
    return refuse("SYNTAX", `${what} is nested too deeply to be read`, `keep it under ${policyDepthMax} levels`);
  }
  const lines = new LineCounter();
  let tree: Document;
  let value: unknown;
  try {
    tree = parseDocument(text, {
      version: "1.2",
      schema: "core",
      strict: true,
      // The library compares every pair of keys, which is quadratic; `checkKeys` below is linear.
      uniqueKeys: false,
      merge: false,
      prettyErrors: false,
      // The library must not print: warnings are read from the document and become errors here.
      logLevel: "error",
      lineCounter: lines,
    });
    const faults = syntaxFaults(tree, { lines, file, what, quotes: claimsVersion.test(text) });
    if (faults.length > 0) return err(faults);
    value = tree.toJS({ maxAliasCount: policyAliasesMax });
  } catch (cause) {
    // A nest too deep for the stack, or an alias bomb. The library's own text may quote the file at length.
    const bomb = cause instanceof ReferenceError;
    return bomb
      ? refuse("ALIAS", `aliases expand to more than ${policyAliasesMax} copies`, "write the values out")
      : refuse("SYNTAX", `${what} is nested too deeply to be read`, `keep it under ${policyDepthMax} levels`);
  }
  const locate = locator(tree, lines);
  const problems = problemsOf(value, kind);
  if (problems.length > 0) return err(problems.map((found) => diagnose(found, { file, locate })));
  // The shape was checked above: this is the one place where a document gets its type.
  return ok({ file, document: value as D, locate });
}

/** The line that makes a text one of our documents, also where the rest of it cannot be read. */
const claimsVersion = /(?:^|[{,\s])["']?version["']?\s*:\s*1(?![^\s,}#])/;

/**
 * A document shows by `version` that it is one. What lacks it may be any file that a link of an untrusted policy names,
 * such as a file of passwords, so no message quotes it.
 */
function foreign(value: unknown, what: string): Problem | undefined {
  if (!isPlainObject(value) || Object.hasOwn(value, "version")) return undefined;
  return problem(
    "MISSING",
    [],
    `${what} has no \`version\``,
    "add `version: 1`, or name another file; without it nothing of the file is shown",
  );
}

function problemsOf<D>(value: unknown, kind: DocumentKind<D>): readonly Problem[] {
  const unknown = foreign(value, kind.what);
  if (unknown !== undefined) return [unknown];
  const oversize = measure(value, kind);
  return oversize === undefined ? checkShape(kind.shape, value) : [oversize];
}

/** Checks a document that was built in code; it has no lines. */
export function checkBuilt<D>(
  value: unknown,
  file: string,
  kind: DocumentKind<D>,
): Result<SourceDocument<D>, readonly Diagnostic[]> {
  const locate = (): Position => nowhere;
  const problems = problemsOf(value, kind);
  if (problems.length > 0) return err(problems.map((found) => diagnose(found, { file, locate })));
  return ok({ file, document: value as D, locate }); // checked on the line above
}

/** Most brackets that are open at one place. */
function openBrackets(text: string): number {
  let open = 0;
  let most = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x5b || code === 0x7b) open += 1;
    else if ((code === 0x5d || code === 0x7d) && open > 0) open -= 1;
    if (open > most) most = open;
  }
  return most;
}

type Reading = {
  readonly lines: LineCounter;
  readonly file: string;
  readonly what: string;
  /** Messages may quote the text. */
  readonly quotes: boolean;
};

function syntaxFaults(tree: Document, { lines, file, what, quotes }: Reading): readonly Diagnostic[] {
  const at = (offset: number): Position => position(lines, offset);
  const faults: Diagnostic[] = [];
  const add = (code: string, message: string, remedy: string, offset: number): void => {
    if (faults.length < diagnosticsMax) {
      faults.push(diagnose(problem(code, [], message, remedy), { file, locate: () => at(offset) }));
    }
  };
  for (const fault of tree.errors.slice(0, diagnosticsMax)) {
    const detail = quotes ? `: ${clipped(oneLine(fault.message))}` : "";
    add("SYNTAX", `not readable as YAML 1.2${detail}`, "fix the syntax here", fault.pos[0]);
  }
  for (const fault of tree.warnings.slice(0, diagnosticsMax)) {
    const tag = fault.code === "TAG_RESOLVE_FAILED";
    const message = quotes ? clipped(oneLine(fault.message)) : "not readable as YAML 1.2";
    add(tag ? "TAG" : "SYNTAX", message, tag ? "remove the tag" : "fix it", fault.pos[0]);
  }
  if (faults.length > 0 || (!quotes && isMap(tree.contents) && !tree.contents.has("version"))) return faults;
  if (tree.contents === null) add("EMPTY", `${what} is empty`, "start with `version: 1`", 0);
  visit(tree, {
    Scalar: (_, node) => checkTag(node, add),
    Seq: (_, node) => checkTag(node, add),
    Map: (_, node) => {
      checkTag(node, add);
      checkKeys(node, add);
    },
  });
  return faults;
}

type AddFault = (code: string, message: string, remedy: string, offset: number) => void;

/** The library also knows tags outside the core schema, `!!binary` for one; a policy is plain JSON. */
const coreTags: readonly string[] = ["str", "int", "float", "bool", "null", "map", "seq"].map(
  (name) => `tag:yaml.org,2002:${name}`,
);

function checkTag(node: Scalar | YAMLSeq | YAMLMap, add: AddFault): void {
  if (node.tag === undefined || coreTags.includes(node.tag)) return;
  add("TAG", `the tag ${quoted(node.tag)} is not allowed`, "remove the tag", offsetOf(node) ?? 0);
}

/** Duplicate keys would let the last of two rules win in silence. */
function checkKeys(node: YAMLMap, add: AddFault): void {
  const seen = new Set<string>();
  for (const pair of node.items) {
    const offset = offsetOf(pair.key) ?? offsetOf(node) ?? 0;
    const written: unknown = isScalar(pair.key) ? pair.key.value : undefined;
    if (typeof written !== "string" && typeof written !== "number" && typeof written !== "boolean") {
      add("KEY", "a key that is not a word", "write a plain word before the colon", offset);
      continue;
    }
    const key = String(written);
    if (seen.has(key)) add("DUPLICATE", `${quoted(key)} is written twice in one map`, "keep one of them", offset);
    seen.add(key);
  }
}

/** Bounds what aliases may multiply, and refuses numbers that JSON or a double cannot carry. */
function measure(value: unknown, { what, split }: Pick<DocumentKind<unknown>, "what" | "split">): Problem | undefined {
  let count = 0;
  const walk = (item: unknown, path: DocumentPath): Problem | undefined => {
    count += 1;
    if (count > policyValuesMax) {
      return problem("SIZE", [], `${what} has more than ${policyValuesMax} values`, split);
    }
    if (path.length > policyDepthMax) {
      return problem("DEPTH", path.slice(0, 8), `nested deeper than ${policyDepthMax} levels`, "flatten this part");
    }
    if (typeof item === "number" && (!Number.isFinite(item) || Math.abs(item) > Number.MAX_SAFE_INTEGER)) {
      const remedy = "write it in quotes, as exact text";
      return problem("NUMBER", path, `${pathText(path)} is a number that cannot be kept exactly`, remedy);
    }
    if (typeof item === "bigint" || typeof item === "function" || typeof item === "symbol" || item === undefined) {
      return problem("TYPE", path, `${pathText(path)} is not a JSON value`, "write text, a number, a list or a map");
    }
    // RFC 8785 has no text for half a surrogate pair, so such a policy would have no digest.
    if (typeof item === "string" && !item.isWellFormed()) {
      return problem("TEXT", path, `${pathText(path)} is not Unicode text`, brokenText);
    }
    const entries: Iterable<readonly [string | number, unknown]> = Array.isArray(item)
      ? item.entries()
      : isPlainObject(item)
        ? Object.entries(item)
        : [];
    for (const [key, child] of entries) {
      if (typeof key === "string" && !key.isWellFormed()) {
        return problem("TEXT", path, "a key is not Unicode text", brokenText);
      }
      const found = walk(child, [...path, key]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return walk(value, []);
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, " ").trim();
}

function position(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return line === 0 ? { line: 1, column: 1 } : { line, column: col };
}

function offsetOf(node: unknown): number | undefined {
  const range = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range : undefined;
  return range?.[0];
}

/** Walks the tree as far as the path goes; what is missing is reported at the nearest enclosing value. */
function locator(tree: Document, lines: LineCounter): SourceDocument<unknown>["locate"] {
  return (path, atKey) => {
    let node: Node | null = tree.contents;
    let offset = offsetOf(node) ?? 0;
    for (const [index, part] of path.entries()) {
      if (isAlias(node)) node = node.resolve(tree) ?? null;
      const next: Pair | Node | undefined = childOf(node, part);
      if (next === undefined) break;
      const value: unknown = isPair(next) ? next.value : next;
      const key = isPair(next) ? offsetOf(next.key) : undefined;
      const last = index === path.length - 1;
      offset = (last && atKey ? key : (offsetOf(value) ?? key)) ?? offset;
      if (!isMap(value) && !isSeq(value) && !isAlias(value)) break;
      node = value;
    }
    return position(lines, offset);
  };
}

function childOf(node: Node | null, part: string | number): Pair | Node | undefined {
  if (isMap(node)) return node.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(part));
  if (!isSeq(node) || typeof part !== "number") return undefined;
  const item: unknown = node.items[part];
  return isScalar(item) || isMap(item) || isSeq(item) || isAlias(item) ? item : undefined;
}
