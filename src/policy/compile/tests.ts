/** Argument tests, and the numbering of predicates. */
import canonicalize from "canonicalize";
import { type JsonObject, isPlainObject } from "../../core/json.ts";
import type { TestForm } from "../document/long-form.ts";
import { blockOf, compilesAsRegex } from "../values/matchers.ts";
import { type DocumentPath, type Reporter, problem, quoted } from "../document/diagnostic.ts";
import type { ArgumentTest, Predicate } from "../ir/ir.ts";
import { checkSchema } from "../values/json-schema.ts";
import { patternUnitsMax, testDepthMax } from "../values/limits.ts";
import { canonicalValue } from "../values/canonical-value.ts";
import { compareDecimal } from "../values/decimal.ts";
import type { Polarity } from "../ir/label-table.ts";

/** Predicates of one policy; equal ones share a number, since a class of calls is a vector of their truths. */
export type PredicateRegistry = {
  readonly predicates: readonly Predicate[];
  readonly add: (predicate: Predicate) => number;
};

export function predicateRegistry(): PredicateRegistry {
  const workspace: Predicate = { kind: "workspace" };
  const predicates: Predicate[] = [workspace];
  const known = new Map<string, number>([[canonicalize(workspace) ?? "", 0]]);
  return {
    predicates,
    add: (predicate) => {
      const text = canonicalize(predicate) ?? "";
      const found = known.get(text);
      if (found !== undefined) return found;
      const index = predicates.push(predicate) - 1;
      known.set(text, index);
      return index;
    },
  };
}

/**
 * A test as one tier reads it. Where it restricts, one leaf that fits is enough (`some`), so that a bad recipient is
 * not hidden among good ones; where it permits, every leaf must fit. `not` turns the reading round.
 */
export function compileTest(form: TestForm, polarity: Polarity, path: DocumentPath, report: Reporter): ArgumentTest {
  if (depthOf(form) > testDepthMax) {
    report(problem("DEPTH", path, `tests are nested deeper than ${testDepthMax}`, "flatten the test"));
    return { kind: "present" };
  }
  return convert(form, polarity, path, report);
}

function depthOf(form: TestForm): number {
  const inner = [...(form.not === undefined ? [] : [form.not]), ...(form.all ?? []), ...(form.any ?? [])];
  return 1 + inner.reduce((most, each) => Math.max(most, depthOf(each)), 0);
}

function convert(form: TestForm, polarity: Polarity, path: DocumentPath, report: Reporter): ArgumentTest {
  const other: Polarity = polarity === "restrict" ? "permit" : "restrict";
  if (form.not !== undefined) return { kind: "not", test: convert(form.not, other, [...path, "not"], report) };
  if (form.present !== undefined) {
    return form.present ? { kind: "present" } : { kind: "not", test: { kind: "present" } };
  }
  if (form.all !== undefined || form.any !== undefined) {
    // One and the same leaf must fit: `some` stands outside, and the parts speak of that leaf.
    if (polarity === "restrict" && aboutLeaves(form)) return { kind: "some", test: ofOneLeaf(form, path, report) };
    return combined(form, path, (part, at) => convert(part, polarity, at, report));
  }
  const leaf = leafTest(form, path, report);
  return polarity === "restrict" ? { kind: "some", test: leaf } : leaf;
}

/** Parts of a test inside `some`: unwrapped where they are affirmed, permissive where they are denied. */
function ofOneLeaf(form: TestForm, path: DocumentPath, report: Reporter): ArgumentTest {
  if (form.not !== undefined) return { kind: "not", test: convert(form.not, "permit", [...path, "not"], report) };
  if (form.all !== undefined || form.any !== undefined) {
    return combined(form, path, (part, at) => ofOneLeaf(part, at, report));
  }
  return leafTest(form, path, report);
}

function combined(
  form: TestForm,
  path: DocumentPath,
  part: (form: TestForm, path: DocumentPath) => ArgumentTest,
): ArgumentTest {
  const kind = form.all === undefined ? "any" : "all";
  return { kind, tests: (form.all ?? form.any ?? []).map((each, index) => part(each, [...path, kind, index])) };
}

