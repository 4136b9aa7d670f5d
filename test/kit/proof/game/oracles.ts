/** Two ways to the largest solution that are meant to be obviously right: all subsets, and the plain iteration. */
import { Definitions, same } from "./definitions.ts";
import type { Game, Hazards, States } from "./model.ts";

/** States up to which all subsets are looked at. */
export const subsetStatesMax = 10;

/** The union of all sets that are solutions, each of which is tried by itself. */
export function unionOfSolutions(game: Game, hazards: Hazards): States {
  if (game.size > subsetStatesMax) throw new Error(`${game.size} states have too many subsets`);
  const definitions = new Definitions(game, hazards);
  let union: States = Array.from({ length: game.size }, () => false);
  for (let set = 1; set < 2 ** game.size; set += 1) {
    const within = Array.from({ length: game.size }, (_, state) => (set & (1 << state)) !== 0);
    // What adds nothing to the union need not be a solution.
    if (within.every((one, state) => !one || union[state] === true)) continue;
    if (definitions.isSolution(within)) union = union.map((one, state) => one || within[state] === true);
  }
  return union;
}

/** The iteration of formal.md 4.5, in its order, until nothing changes. */
export function iterated(game: Game, hazards: Hazards): States {
  const definitions = new Definitions(game, hazards);
  let within: States = Array.from({ length: game.size }, () => true);
  for (;;) {
    const before = within;
    within = definitions.closed(within);
    game.goals.forEach((_, goal) => {
      within = definitions.reaching(goal, within);
    });
    if (same(before, within)) return within;
  }
}
