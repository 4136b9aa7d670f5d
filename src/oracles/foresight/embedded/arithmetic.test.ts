import fc from "fast-check";
import { expect, test } from "vitest";
import { exponential, probability } from "./arithmetic.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

test("the exponential is that of Math, up to the last few bits, and cut at its ends", () => {
  fc.assert(
    fc.property(fc.double({ min: -40, max: 40, noNaN: true }), (x) => {
      expect(Math.abs(exponential(x) / Math.exp(x) - 1)).toBeLessThan(1e-13);
    }),
    { numRuns: runs },
  );
  expect(exponential(0)).toBe(1);
  expect(exponential(1e9)).toBe(exponential(40));
  expect(exponential(-1e9)).toBe(exponential(-40));
});

test("a probability lies between 0 and 1 and grows with the score", () => {
  expect(probability(0)).toBe(0.5);
  expect(probability(-40)).toBeLessThan(1e-15);
  expect(probability(3)).toBeGreaterThan(probability(2));
  expect(probability(Number.NEGATIVE_INFINITY)).toBeGreaterThan(0);
});

test("a score that is no number is danger, not safety", () => {
  expect(probability(Number.NaN)).toBe(1);
});
