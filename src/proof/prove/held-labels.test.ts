// Labels as finitely many variables: which there are, and how they are joined where there are too many.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ToolLabelsText } from "../../policy/document/shapes-labels.ts";
import { question, small, space, tools } from "../../../test/kit/proof/small.ts";
import { basicLabels, heldLabels } from "./held-labels.ts";
import { heldVariablesMax } from "./limits.ts";
import { makeVariants } from "./variants.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

/** A policy with many categories and a reader for each set of them. */
function manyLabels(sets: readonly (readonly string[])[]) {
  const categories = Array.from({ length: 12 }, (_, n) => `c${n}`);
  const output = (own: readonly string[]) =>
    ({ confidentiality: "public", trust: "trusted", categories: own }) as const;
  const labels = Object.fromEntries(
    sets.map((own, n): [string, ToolLabelsText] => [`s.read${n}`, tools.reads(output(own))]),
  );
  return small({
    lattice: { confidentiality: ["public", "private"], categories },
    labels: { ...labels, "s.send": tools.sends() },
    never: { flow: { from: { categories }, to: "s.send" } },
  });
}

const sets = fc.array(fc.subarray(Array.from({ length: 12 }, (_, n) => `c${n}`)), { minLength: 1, maxLength: 40 });
const held = (own: readonly (readonly string[])[]) => {
  const subject = manyLabels(own);
  return heldLabels(question(subject), makeVariants(subject).outputs);
};

describe("held labels", () => {
  it("law: every label has exactly one variable, and there are never more than the limit", () => {
    fc.assert(
      fc.property(sets, (own) => {
        const { labels, variables } = held(own);
        expect(variables.length).toBeLessThanOrEqual(heldVariablesMax);
        expect(variables.flat().toSorted((a, b) => a - b)).toEqual(labels.map((_, index) => index));
        if (labels.length <= heldVariablesMax) expect(variables.every((group) => group.length === 1)).toBe(true);
      }),
      { numRuns: runs },
    );
  });

  it("law: every label that can come out is found again, but the empty one, and none twice", () => {
    fc.assert(
      fc.property(sets, (own) => {
        const { labels, indexOf } = held(own);
        labels.forEach((label, index) => expect(indexOf(label)).toBe(index));
        expect(new Set(labels.map(({ hi }) => hi)).size).toBe(labels.length);
        expect(indexOf({ lo: 0, hi: 0 })).toBeUndefined();
      }),
      { numRuns: Math.min(runs, 50) },
    );
  });

  it("beyond the limit the nearest share a variable, whose name tells them all", () => {
    const categories = Array.from({ length: 12 }, (_, n) => `c${n}`);
    // Twelve single ones, all of them, and fourteen pairs.
    const pairs = Array.from({ length: 14 }, (_, n) => [`c${n % 12}`, `c${(n + 1 + Math.floor(n / 12)) % 12}`]);
    const own = [...categories.map((one) => [one]), ...pairs];
    const { labels, variables } = held(own);
    expect(labels.length).toBe(27);
    expect(variables.length).toBe(24);
    const [shared = []] = variables.filter((group) => group.length > 1);
    const bits = shared.map((index) => labels[index]?.hi ?? 0);
    // A pair and what it is made of, not two labels that have nothing to do with each other.
    const join = bits.reduce((all, one) => all | one, 0);
    expect([...join.toString(2)].filter((one) => one === "1").length).toBeLessThanOrEqual(3);
    const made = space(manyLabels(own));
    const level = made.heldLevels[shared[0] ?? 0] ?? 0;
    expect(shared.every((index) => made.heldLevels[index] === level)).toBe(true);
    expect(made.variables[level]?.name).toBe(`K:${bits.join(",")}`);
  });

  it("a restriction stands for the label that a value has at least if it has it", () => {
    const { lattice } = small({
      lattice: { confidentiality: ["public", "internal", "private"], categories: ["medical"] },
      never: { call: "s.a" },
    }).policy.ir;
    expect(basicLabels(lattice, 0b111)).toEqual([
      { bit: 0, label: 0b1 },
      { bit: 1, label: 0b11 },
      { bit: 2, label: 0b100 },
    ]);
    // The lower level does not matter here, so that it is not in the label either.
    expect(basicLabels(lattice, 0b10)).toEqual([{ bit: 1, label: 0b10 }]);
  });

  it("two ends: labels that differ only in what they surely have are kept apart, however many categories there are", () => {
    const categories = Array.from({ length: 24 }, (_, n) => `c${n}`);
    const reads = (own: readonly string[]) =>
      tools.reads({ confidentiality: "unsure", trust: "trusted", categories: own });
    const subject = small({
      lattice: { confidentiality: ["public", "private"], categories },
      labels: { "s.first": reads(["c0"]), "s.second": reads(["c1"]), "s.send": tools.sends() },
      never: { flow: { from: { categories }, to: "s.send" } },
    });
    const both = question(subject, [], ["lo", "hi"]);
    const { labels, indexOf } = heldLabels(both, makeVariants(subject).outputs);
    const whole = both.mattering;
    for (const lo of [0b10, 0b100, 0]) expect(labels[indexOf({ lo, hi: whole }) ?? -1]).toEqual({ lo, hi: whole });
  });

  it("two ends: an uncertain label is another one than a certain one", () => {
    const subject = small({
      labels: {
        "s.sure": tools.reads({ confidentiality: "private", trust: "trusted" }),
        "s.unsure": tools.reads({ confidentiality: "unsure", trust: "trusted" }),
        "s.send": tools.sends(),
      },
      never: { flow: { from: "private", to: "s.send" } },
    });
    const { outputs } = makeVariants(subject);
    expect(heldLabels(question(subject), outputs).labels).toHaveLength(1);
    expect(heldLabels(question(subject, [], ["lo", "hi"]), outputs).labels).toEqual([
      { lo: 0, hi: 1 },
      { lo: 1, hi: 1 },
    ]);
  });
});
