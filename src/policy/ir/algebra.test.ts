import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bitsOf, booleans, every, gated, hasAll, hasAny, joinVectors, some, vectorOf } from "./algebra.ts";

const bits = fc.nat({ max: 0xff });
const width = 8;
const vector = (value: number) => vectorOf(booleans, value, width);

describe("the booleans", () => {
  it("are the usual ones", () => {
    fc.assert(
      fc.property(fc.boolean(), fc.boolean(), fc.boolean(), (a, b, c) => {
        expect(booleans.not(a)).toBe(!a);
        expect(booleans.and(a, b)).toBe(a && b);
        expect(booleans.or(a, b)).toBe(a || b);
        expect(booleans.ite(a, b, c)).toBe(booleans.or(booleans.and(a, b), booleans.and(booleans.not(a), c)));
        expect(booleans.constant(a)).toBe(a);
        expect(some(booleans, [a, b, c])).toBe([a, b, c].includes(true));
        expect(every(booleans, [a, b, c])).toBe(![a, b, c].includes(false));
      }),
    );
  });
});

describe("vectors of an algebra", () => {
  it("are what the bits are: join, all of, any of", () => {
    fc.assert(
      fc.property(bits, bits, (left, right) => {
        expect(bitsOf(vector(left))).toBe(left);
        expect(bitsOf(joinVectors(booleans, vector(left), vector(right)))).toBe(left | right);
        expect(hasAll(booleans, vector(left), right)).toBe((left & right) === right);
        expect(hasAny(booleans, vector(left), right)).toBe((left & right) !== 0);
      }),
    );
  });

  it("count only where they are present", () => {
    expect(bitsOf(gated(booleans, true, vector(5)))).toBe(5);
    expect(bitsOf(gated(booleans, false, vector(5)))).toBe(0);
  });

  it("a shorter vector has no further restrictions, and a longer one loses none", () => {
    expect(bitsOf(joinVectors(booleans, vector(0b101), [true]))).toBe(0b101);
    expect(bitsOf(joinVectors(booleans, vector(0b100), [true, true]))).toBe(0b111);
  });
});
