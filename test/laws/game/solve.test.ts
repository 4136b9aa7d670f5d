// The solver on diagrams against the definitions of formal.md 4.5, on random games.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectNonBlocking, judgedByDefinitions, judgedBySolver } from "../../kit/proof/game/agreement.ts";
import type { Game, Hazards } from "../../kit/proof/game/model.ts";
import { iterated, subsetStatesMax, unionOfSolutions } from "../../kit/proof/game/oracles.ts";
import { games } from "../../kit/proof/game/random-game.ts";

// 2,000 games where nothing else is said, 10,000 in a full run.
const numRuns = Math.min(10_000, Number(process.env["SLUICEGATE_RUNS"] ?? 200) * 10);
/** Larger games cost more and say less. */
const largeRuns = Math.ceil(numRuns / 10);
const largeStatesMax = 64;

const met = { kept: 0, part: 0, lost: 0, critical: 0, asked: 0, lateConsent: 0 };

function agree(game: Game, winningBy: (game: Game, hazards: Hazards) => readonly boolean[]): void {
  const [star, consented] = (["all", "never"] as const).map((hazards) => {
    const winning = winningBy(game, hazards);
    const expected = judgedByDefinitions(game, hazards, winning);
    expect(judgedBySolver(game, hazards)).toEqual(expected);
    expectNonBlocking(game, hazards, winning);
    return expected;
  });
  if (star === undefined || consented === undefined) return;
  const inside = star.filter(({ winning }) => winning).length;
  met[inside === game.size ? "kept" : inside > 0 ? "part" : "lost"] += 1;
  if (star.some(({ critical }) => critical)) met.critical += 1;
  // W* is within W!, and Φ* within Φ of W!: what needs no question is no worse with one.
  star.forEach(({ winning, options }, state) => {
    const other = consented[state];
    if (winning) expect(other?.winning).toBe(true);
    for (const option of options) expect(other?.options).toContain(option);
    if (other?.options.some((option) => !star[state]?.free.includes(option)) === true) met.asked += 1;
    if (other?.winning === true && !winning) met.lateConsent += 1;
  });
}

describe("the solver and the definitions", () => {
  it(
    "law: the union of all solutions over all subsets, what is permitted and excused in it, and its classes",
    () => {
      fc.assert(
        fc.property(games({ min: 2, max: subsetStatesMax }), (game) => agree(game, unionOfSolutions)),
        { numRuns },
      );
    },
    numRuns * 100,
  );

  it(
    "law: the same of larger games, by a plain iteration over their states",
    () => {
      fc.assert(
        fc.property(games({ min: 11, max: largeStatesMax }), (game) => agree(game, iterated)),
        { numRuns: largeRuns },
      );
    },
    largeRuns * 500,
  );

  it("the laws above meet games of every kind", () => {
    if (process.env["SHOW"] !== undefined) console.log(met);
    for (const count of Object.values(met)) expect(count).toBeGreaterThan(numRuns / 20);
  });
});

it(
  "law: more hazards never make an option of what was none",
  () => {
    fc.assert(
      fc.property(games({ min: 2, max: 20 }), fc.infiniteStream(fc.nat({ max: 9 })), (game, stream) => {
        const worse = withMoreHazards(game, () => stream.next().value === 9);
        for (const hazards of ["all", "never"] as const) {
          const before = judgedBySolver(game, hazards);
          judgedBySolver(worse, hazards).forEach(({ winning, options }, state) => {
            if (winning) expect(before[state]?.winning).toBe(true);
            for (const option of options) expect(before[state]?.options).toContain(option);
          });
        }
      }),
      { numRuns: largeRuns },
    );
  },
  largeRuns * 500,
);

/** The same game with some moves made bad that were not. */
function withMoreHazards(game: Game, more: () => boolean): Game {
  const worse = <T extends { readonly never: boolean; readonly may: boolean }>(one: T): T => ({
    ...one,
    never: one.never || more(),
    may: one.may || more(),
  });
  return {
    ...game,
    rounds: game.rounds.map((round) => ({
      ...round,
      rows: round.rows.map((rows) =>
        rows.map((row) => ({ ...worse(row), landings: row.landings.map((some) => some.map(worse)) })),
      ),
    })),
    fires: game.fires.map((move) => move.map((row) => row.map(worse))),
  };
}