/** A schema, a reading and presence are about the whole value; everything else is about its leaves. */
function aboutLeaves(form: TestForm): boolean {
  if (form.not !== undefined) return aboutLeaves(form.not);
  const parts = form.all ?? form.any;
  if (parts !== undefined) return parts.every(aboutLeaves);
  return form.schema === undefined && form.reads === undefined && form.present === undefined;
}

function leafTest(form: TestForm, path: DocumentPath, report: Reporter): ArgumentTest {
  if (form.equals !== undefined) return { kind: "equals", values: form.equals };
  if (form.glob !== undefined) return { kind: "glob", patterns: globs(form.glob, [...path, "glob"], report) };
  if (form.domain !== undefined) return { kind: "domain", domains: domains(form.domain, [...path, "domain"], report) };
  if (form.path !== undefined) return { kind: "path", prefixes: folders(form.path, [...path, "path"], report) };
  if (form.cidr !== undefined) return { kind: "cidr", blocks: blocks(form.cidr, [...path, "cidr"], report) };
  if (form.regex !== undefined) return { kind: "regex", pattern: regex(form.regex, [...path, "regex"], report) };
  if (form.range !== undefined) return range(form.range, [...path, "range"], report);
  if (form.schema !== undefined) return { kind: "schema", schema: schema(form.schema, [...path, "schema"], report) };
  if (form.reads !== undefined) return { kind: "reads", language: form.reads };
  if (form.label !== undefined) {
    const remedy = "write `label` directly under the argument, without `not`, `all` or `any`";
    report(problem("LABEL", path, "`label` cannot be combined with other tests", remedy));
  }
  return { kind: "present" };
}

function globs(patterns: readonly string[], path: DocumentPath, report: Reporter): readonly string[] {
  for (const pattern of patterns) {
    if (pattern.length > patternUnitsMax) {
      report(problem("GLOB", path, `the glob has more than ${patternUnitsMax} characters`, "shorten it"));
    }
  }
  return patterns;
}

function domains(names: readonly string[], path: DocumentPath, report: Reporter): readonly string[] {
  return names.map((name) => {
    const canonical = canonicalValue("domain", name);
    if (canonical === undefined) {
      report(problem("DOMAIN", path, `${quoted(name)} is not a domain`, "write a name such as `example.com`"));
    }
    return canonical ?? name;
  });
}

function folders(prefixes: readonly string[], path: DocumentPath, report: Reporter): readonly string[] {
  return prefixes.map((prefix) => {
    const canonical = canonicalValue("path", prefix);
    if (canonical === undefined)
      report(problem("PATH", path, `${quoted(prefix)} is not a path`, "write an absolute folder"));
    return canonical ?? prefix;
  });
}

function blocks(texts: readonly string[], path: DocumentPath, report: Reporter): readonly string[] {
  for (const text of texts) {
    if (blockOf(text) === undefined) {
      report(problem("CIDR", path, `${quoted(text)} is not an address block`, "write a block such as `10.0.0.0/8`"));
    }
  }
  return texts;
}

function regex(pattern: string, path: DocumentPath, report: Reporter): string {
  if (pattern.length > patternUnitsMax || !compilesAsRegex(pattern)) {
    const remedy = "use RE2 syntax: no look-around, no back-references";
    report(problem("REGEX", path, `${quoted(pattern)} is not a linear-time expression`, remedy));
  }
  return pattern;
}

function range(ends: NonNullable<TestForm["range"]>, path: DocumentPath, report: Reporter): ArgumentTest {
  const { min, max } = ends;
  if (min !== undefined && max !== undefined && compareDecimal(min, max) === 1) {
    report(problem("RANGE", path, "no number is in the range: its `min` is above its `max`", "swap the two ends"));
  }
  return { kind: "range", ...ends };
}

function schema(value: unknown, path: DocumentPath, report: Reporter): JsonObject {
  const fault = checkSchema(value);
  if (fault !== undefined) {
    report(problem("SCHEMA", path, `the schema cannot be enforced: ${fault}`, "use the documented keywords only"));
  }
  // A checked JSON object; the document gave it no type.
  return isPlainObject(value) ? (value as JsonObject) : { not: {} };
}
