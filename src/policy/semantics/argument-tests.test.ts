import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../core/json.ts";
import type { ReadValue } from "../../core/reading.ts";
import { evaluateTest } from "./argument-tests.ts";
import type { TestForm } from "../document/long-form.ts";
import { testForm } from "../document/label-forms.ts";
import { compileTest } from "../compile/tests.ts";
import type { TestText } from "../document/shapes-labels.ts";
import { testLeavesMax } from "../values/limits.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

function holds(text: TestText, polarity: "restrict" | "permit", value: Json): boolean {
  const problems: unknown[] = [];
  const compiled = compileTest(testForm(text), polarity, [], (found) => void problems.push(found));
  expect(problems).toEqual([]);
  return evaluateTest(compiled, value);
}

describe("leaves", () => {
  test.each<[TestText, Json, boolean]>([
    ["x", "x", true],
    [5, 5, true],
    [5, JSON.rawJSON("5.0"), true],
    [{ equals: [true, null] }, null, true],
    [{ equals: ["a"] }, "A", false],
    [{ glob: "*.md" }, "notes.md", true],
    [{ glob: "*.md" }, "a/notes.md", false],
    [{ glob: "**/*.md" }, "a/notes.md", true],
    [{ glob: "**/*.md" }, "notes.md", true],
    [{ glob: "/w/**" }, "/w/a/b", true],
    [{ glob: "a?c" }, "abc", true],
    [{ glob: "a.c" }, "abc", false],
    [{ glob: "a**c" }, "a/b/c", true],
    [{ domain: "example.com" }, "bob@Example.COM", true],
    [{ domain: "example.com" }, "https://mail.example.com/x", true],
    [{ domain: "example.com" }, "mail.example.com:443", true],
    [{ domain: "example.com" }, "mailto:bob@example.com", true],
    [{ domain: "example.com" }, "notexample.com", false],
    [{ domain: "example.com" }, "https://example.com@evil.org/", false],
    [{ domain: "example.com" }, "", false],
    [{ path: "/w" }, "/w/a/../b", true],
    [{ path: "/w" }, "/w/../etc/passwd", false],
    [{ cidr: "10.0.0.0/8" }, "10.1.2.3", true],
    [{ cidr: "10.0.0.0/8" }, "http://10.1.2.3:80/x", true],
    [{ cidr: "10.0.0.0/8" }, "::ffff:10.1.2.3", true],
    [{ cidr: "fe80::/10" }, "[fe80::1]:80", true],
    [{ cidr: "10.0.0.0/8" }, "11.0.0.1", false],
    [{ cidr: "127.0.0.1" }, "http://2130706433/", true],
    [{ regex: "^a+$" }, "aaa", true],
    [{ regex: "b" }, 5, false],
    [{ range: { min: 1, max: "10.5" } }, 10.5, true],
    [{ range: { min: 1, max: "10.5" } }, "10.50", true],
    [{ range: { max: 10 } }, JSON.rawJSON("10.0000000000000000001"), false],
    [{ range: { max: 10 } }, true, false],
    [{ schema: { type: "string", minLength: 2 } }, "ab", true],
    [{ schema: { type: "string", minLength: 2 } }, "a", false],
    [{ present: true }, null, true],
    [{ glob: ["*.md", "*.txt"] }, "a.txt", true],
    [{ domain: ["example.com", "example.org"] }, "bob@example.org", true],
    [{ path: ["/v", "/w"] }, "/w/a", true],
    [{ cidr: ["10.0.0.0/8", "11.0.0.0/8"] }, "11.0.0.1", true],
    [{ glob: "*" }, null, false],
    [{ range: { min: 1, max: 1 } }, 1, true],
    [{ any: ["a", "b"] }, "b", true],
    [{ all: [{ glob: "a*" }, { not: { glob: "*z" } }] }, "ab", true],
    [{ all: [{ glob: "a*" }, { not: { glob: "*z" } }] }, "az", false],
  ])("%j on %j", (text, value, wanted) => {
    expect(holds(text, "restrict", value)).toBe(wanted);
    expect(holds(text, "permit", value)).toBe(wanted);
  });
});

