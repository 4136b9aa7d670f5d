/** A game of numbered states as an arena: binary codes, with codes that are no state behaving as badly as they can. */
import { Diagram, type Node } from "../../../../src/proof/prove/diagram.ts";
import type { Arena, Bad, Update } from "../../../../src/proof/game/arena.ts";
import type { Badness, Game } from "./model.ts";

const nodesMax = 400_000;

export type Encoded = {
  readonly arena: Arena;
  /** The value of a function in one state with one choice. */
  readonly value: (node: Node, state: number, choice?: number) => boolean;
};

export function encode(game: Game): Encoded {
  const diagram = new Diagram(nodesMax);
  const stateCount = Math.max(1, Math.ceil(Math.log2(game.size)));
  const levels = stateCount + Math.ceil(Math.log2(game.choices));
  const bitOf = (state: number, level: number): boolean => ((state >> level) & 1) === 1;

  /** A function by its table; codes of no state are given whatever `stray` says. */
  const table = (value: (state: number, choice: number) => boolean, stray: (code: number) => boolean): Node => {
    const build = (level: number, code: number): Node => {
      if (level < levels) {
        return diagram.ite(diagram.variable(level), build(level + 1, code | (1 << level)), build(level + 1, code));
      }
      const [state, choice] = [code & ((1 << stateCount) - 1), code >> stateCount];
      return diagram.constant(state < game.size ? value(state, choice) : stray(state));
    };
    return build(0, 0);
  };
  const overStates = (holds: readonly boolean[]): Node =>
    table(
      (state) => holds[state] === true,
      () => true,
    );
  const update = (to: (state: number, choice: number) => number): Update =>
    new Map(
      Array.from({ length: stateCount }, (_, level) => [
        level,
        table(
          (state, choice) => bitOf(to(state, choice), level),
          // From a code that is no state one comes anywhere: what the solver thinks of it must not matter.
          (code) => bitOf(5 * code + 3, level),
        ),
      ]),
    );
  const bad = (of: (state: number, choice: number) => Badness | undefined): Bad => ({
    never: table(
      (state, choice) => of(state, choice)?.never === true,
      (code) => code % 3 === 0,
    ),
    may: table(
      (state, choice) => of(state, choice)?.may === true,
      (code) => code % 2 === 0,
    ),
  });

  const arena: Arena = {
    diagram,
    stateCount,
    rounds: game.rounds.map(({ outcomes, rows }, index) => {
      const at = (state: number, choice: number) => rows[state]?.[choice];
      return {
        name: `round ${index}`,
        open: table(
          (state, choice) => at(state, choice)?.open === true,
          () => true,
        ),
        free: table(
          (state, choice) => at(state, choice)?.free === true,
          () => true,
        ),
        bad: bad(at),
        middle: update((state, choice) => at(state, choice)?.middle ?? state),
        outcomes: outcomes.map(({ failed, releases }, outcome) => ({
          failed,
          releases: releases.map((kind, release) => {
            const landing = (state: number, choice: number) => at(state, choice)?.landings[outcome]?.[release];
            return {
              kind,
              next: update((state, choice) => landing(state, choice)?.to ?? state),
              bad: bad(landing),
            };
          }),
        })),
      };
    }),
    uncontrollable: game.fires.map((move, index) => {
      const at = (state: number, choice: number) => move[state]?.[choice];
      return {
        name: `fire ${index}`,
        possible: table(
          (state, choice) => at(state, choice)?.possible === true,
          () => true,
        ),
        bad: bad(at),
        next: update((state, choice) => at(state, choice)?.to ?? state),
      };
    }),
    goals: game.goals.map(({ holds, rounds }, index) => ({
      name: `goal ${index}`,
      holds: overStates(holds),
      rounds,
    })),
    domain: table(
      () => true,
      () => false,
    ),
  };
  return {
    arena,
    value: (node, state, choice = 0) =>
      diagram.evaluate(node, (level) => bitOf(level < stateCount ? state : choice << stateCount, level)),
  };
}
