/** Values that name something, and values that name nothing. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { carriedLeavesMax, carriesValue } from "./carries.ts";

it.each([null, true, false, [], {}, "", " \t", [null, [true, {}]], { a: { b: [] } }, { "eve@x.com": true }])(
  "%j carries nothing",
  (value) => {
    expect(carriesValue(value)).toBe(false);
  },
);

it.each(["a", 0, -1.5, [null, "a"], { a: { b: [false, 1] } }])("%j carries a value", (value) => {
  expect(carriesValue(value)).toBe(true);
});

it("a value with more leaves than are looked at counts as carrying nothing", () => {
  const nulls = Array.from({ length: carriedLeavesMax }, () => null);
  expect(carriesValue(["a", ...nulls])).toBe(false);
  expect(carriesValue([nulls.slice(2), "a"])).toBe(true);
});

it("law: a list carries something iff one of its elements does", () => {
  const values = fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 5 });
  fc.assert(
    fc.property(values, (list) => {
      const whole = carriesValue(list as never);
      expect(whole).toBe(list.some((one) => carriesValue(one as never)));
    }),
  );
});