test("a list is as outside as its most outside member", () => {
  const inside = "ann@example.com";
  const outside = "eve@example.org";
  expect(holds({ not: { domain: "example.com" } }, "restrict", [inside, outside])).toBe(true);
  expect(holds({ not: { domain: "example.com" } }, "restrict", [inside])).toBe(false);
  expect(holds({ domain: "example.org" }, "restrict", [inside, outside])).toBe(true);
  expect(holds({ domain: "example.com" }, "permit", [inside, outside])).toBe(false);
  expect(holds({ not: { domain: "example.org" } }, "permit", [inside, outside])).toBe(false);
  expect(holds({ domain: "example.com" }, "permit", [])).toBe(false);
  expect(holds({ domain: "example.org" }, "restrict", { to: [{ mail: outside }] })).toBe(true);
  expect(holds({ domain: "example.org" }, "restrict", "Eve <eve@example.org>, ann@example.com")).toBe(true);
});

test("what restricts does not depend on how a server reads a value", () => {
  for (const yes of [true, "True", " yes", "ON", 1, "1", ["no", "t"], '[true, "x"]']) {
    expect(holds(true, "restrict", yes)).toBe(true);
    expect(holds(true, "permit", yes)).toBe(yes === true);
  }
  for (const other of [false, "False", 0, "truest", null]) expect(holds(true, "restrict", other)).toBe(false);
  expect(holds(false, "restrict", "No")).toBe(true);
  expect(holds(5, "restrict", " 5.0")).toBe(true);
  expect(holds("5", "permit", 5)).toBe(false);
  expect(holds(5, "permit", "5")).toBe(false);
  for (const list of ['["a", "secret"]', ' [["secret"]]', '{"x": "secret"}']) {
    expect(holds("secret", "restrict", list)).toBe(true);
    expect(holds({ glob: "sec*" }, "restrict", [list])).toBe(true);
    expect(holds({ not: { equals: ["a", list] } }, "restrict", list)).toBe(false);
  }
  expect(holds("secret", "restrict", "[secret")).toBe(false);
  expect(holds("secret", "restrict", `["secret"${" ".repeat(1_048_576)}]`)).toBe(true);
});

test("both halves of a combined test speak of one leaf", () => {
  const template = { all: [{ glob: "**/.env.*" }, { not: { glob: "**/.env.example" } }] };
  expect(holds(template, "restrict", ["a", ".env.example"])).toBe(false);
  expect(holds(template, "restrict", [".env.example", ".env.local"])).toBe(true);
  expect(holds({ any: [template, "x"] }, "restrict", [".env.example"])).toBe(false);
});

test("odd spellings of a path neither escape a restriction nor earn a permission", () => {
  for (const path of ["/w//private/x", "/w/./private/x", "/w/PRIVATE/x", "/w/a/../private/x", "w\\private\\x"]) {
    expect(holds({ glob: "**/private/**" }, "restrict", path)).toBe(true);
  }
  expect(holds({ glob: "/w/**" }, "permit", "/w/../etc/passwd")).toBe(false);
  expect(holds({ path: "/w" }, "restrict", "relative")).toBe(true);
  expect(holds({ path: "/w" }, "permit", "relative")).toBe(false);
  expect(holds({ path: "src" }, "permit", "src/a")).toBe(true);
});

test("what cannot be judged restricts and permits nothing", () => {
  const long = "a".repeat(1_048_577);
  expect(holds({ regex: "zzz" }, "restrict", long)).toBe(true);
  expect(holds({ regex: "a" }, "permit", long)).toBe(false);
  const many = Array.from({ length: testLeavesMax + 1 }, () => "a");
  expect(holds("b", "restrict", many)).toBe(true);
  expect(holds("a", "permit", many)).toBe(false);
  expect(holds({ range: { max: 10 } }, "restrict", "ten")).toBe(true);
  const loop = { $ref: "#" };
  expect(holds({ schema: loop }, "restrict", 1)).toBe(true);
  expect(holds({ schema: loop }, "permit", 1)).toBe(false);
});

