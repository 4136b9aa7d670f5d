import fc from "fast-check";
import { expect, it } from "vitest";
import { atMost, fromBits, makeLattice } from "../label.ts";
import { labelOfNames, restrictionNames } from "./restriction-names.ts";

const made = makeLattice({
  levels: ["public", "sensitive", "private"],
  categories: ["medical"],
  groups: ["me", "anyone"],
});
if (!made.ok) throw new Error(made.error);
const lattice = made.value;

it("gives every restriction its name", () => {
  expect(restrictionNames(lattice, lattice.bottom)).toEqual([]);
  expect(restrictionNames(lattice, lattice.top)).toEqual(["private", "medical", "not me", "not anyone", "untrusted"]);
});

it("names stand for the label they came from, with every lower level", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: lattice.top }), (bits) => {
      const label = fromBits(lattice, bits);
      if (label === undefined) throw new Error("every number up to the top is a label");
      const back = labelOfNames(lattice, restrictionNames(lattice, label));
      expect(restrictionNames(lattice, back)).toEqual(restrictionNames(lattice, label));
      // Level bits are a thermometer: a label with a hole in it is none that a policy can write.
      expect(atMost(label, back) || (bits & lattice.levelMask) === 2).toBe(true);
    }),
  );
});

it.each([["secret"], ["not staff"], [""], ["__proto__"]])("takes the unknown name %j for the worst label", (name) => {
  expect(labelOfNames(lattice, [name])).toBe(lattice.top);
});

it("knows that trust is no restriction", () => {
  expect(labelOfNames(lattice, ["trusted", "public"])).toBe(lattice.bottom);
});
