/**
 * The definitions of formal.md 4.5, word for word and one state at a time. Slow on purpose: it is the oracle, and shares
 * nothing with the solver.
 */
import type { Badness, Game, Hazards, Row, States } from "./model.ts";

/** Who may lift what: `permitted` knows no consent, `excused` lets a person take a dispatch or release of a `may` hazard. */
export type Leave = "permitted" | "excused";

const isBad = (one: Badness, hazards: Hazards): boolean => one.never || (hazards === "all" && one.may);

/** States in which something bad can fire at once. */
export function firesBadly({ size, fires }: Game, hazards: Hazards): States {
  return Array.from({ length: size }, (_, state) =>
    fires.some((move) => (move[state] ?? []).some((one) => one.possible && isBad(one, hazards))),
  );
}

/** The operators for one game and one set of hazards. */
export class Definitions {
  readonly game: Game;
  readonly hazards: Hazards;
  readonly #loud: States;

  constructor(game: Game, hazards: Hazards) {
    this.game = game;
    this.hazards = hazards;
    this.#loud = firesBadly(game, hazards);
  }

  /** S: the largest part of a set that no fire or tick leaves or makes bad. */
  closed(within: States): States {
    const kept = [...within];
    for (let changed = true; changed;) {
      changed = false;
      for (let state = 0; state < this.game.size; state += 1) {
        if (kept[state] !== true) continue;
        if (this.#loud[state] !== true && this.afterFire(state).every((to) => kept[to] === true)) continue;
        kept[state] = false;
        changed = true;
      }
    }
    return kept;
  }

  /** Where fire and tick can lead. */
  afterFire(state: number): readonly number[] {
    return this.game.fires.flatMap((move) => (move[state] ?? []).flatMap(({ possible, to }) => (possible ? [to] : [])));
  }

  /** Whether the gateway may end the round thus: nothing bad in it, fire in its middle included, and its end within. */
  mayRelease(row: Row, [outcome, release]: readonly [number, number], within: States, leave: Leave): boolean {
    const landing = row.landings[outcome]?.[release];
    const counts: Hazards = leave === "excused" ? "never" : this.hazards;
    return (
      landing !== undefined &&
      !isBad(row, counts) &&
      !isBad(landing, counts) &&
      this.#loud[row.middle] !== true &&
      within[landing.to] === true
    );
  }

  /** Φ: not denied, every outcome has a release, and some that has not failed can be passed or withheld. */
  isOption(place: Place, within: States, leave: Leave): boolean {
    const round = this.game.rounds[place.round];
    const row = round?.rows[place.state]?.[place.choice];
    if (round === undefined || row === undefined || !row.open) return false;
    const released = round.outcomes.map(({ releases }, outcome) =>
      releases.filter((_, release) => this.mayRelease(row, [outcome, release], within, leave)),
    );
    return (
      released.every((some) => some.length > 0) &&
      round.outcomes.some(
        ({ failed }, outcome) => !failed && (released[outcome] ?? []).some((release) => release !== "reject"),
      )
    );
  }

  /** Φᶜ of a state. */
  excusedIn(state: number, within: States): readonly Place[] {
    return placesIn(this.game, state).filter((place) => this.isOption(place, within, "excused"));
  }

  /** States after a round that somebody can bring about with consent. */
  afterRound(place: Place, within: States): readonly number[] {
    const row = this.game.rounds[place.round]?.rows[place.state]?.[place.choice];
    if (row === undefined) return [];
    return row.landings.flatMap((landings, outcome) =>
      landings.flatMap(({ to }, release) => (this.mayRelease(row, [outcome, release], within, "excused") ? [to] : [])),
    );
  }

  /** reach of one goal: the least part of a set from which the goal can come about within it. */
  reaching(goal: number, within: States): States {
    const reached = within.map(() => false);
    const wanted = this.game.goals[goal];
    // What can be done depends on the set alone, not on what is reached so far.
    const moves = within.map((inside, state) => {
      const options = inside ? this.excusedIn(state, within) : [];
      const holds = wanted?.holds[state] === true || options.some(({ round }) => wanted?.rounds.includes(round));
      const after = [...options.flatMap((place) => this.afterRound(place, within)), ...this.afterFire(state)];
      return { holds, after: [...new Set(after)] };
    });
    for (let changed = true; changed;) {
      changed = false;
      for (const [state, { holds, after }] of moves.entries()) {
        if (reached[state] === true || within[state] !== true) continue;
        if (!holds && !after.some((to) => reached[to] === true)) continue;
        reached[state] = true;
        changed = true;
      }
    }
    return reached;
  }

  /** Whether a set is a solution: nothing leaves it unasked, and each goal can be met inside it. */
  isSolution(within: States): boolean {
    return (
      same(this.closed(within), within) && this.game.goals.every((_, goal) => same(this.reaching(goal, within), within))
    );
  }

  /** Some option has an outcome whose pass is not permitted. */
  isCritical(state: number, winning: States): boolean {
    return (
      winning[state] === true &&
      placesIn(this.game, state).some(({ round: index, choice }) => {
        const round = this.game.rounds[index];
        const row = round?.rows[state]?.[choice];
        if (round === undefined || row === undefined || !row.open) return false;
        return round.outcomes.some(({ releases }, outcome) =>
          releases.every(
            (kind, release) => kind !== "pass" || !this.mayRelease(row, [outcome, release], winning, "permitted"),
          ),
        );
      })
    );
  }
}

/** A call that could be made: a round in a state with a choice. */
export type Place = { readonly round: number; readonly state: number; readonly choice: number };

export function placesIn({ rounds, choices }: Game, state: number): readonly Place[] {
  return rounds.flatMap((_, round) => Array.from({ length: choices }, (__, choice) => ({ round, state, choice })));
}

export function same(left: States, right: States): boolean {
  return left.every((value, state) => value === right[state]);
}
