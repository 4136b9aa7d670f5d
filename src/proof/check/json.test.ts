import fc from "fast-check";
import { expect, it } from "vitest";
import { depthMax, plainCopy, quoted, textOf } from "./json.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

it("law: JSON is copied as it is, and two copies with one text are equal", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const copy = plainCopy(value);
      expect(JSON.parse(textOf(copy ?? null))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
    { numRuns: runs },
  );
});

it("law: whatever is given, nothing is thrown", () => {
  fc.assert(
    fc.property(fc.anything({ withMap: true, withBigInt: true, withDate: true, withSparseArray: true }), (value) => {
      const copy = plainCopy(value);
      if (copy !== undefined) expect(plainCopy(JSON.parse(textOf(copy)))).toBeDefined();
    }),
    { numRuns: runs },
  );
});

it("members are sorted by UTF-16 code units, and numbers written as RFC 8785 does", () => {
  expect(textOf({ "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\u{1f600}": 5, "\u0080": 6, "\u00f6": 7 })).toBe(
    `{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}`,
  );
  expect(textOf([1e30, 4.5, 2e-3, 1e-27, -0, true, null])).toBe("[1e+30,4.5,0.002,1e-27,0,true,null]");
});

it("keys that mean something elsewhere are plain members", () => {
  const copy = plainCopy(JSON.parse(`{"__proto__": {"a": 1}, "constructor": 2}`));
  expect(Object.getPrototypeOf(copy)).toBeNull();
  expect(textOf(copy ?? null)).toBe(`{"__proto__":{"a":1},"constructor":2}`);
});

it("depth, cycles, size and what is no JSON end the copy", () => {
  const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
  expect(plainCopy(nested(depthMax))).toBeDefined();
  expect(plainCopy(nested(depthMax + 1))).toBeUndefined();
  const cyclic: { self?: unknown; twin?: unknown } = {};
  cyclic.self = cyclic;
  cyclic.twin = [cyclic, cyclic];
  expect(plainCopy(cyclic, 10_000)).toBeUndefined();
  expect(plainCopy([0, 0, 0], 4)).toEqual([0, 0, 0]);
  expect(plainCopy([0, 0, 0], 3)).toBeUndefined();
  expect(plainCopy([1, , 2])).toBeUndefined(); // oxlint-disable-line no-sparse-arrays -- the hole is the point
  for (const value of [NaN, Infinity, 1n, undefined, new Date(0), () => 1, { a: undefined }])
    expect(plainCopy(value)).toBeUndefined();
});

it("a foreign text is short and quoted", () => {
  expect(quoted('a"\n')).toBe('"a\\"\\n"');
  expect(quoted("x".repeat(100))).toHaveLength(65);
});
