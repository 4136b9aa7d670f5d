import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitsBudget } from "./decimal.ts";

describe("budgets", () => {
  it("sum exactly, where doubles would not", () => {
    expect(fitsBudget("0.3", ["0.1"], "0.2")).toBe(true);
    expect(fitsBudget("0.3", ["0.1", "0.2"], "0.0000000001")).toBe(false);
  });

  it("an amount that is missing, unreadable or negative never fits", () => {
    expect(fitsBudget("10", [], undefined)).toBe(false);
    expect(fitsBudget("10", [], "ten")).toBe(false);
    expect(fitsBudget("10", ["ten"], "1")).toBe(false);
    expect(fitsBudget("10", [], "-1")).toBe(false);
    expect(fitsBudget("ten", [], "1")).toBe(false);
  });

  it("agrees with integers", () => {
    const amount = fc.nat({ max: 1_000 });
    fc.assert(
      fc.property(fc.array(amount, { maxLength: 8 }), amount, amount, (spent, next, limit) => {
        const total = spent.reduce((sum, one) => sum + one, next);
        expect(fitsBudget(String(limit), spent.map(String), String(next))).toBe(total <= limit);
      }),
    );
  });
});
