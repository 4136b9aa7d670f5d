/** Argument tests as each tier reads them, compared with what they say of one value and of each of several. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../../core/json.ts";
import { evaluateTest } from "../semantics/argument-tests.ts";
import type { TestForm } from "../document/long-form.ts";
import type { Problem } from "../document/diagnostic.ts";
import { patternUnitsMax, testDepthMax } from "../values/limits.ts";
import type { Polarity } from "../ir/label-table.ts";
import { compileTest, predicateRegistry } from "./tests.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

function compiled(form: TestForm, polarity: Polarity) {
  const problems: Problem[] = [];
  const test = compileTest(form, polarity, ["arg", "a"], (found) => void problems.push(found));
  return { test, problems, holds: (value: Json): boolean => evaluateTest(test, value) };
}

describe("a test", () => {
  const letters = ["p", "q", "r"];
  const { form } = fc.letrec<{ form: TestForm }>((tie) => ({
    form: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.subarray(letters, { minLength: 1 }).map((equals) => ({ equals })),
      fc.subarray(letters, { minLength: 1 }).map((glob) => ({ glob })),
      fc.boolean().map((present) => ({ present })),
      tie("form").map((not) => ({ not })),
      fc.array(tie("form"), { minLength: 1, maxLength: 3 }).map((all) => ({ all })),
      fc.array(tie("form"), { minLength: 1, maxLength: 3 }).map((any) => ({ any })),
    ),
  }));

  /** What the test says of a value that is there, in plain logic. */
  const fits = (said: TestForm, value: string): boolean => {
    if (said.not !== undefined) return !fits(said.not, value);
    if (said.all !== undefined) return said.all.every((each) => fits(each, value));
    if (said.any !== undefined) return said.any.some((each) => fits(each, value));
    return said.present ?? (said.equals ?? said.glob ?? []).includes(value);
  };

  it("law: means of one value what it says, restricting or permitting", () => {
    fc.assert(
      fc.property(form, fc.constantFrom(...letters), (said, value) => {
        expect(compiled(said, "restrict").holds(value)).toBe(fits(said, value));
        expect(compiled(said, "permit").holds(value)).toBe(fits(said, value));
      }),
      { numRuns: runs },
    );
  });

  it("law: of several holds where it restricts if it fits any, and where it permits only if it fits every one", () => {
    fc.assert(
      fc.property(form, fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 4 }), (said, list) => {
        if (list.some((value) => fits(said, value))) expect(compiled(said, "restrict").holds(list)).toBe(true);
        if (!list.every((value) => fits(said, value))) expect(compiled(said, "permit").holds(list)).toBe(false);
      }),
      { numRuns: runs },
    );
  });

  const list = { type: "array" };
  it.each<[TestForm, Json, boolean, boolean]>([
    // One and the same value has to fit all of it.
    [{ all: [{ glob: ["a*"] }, { not: { glob: ["*z"] } }] }, ["az", "b"], false, false],
    [{ all: [{ glob: ["a*"] }, { not: { glob: ["*z"] } }] }, ["az", "ab"], true, false],
    [{ any: [{ all: [{ glob: ["a*"] }, { glob: ["*z"] }] }, { equals: ["c"] }] }, ["ab", "cz"], false, false],
    [{ not: { all: [{ glob: ["a*"] }, { glob: ["*z"] }] } }, ["az", "b"], true, false],
    // A schema and presence are about the argument as a whole, beside whatever value fits the rest. So is a reading: nothing
    // is known of a value without a reader, which permits nothing, and restricts where the rest does.
    [{ all: [{ equals: ["a"] }, { reads: "shell" }] }, ["a", "b"], true, false],
    [{ any: [{ not: { reads: "shell" } }] }, "a", true, false],
    [{ all: [{ equals: ["a"] }, { schema: list }] }, ["a", "b"], true, false],
    [{ all: [{ equals: ["a"] }, { schema: list }] }, "a", false, false],
    [{ all: [{ equals: ["a"] }, { not: { schema: list } }] }, ["a"], false, false],
    [{ all: [{ equals: ["a"] }, { any: [{ schema: list }] }] }, ["a"], true, true],
    [{ all: [{ equals: ["a"] }, { present: true }] }, ["a", "b"], true, false],
    [{ any: [{ equals: ["a"] }, { present: false }] }, ["b"], false, false],
    [{ schema: list }, ["a"], true, true],
    [{ range: { min: "1", max: "2" } }, [1, 5], true, false],
  ])("%j of %j restricts: %s, permits: %s", (said, value, restricts, permits) => {
    expect(compiled(said, "restrict").holds(value)).toBe(restricts);
    expect(compiled(said, "permit").holds(value)).toBe(permits);
  });

  it.each<[TestForm, object]>([
    [{ equals: ["x"] }, { kind: "equals", values: ["x"] }],
    [{ glob: ["x*"] }, { kind: "glob", patterns: ["x*"] }],
    [{ domain: ["Example.COM"] }, { kind: "domain", domains: ["example.com"] }],
    [{ path: ["/a/../b/"] }, { kind: "path", prefixes: ["/b"] }],
    [{ cidr: ["10.0.0.0/8"] }, { kind: "cidr", blocks: ["10.0.0.0/8"] }],
    [{ regex: "^x" }, { kind: "regex", pattern: "^x" }],
    [{ range: { min: "1" } }, { kind: "range", min: "1" }],
    [{ schema: { type: "string" } }, { kind: "schema", schema: { type: "string" } }],
    [{ reads: "shell" }, { kind: "reads", language: "shell" }],
  ])("%j is about every value where it permits, and about any where it restricts", (said, leaf) => {
    expect(compiled(said, "permit")).toMatchObject({ test: leaf, problems: [] });
    expect(compiled(said, "restrict")).toMatchObject({ test: { kind: "some", test: leaf }, problems: [] });
    expect(compiled(said, "permit").test).toEqual(leaf);
  });
});

