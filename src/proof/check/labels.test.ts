import { describe, expect, it } from "vitest";
import { type Lattice, atomOf, bitCount, bitsOf, groupsOf, untrusted, upperBound } from "./labels.ts";

const refusals: string[] = [];
// Bits: 0 and 1 levels, 2 medical, 3 finance, 4 me, 5 org, 6 anyone, 7 untrusted.
const lattice: Lattice = {
  levels: ["public", "private", "secret"],
  categories: ["medical", "finance"],
  groups: ["me", "org", "anyone"],
  refuse: (reason) => void refusals.push(reason),
};
const bits = (label: bigint): readonly number[] => bitsOf(label);

it("the bits of a lattice", () => {
  expect(bitCount(lattice)).toBe(8);
  expect(untrusted(lattice)).toBe(128n);
  expect(groupsOf(lattice, ["me", "anyone"])).toBe(0b101n);
});

describe("an atom", () => {
  it.each([
    [{ confidentiality: "public" }, [], [0, 1, 2, 3, 4, 5, 6]],
    [{ confidentiality: "private" }, [0], [1, 2, 3, 4, 5, 6]],
    [{ confidentiality: "secret", categories: ["finance"] }, [0, 1, 3], [2, 4, 5, 6]],
    [{ categories: ["medical"] }, [2], [3]],
    [{ readers: ["me", "org"] }, [6], [4, 5]],
    [{ trust: "untrusted" }, [7], []],
    [{ trust: "trusted" }, [], [7]],
    [{ confidentiality: "secret", readers: [] }, [0, 1, 4, 5, 6], [2, 3]],
    [{}, [], []],
  ])("%j", (form, atLeast, forbidden) => {
    const restricting = atomOf(lattice, form, true);
    const permitting = atomOf(lattice, form, false);
    expect([restricting.kind, bits(restricting.bits)]).toEqual(["atLeast", atLeast]);
    expect([permitting.kind, bits(permitting.bits)]).toEqual(["atMost", forbidden]);
  });
});

describe("the upper bound of a store", () => {
  it.each([
    [undefined, [7]],
    [{}, [0, 1, 2, 3, 4, 5, 6, 7]],
    [{ confidentiality: "unsure", trust: "trusted" }, [0, 1, 2, 3, 4, 5, 6]],
    [{ confidentiality: ["public", "private"], trust: "unsure" }, [0, 7]],
    [{ confidentiality: "inferred", trust: "inferred", categories: ["medical"] }, [2]],
    [{ confidentiality: "secret", trust: ["trusted", "untrusted"], readers: ["anyone"] }, [0, 1, 4, 5, 7]],
  ])("%j", (form, expected) => {
    expect(bits(upperBound(lattice, form))).toEqual(expected);
  });
});

it("a name that the lattice lacks is refused", () => {
  const names = (form: object): string => {
    refusals.length = 0;
    atomOf(lattice, form, true);
    return refusals.join("; ");
  };
  expect(names({ confidentiality: "top" })).toMatch(/"\\"top\\"" is not a level/);
  expect(names({ confidentiality: ["public", "secret"] })).toMatch(/not a level/);
  expect(names({ categories: ["__proto__"] })).toMatch(/not a category or group/);
  expect(names({ readers: ["nobody"] })).toMatch(/not a category or group/);
  expect(names({ trust: "some" })).toMatch(/is not a trust/);
  expect(names({ confidentiality: "secret" })).toBe("");
});
