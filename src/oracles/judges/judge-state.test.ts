import { expect, it } from "vitest";
import { TokenBudget } from "./judge-state.ts";

it("a server that says it used nothing gives nothing back", () => {
  const budget = new TokenBudget(10);
  expect(budget.reserve("r", 10)).toBe(true);
  budget.settle("r", 10, 0);
  expect(budget.reserve("r", 1)).toBe(false);
  budget.settle("r", 10, 4);
  expect(budget.reserve("r", 6)).toBe(true);
});

it("a budget follows so many runs", () => {
  const budget = new TokenBudget(10, 2);
  for (const run of ["a", "b", "c"]) expect(budget.reserve(run, 10)).toBe(true);
  expect(budget.reserve("c", 1)).toBe(false);
  // The first run was forgotten, which gives it a new budget; what is settled for it later changes nothing.
  budget.settle("a", 10, 5);
  expect(budget.reserve("a", 10)).toBe(true);
});
