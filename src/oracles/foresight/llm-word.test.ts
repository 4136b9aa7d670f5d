import { describe, expect, it } from "vitest";
import { labelChances, sureOf } from "./llm-answer.ts";

const candidates = (of: Readonly<Record<string, number>>) =>
  Object.entries(of).map(([token, chance]) => ({ token, logProbability: Math.log(chance) }));

describe("chances of labels", () => {
  it("are renormalised over the three words and their beginnings", () => {
    const found = labelChances(candidates({ safe: 0.3, " Safe": 0.1, un: 0.2, crit: 0.2, '"': 0.05, hello: 0.15 }));
    expect(found?.safe).toBeCloseTo(0.5);
    expect(found?.unsafe).toBeCloseTo(0.25);
    expect(found?.critical).toBeCloseTo(0.25);
  });

  it.each([
    [undefined],
    [[]],
    [candidates({ "<think>": 0.99, safe: 0.01 })],
    [candidates({ hello: 0.6, safe: 0.4 })],
    [candidates({ safe: 0 })],
    // Little of the whole probability was reported: what is missing could be anything.
    [candidates({ safe: 0.01 })],
  ])("are not made up from %j", (first) => {
    expect(labelChances(first)).toBeUndefined();
  });
});

it.each([
  [{ safe: 0.99, critical: 0.005, unsafe: 0.005 }, true, "safe"],
  [{ safe: 0.97, critical: 0.03, unsafe: 0 }, true, "doubt"],
  [{ safe: 0.005, critical: 0.005, unsafe: 0.99 }, true, "unsafe"],
  [{ safe: 0.005, critical: 0.005, unsafe: 0.99 }, false, "doubt"],
  [{ safe: 0.5, critical: 0.25, unsafe: 0.25 }, true, "doubt"],
] as const)("%j with a pending call (%s) is %s", (chances, pending, wanted) => {
  expect(sureOf(chances, pending)).toBe(wanted);
});
