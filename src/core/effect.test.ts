import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  covers,
  effectActions,
  effectBases,
  effectReaches,
  everyEffect,
  isEffect,
  mayCover,
  mustCover,
} from "./effect.ts";

const words = [...effectBases, ...effectReaches, ...effectActions];

describe("an effect", () => {
  it("has a base, a reach and at most one action; every one of them is listed", () => {
    expect(everyEffect).toHaveLength(effectBases.length * effectReaches.length * (1 + effectActions.length));
    expect(new Set(everyEffect).size).toBe(everyEffect.length);
    expect(everyEffect).toContain("read.local");
    expect(everyEffect).toContain("execute.external.actuate");
  });

  it("law: is one exactly where it is listed, or covers one that is", () => {
    const text = fc.array(fc.constantFrom(...words, ""), { maxLength: 4 }).map((parts) => parts.join("."));
    fc.assert(
      fc.property(text, (one) => {
        expect(isEffect(one)).toBe(everyEffect.some((effect) => covers(one, effect)));
      }),
      { numRuns: 1_000 },
    );
    for (const one of everyEffect)
      for (const more of ["", ".", ".send", ".send.send"])
        expect(isEffect(`${one}${more}`)).toBe(everyEffect.includes(`${one}${more}`));
  });

  it("covers itself and its longer forms", () => {
    expect(covers("write.local", "write.local")).toBe(true);
    expect(covers("write.local", "write.local.pay")).toBe(true);
    expect(covers("write.local.pay", "write.local")).toBe(false);
    expect(covers("write.local", "write.locally")).toBe(false);
  });
});

it("law: a list of any length may do what one of its effects may do, asked once or again", () => {
  const effect = fc.constantFrom(...everyEffect, ...effectBases);
  fc.assert(
    fc.property(fc.array(effect, { maxLength: 9 }), fc.array(effect, { minLength: 1, maxLength: 3 }), (list, asked) => {
      for (const pattern of [...asked, ...asked]) {
        expect(mayCover(pattern, list)).toBe(list.some((one) => mayCover(pattern, [one])));
        expect(mustCover(pattern, list)).toBe(list.some((one) => covers(pattern, one)));
      }
    }),
  );
});
