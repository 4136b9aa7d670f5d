import fc from "fast-check";
import { expect, it } from "vitest";
import { type Chain, chain, holds } from "./chain.ts";
import type { Sentence, TokenClass } from "./sentences.ts";

const sentence = (...classes: readonly (readonly TokenClass[])[]): Sentence => ({
  text: "",
  classes: classes.map((held) => new Set(held)),
});

it("holds where each link follows within its gap", () => {
  const must = chain("obliged", 1, "tell");
  expect(holds(sentence(["obliged"], ["tell"]), must)).toBe(true);
  expect(holds(sentence(["obliged"], [], ["tell"]), must)).toBe(true);
  expect(holds(sentence(["obliged"], [], [], ["tell"]), must)).toBe(false);
  expect(holds(sentence(["tell"], ["obliged"]), must)).toBe(false);
  expect(holds(sentence(["obliged", "tell"]), must)).toBe(false);
});

it("goes on from any place where the chain stands so far, not only from the first", () => {
  const far = chain("obliged", 0, "tell", 0, "human");
  expect(holds(sentence(["obliged"], ["obliged"], ["tell"], ["tell"], ["human"]), far)).toBe(false);
  expect(holds(sentence(["obliged"], ["tell"], ["obliged"], ["tell"], ["human"]), far)).toBe(true);
});

it("takes one class of several", () => {
  const either = chain(["otherTool", "identifier"]);
  expect(holds(sentence([], ["identifier"]), either)).toBe(true);
  expect(holds(sentence([], ["parameter"]), either)).toBe(false);
  expect(holds(sentence(), either)).toBe(false);
});

it("agrees with a search through all places", () => {
  const classes = ["obliged", "tell", "human"] as const;
  const link = fc.constantFrom<TokenClass>(...classes);
  const links = fc.array(fc.record({ within: fc.nat(3), link }), { maxLength: 3 });
  const words = fc.array(fc.subarray<TokenClass>([...classes]), { maxLength: 12 });
  fc.assert(
    fc.property(words, link, links, (held, first, rest) => {
      const given = sentence(...held);
      const wanted: Chain = [first, ...rest];
      expect(holds(given, wanted)).toBe(searched(given, wanted));
    }),
  );
});

function searched({ classes }: Sentence, [first, ...rest]: Chain): boolean {
  const from = (at: number, left: typeof rest): boolean => {
    const [next, ...more] = left;
    if (next === undefined) return true;
    const places = Array.from({ length: next.within + 1 }, (_, step) => at + 1 + step);
    return places.some((place) => classes[place]?.has(next.link as TokenClass) === true && from(place, more));
  };
  return classes.some((held, at) => held.has(first as TokenClass) && from(at, rest));
}
