// The oracles of the game against each other, before anything else is compared with them.
import fc from "fast-check";
import { expect, it } from "vitest";
import { iterated, subsetStatesMax, unionOfSolutions } from "../../kit/proof/game/oracles.ts";
import { games } from "../../kit/proof/game/random-game.ts";

const numRuns = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

const met = { all: 0, some: 0, none: 0, consent: 0 };

it(
  "law: the plain iteration ends in the union of all solutions",
  () => {
    fc.assert(
      fc.property(games({ min: 2, max: subsetStatesMax }), (game) => {
        const all = iterated(game, "all");
        const never = iterated(game, "never");
        expect(unionOfSolutions(game, "all")).toEqual(all);
        expect(unionOfSolutions(game, "never")).toEqual(never);
        met[all.every(Boolean) ? "all" : all.some(Boolean) ? "some" : "none"] += 1;
        if (all.some((one, state) => one !== never[state])) met.consent += 1;
      }),
      { numRuns },
    );
  },
  numRuns * 500,
);

it("the law above meets games that are lost in part, and such that consent changes", () => {
  if (process.env["SHOW"] !== undefined) console.log(met);
  expect(met.some).toBeGreaterThan(numRuns / 10);
  expect(met.none).toBeGreaterThan(numRuns / 100);
  expect(met.consent).toBeGreaterThan(numRuns / 20);
});
