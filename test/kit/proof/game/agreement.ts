/** What solver and definitions must agree on, in every state of a game. */
import { expect } from "vitest";
import type { Result } from "../../../../src/core/result.ts";
import { type Solution, solve } from "../../../../src/proof/game/solve.ts";
import { Definitions, placesIn } from "./definitions.ts";
import { encode } from "./encode.ts";
import type { Game, Hazards, States } from "./model.ts";

/** Everything that is decided in one state; options as `round.choice`. */
export type Judged = {
  readonly winning: boolean;
  readonly critical: boolean;
  /** Φ, Φᶜ, and what of Φ the rules allow without a question. */
  readonly options: readonly string[];
  readonly excused: readonly string[];
  readonly free: readonly string[];
};

/** By the definitions, for a given W. Where a state is lost, nothing is an option: no promise could be kept there. */
export function judgedByDefinitions(game: Game, hazards: Hazards, winning: States): readonly Judged[] {
  const definitions = new Definitions(game, hazards);
  return winning.map((one, state) => {
    const places = one ? placesIn(game, state) : [];
    const options = places.filter((place) => definitions.isOption(place, winning, "permitted"));
    const name = ({ round, choice }: { round: number; choice: number }): string => `${round}.${choice}`;
    return {
      winning: one,
      critical: definitions.isCritical(state, winning),
      options: options.map(name),
      excused: places.filter((place) => definitions.isOption(place, winning, "excused")).map(name),
      free: options.filter(({ round, choice }) => game.rounds[round]?.rows[state]?.[choice]?.free === true).map(name),
    };
  });
}

/** By the solver, decoded. */
export function judgedBySolver(game: Game, hazards: Hazards): readonly Judged[] {
  const { arena, value } = encode(game);
  const { winning, options, excused, critical } = solved(solve(arena, hazards));
  const { diagram } = arena;
  // A set of states must be one: no choice may be left in it, and no code that is no state.
  for (const set of [winning, critical]) {
    expect(diagram.and(set, diagram.not(arena.domain))).toBe(0);
    for (const level of diagram.support(set)) expect(level).toBeLessThan(arena.stateCount);
  }
  return Array.from({ length: game.size }, (_, state) => {
    const some = (sets: readonly number[]) =>
      placesIn(game, state).filter(({ round, choice }) => value(sets[round] ?? 0, state, choice));
    const name = ({ round, choice }: { round: number; choice: number }): string => `${round}.${choice}`;
    return {
      winning: value(winning, state),
      critical: value(critical, state),
      options: some(options).map(name),
      excused: some(excused).map(name),
      free: some(options)
        .filter(({ round, choice }) => value(arena.rounds[round]?.free ?? 0, state, choice))
        .map(name),
    };
  });
}

function solved(result: Result<Solution, string>): Solution {
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

/** From every state of W each goal can come about inside W by moves that a person may excuse: a search from each state. */
export function expectNonBlocking(game: Game, hazards: Hazards, winning: States): void {
  const definitions = new Definitions(game, hazards);
  game.goals.forEach((goal, index) => {
    winning.forEach((one, start) => {
      if (!one) return;
      const seen = new Set([start]);
      let found = false;
      for (const state of seen) {
        const options = definitions.excusedIn(state, winning);
        found ||= goal.holds[state] === true || options.some(({ round }) => goal.rounds.includes(round));
        for (const place of options) for (const to of definitions.afterRound(place, winning)) seen.add(to);
        for (const to of definitions.afterFire(state)) seen.add(to);
      }
      expect(found, `goal ${index} from state ${start}`).toBe(true);
    });
  });
}
