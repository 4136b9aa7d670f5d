import { expect, it } from "vitest";
import type { Json } from "./json.ts";
import { predicateOf, workspacePredicate } from "./predicates.ts";

function converted(form: Json, restricts: boolean): unknown {
  const refusals: string[] = [];
  const predicate: unknown = JSON.parse(
    predicateOf("a", form, { restricts, refuse: (reason) => void refusals.push(reason) }),
  );
  return refusals[0] ?? predicate;
}
const both = (form: Json, restricting: unknown, permitting: unknown): void => {
  expect(converted(form, true)).toEqual({ kind: "argument", argument: "a", ...(restricting as object) });
  expect(converted(form, false)).toEqual({ kind: "argument", argument: "a", ...(permitting as object) });
};
const some = (test: unknown): unknown => ({ test: { kind: "some", test }, ifAbsent: true });
const every = (test: unknown): unknown => ({ test, ifAbsent: false });

it.each([
  [{ equals: ["x", 1] }, { kind: "equals", values: ["x", 1] }],
  [{ glob: ["*"] }, { kind: "glob", patterns: ["*"] }],
  [{ domain: ["example.com"] }, { kind: "domain", domains: ["example.com"] }],
  [{ path: ["/a"] }, { kind: "path", prefixes: ["/a"] }],
  [{ cidr: ["10.0.0.0/8"] }, { kind: "cidr", blocks: ["10.0.0.0/8"] }],
  [{ regex: "^a$" }, { kind: "regex", pattern: "^a$" }],
  [{ range: { max: "3" } }, { kind: "range", max: "3" }],
  [{ schema: { type: "string" } }, { kind: "schema", schema: { type: "string" } }],
  [{ reads: "sql:postgres" }, { kind: "reads", language: "sql:postgres" }],
] as const)("a basic test: %j", (form, test) => {
  both(form, some(test), every(test));
});

it("presence, negation and combinations", () => {
  const present = { test: { kind: "present" }, ifAbsent: false };
  both({ present: true }, present, present);
  const absent = { test: { kind: "not", test: { kind: "present" } }, ifAbsent: true };
  both({ present: false }, absent, absent);
  const [x, y] = [{ equals: ["x"] }, { equals: ["y"] }] as const;
  const [isX, isY] = [
    { kind: "equals", values: ["x"] },
    { kind: "equals", values: ["y"] },
  ];
  both(
    { not: x },
    { test: { kind: "not", test: isX }, ifAbsent: true },
    { test: { kind: "not", test: { kind: "some", test: isX } }, ifAbsent: false },
  );
  both(
    { any: [x, { all: [y, { not: x }] }] },
    some({ kind: "any", tests: [isX, { kind: "all", tests: [isY, { kind: "not", test: isX }] }] }),
    every({
      kind: "any",
      tests: [isX, { kind: "all", tests: [isY, { kind: "not", test: { kind: "some", test: isX } }] }],
    }),
  );
  both(
    { all: [x, { present: true }] },
    { test: { kind: "all", tests: [{ kind: "some", test: isX }, { kind: "present" }] }, ifAbsent: true },
    every({ kind: "all", tests: [isX, { kind: "present" }] }),
  );
  const reads = { kind: "reads", language: "shell" };
  expect(converted({ all: [{ reads: "shell" }] }, true)).toMatchObject({
    test: { kind: "all", tests: [{ kind: "some", test: reads }] },
  });
  const schema = { kind: "schema", schema: 1 };
  expect(converted({ any: [{ not: { schema: 1 } }] }, true)).toMatchObject({
    test: { kind: "any", tests: [{ kind: "not", test: schema }] },
  });
  expect(workspacePredicate).toBe('{"kind":"workspace"}');
});

it("what is no test is refused", () => {
  expect(converted({ like: "x" }, true)).toMatch(/tests an argument by "like"/);
  expect(converted({ __proto__: null, constructor: 1 }, false)).toMatch(/by "constructor"/);
  for (const form of [{}, { glob: [], path: [] }, [], null, 1])
    expect(converted(form, true)).toMatch(/not exactly one member/);
  expect(converted({ all: 1 }, true)).toMatch(/not a list/);
  expect(converted({ any: {} }, false)).toMatch(/not a list/);
});