describe("what a test cannot be", () => {
  const nested = (depth: number): TestForm =>
    Array.from({ length: depth }).reduce<TestForm>((inner) => ({ not: inner }), { equals: ["x"] });
  const long = (units: number): string => "x".repeat(units);
  const linear = "use RE2 syntax: no look-around, no back-references";

  it.each<[string, TestForm, string, readonly (string | number)[], string, string]>([
    ["deep", nested(testDepthMax), "DEPTH", [], "tests are nested deeper than 16", "flatten the test"],
    [
      "long",
      { glob: [long(patternUnitsMax + 1)] },
      "GLOB",
      ["glob"],
      "the glob has more than 1024 characters",
      "shorten it",
    ],
    [
      "no domain",
      { not: { domain: ["a b"] } },
      "DOMAIN",
      ["not", "domain"],
      "`a b` is not a domain",
      "write a name such as `example.com`",
    ],
    [
      "no path",
      { any: [{ equals: ["x"] }, { path: [""] }] },
      "PATH",
      ["any", 1, "path"],
      "`` is not a path",
      "write an absolute folder",
    ],
    [
      "no block",
      { all: [{ not: { cidr: ["10.0.0.0/99"] } }] },
      "CIDR",
      ["all", 0, "not", "cidr"],
      "`10.0.0.0/99` is not an address block",
      "write a block such as `10.0.0.0/8`",
    ],
    ["not linear", { regex: "(?=x)" }, "REGEX", ["regex"], "`(?=x)` is not a linear-time expression", linear],
    [
      "an empty range",
      { range: { min: "2", max: "1" } },
      "RANGE",
      ["range"],
      "no number is in the range: its `min` is above its `max`",
      "swap the two ends",
    ],
    [
      "no schema",
      { schema: { type: 5 } },
      "SCHEMA",
      ["schema"],
      "the schema cannot be enforced: `type` has a value of the wrong kind",
      "use the documented keywords only",
    ],
    [
      "a label beside others",
      { all: [{ label: {} }] },
      "LABEL",
      ["all", 0],
      "`label` cannot be combined with other tests",
      "write `label` directly under the argument, without `not`, `all` or `any`",
    ],
  ])("%s", (_what, said, code, path, message, remedy) => {
    for (const polarity of ["restrict", "permit"] as const) {
      expect(compiled(said, polarity).problems).toEqual([
        { code: `SG-POLICY-${code}`, severity: "error", path: ["arg", "a", ...path], message, remedy },
      ]);
    }
  });

  it("begins right above the limits", () => {
    const most: readonly TestForm[] = [
      nested(testDepthMax - 1),
      { glob: [long(patternUnitsMax)] },
      { regex: long(patternUnitsMax) },
    ];
    for (const said of most) expect(compiled(said, "restrict").problems).toEqual([]);
    expect(compiled({ regex: long(patternUnitsMax + 1) }, "restrict").problems).toMatchObject([
      { code: "SG-POLICY-REGEX" },
    ]);
  });

  it("stands for something all the same, so that the rest can be looked at", () => {
    expect(compiled(nested(testDepthMax), "permit").test).toEqual({ kind: "present" });
    expect(compiled({ label: {} }, "permit").test).toEqual({ kind: "present" });
    expect(compiled({ domain: ["a b"] }, "permit").test).toEqual({ kind: "domain", domains: ["a b"] });
    expect(compiled({ path: [""] }, "permit").test).toEqual({ kind: "path", prefixes: [""] });
    expect(compiled({ schema: [] }, "permit").test).toEqual({ kind: "schema", schema: { not: {} } });
  });
});

it("equal predicates share a number, however their parts are ordered, and the workspace has the first", () => {
  const { predicates, add } = predicateRegistry();
  expect(predicates).toEqual([{ kind: "workspace" }]);
  expect(add({ kind: "workspace" })).toBe(0);
  const test = { kind: "range", min: "1", max: "2" } as const;
  expect(add({ kind: "argument", argument: "a", test, ifAbsent: true })).toBe(1);
  expect(add({ ifAbsent: true, test: { max: "2", min: "1", kind: "range" }, argument: "a", kind: "argument" })).toBe(1);
  expect(add({ kind: "argument", argument: "a", test, ifAbsent: false })).toBe(2);
  expect(predicates).toHaveLength(3);
});