const leaf = fc.oneof(
  fc.constantFrom("a", "b", "/w/x", "bob@example.com"),
  fc.integer({ min: 0, max: 9 }),
  fc.constant(null),
);
const atom: fc.Arbitrary<TestForm> = fc.oneof(
  fc.constantFrom<TestForm>({ equals: ["a"] }, { glob: ["a*"] }, { domain: ["example.com"] }, { path: ["/w"] }),
  fc.constantFrom<TestForm>(
    { regex: "a" },
    { range: { max: "5" } },
    { cidr: ["10.0.0.0/8"] },
    { schema: { type: "array" } },
  ),
);
const anyTest: fc.Arbitrary<TestForm> = fc.letrec<{ test: TestForm }>((tie) => ({
  test: fc.oneof(
    { maxDepth: 3 },
    atom,
    tie("test").map((not) => ({ not })),
    fc.array(tie("test"), { minLength: 1, maxLength: 3 }).map((all) => ({ all })),
    fc.array(tie("test"), { minLength: 1, maxLength: 3 }).map((any) => ({ any })),
  ),
})).test;

test("law: whatever permits also restricts, for one leaf; restricting is never narrower", () => {
  fc.assert(
    fc.property(anyTest, leaf, (form, value) => {
      const permit = evaluateTest(
        compileTest(form, "permit", [], () => undefined),
        value,
      );
      const restrict = evaluateTest(
        compileTest(form, "restrict", [], () => undefined),
        value,
      );
      expect(!permit || restrict).toBe(true);
    }),
    { numRuns: runs },
  );
});

test("law: another list entry never loosens a test without schemas", () => {
  const plain = anyTest.filter((form) => !JSON.stringify(form).includes("schema"));
  fc.assert(
    fc.property(plain, fc.array(leaf, { minLength: 1, maxLength: 4 }), leaf, (form, values, more) => {
      const permit = compileTest(form, "permit", [], () => undefined);
      const restrict = compileTest(form, "restrict", [], () => undefined);
      if (evaluateTest(restrict, values)) expect(evaluateTest(restrict, [...values, more])).toBe(true);
      if (!evaluateTest(permit, values)) expect(evaluateTest(permit, [...values, more])).toBe(false);
    }),
    { numRuns: runs },
  );
});

test("law: a test answers for every JSON value", () => {
  fc.assert(
    fc.property(anyTest, fc.jsonValue(), (form, value) => {
      const json = JSON.parse(JSON.stringify(value)) as Json; // a JSON value by construction
      expect(
        typeof evaluateTest(
          compileTest(form, "restrict", [], () => undefined),
          json,
        ),
      ).toBe("boolean");
    }),
    { numRuns: runs },
  );
});

test("some of some is some: what matters is that one leaf fits", () => {
  const inner = { kind: "some", test: { kind: "equals", values: ["x"] } } as const;
  expect(evaluateTest({ kind: "some", test: inner }, ["y", "x"])).toBe(true);
  expect(evaluateTest({ kind: "some", test: inner }, ["y"])).toBe(false);
});

describe("a reading", () => {
  const read: ReadValue = (language, value) =>
    value === "reads" ? { kind: "reads" } : { kind: value === "acts" ? "acts" : "unread", because: `no ${language}` };
  const compiled = (text: TestText, polarity: "restrict" | "permit"): ReturnType<typeof compileTest> =>
    compileTest(testForm(text), polarity, [], () => undefined);

  test.each<[TestText, Json, boolean, boolean]>([
    // What it is, where a permission and where a restriction is asked.
    [{ reads: "shell" }, "reads", true, true],
    [{ reads: "shell" }, "acts", false, false],
    [{ reads: "shell" }, "unknown", false, true],
    [{ not: { reads: "shell" } }, "reads", false, false],
    [{ not: { reads: "shell" } }, "acts", true, true],
    [{ not: { reads: "shell" } }, "unknown", false, true],
    [{ all: [{ reads: "shell" }, "reads"] }, "reads", true, true],
    [{ any: [{ reads: "shell" }, "acts"] }, "acts", true, true],
    [{ any: [{ not: { reads: "shell" } }, "x"] }, "reads", false, false],
  ])("%j of %j", (text, value, permits, restricts) => {
    expect(evaluateTest(compiled(text, "permit"), value, read)).toBe(permits);
    expect(evaluateTest(compiled(text, "restrict"), value, read)).toBe(restricts);
  });

  test("without a reader it permits nothing and lifts no restriction", () => {
    expect(evaluateTest(compiled({ reads: "shell" }, "permit"), "ls")).toBe(false);
    expect(evaluateTest(compiled({ not: { reads: "shell" } }, "permit"), "ls")).toBe(false);
    expect(evaluateTest(compiled({ not: { reads: "shell" } }, "restrict"), "ls")).toBe(true);
  });
});
