/** Games of a few named variables, written by hand: the worked examples of formal.md. A state is one digit per variable. */
import { type Judged, judgedByDefinitions, judgedBySolver } from "./agreement.ts";
import { iterated } from "./oracles.ts";
import type { Badness, Game, Landing, ReleaseKind } from "./model.ts";
import { expect } from "vitest";

export type Vector = Readonly<Record<string, 0 | 1>>;
/** What changes. */
export type Change = (state: Vector) => Vector;
export type Test = (state: Vector) => boolean;

/** One way in which a call can end; a release that is missing is one that the gateway does not have. */
export type End = { readonly failed?: boolean } & { readonly [Kind in ReleaseKind]?: Change };

export type HandCall = {
  readonly name: string;
  readonly denied?: Test;
  readonly bad?: Test;
  /** What dispatch changes, whatever follows. */
  readonly atDispatch?: Change;
  readonly ends: readonly End[];
  /** Releases that are bad, as opening a handle can be. */
  readonly badRelease?: Test;
};

export type HandMove = { readonly possible?: Test; readonly bad?: Test; readonly changes?: Change };

export type HandGame = {
  readonly variables: readonly string[];
  readonly consent: "never" | "may";
  readonly calls: readonly HandCall[];
  readonly fires?: readonly HandMove[];
  /** States that count, or names of calls of which one must stay possible. */
  readonly goals?: readonly (Test | readonly string[])[];
};

/** It changes nothing. */
export const stays: Change = () => ({});

export function gameOf({ variables, consent, calls, fires = [], goals = [] }: HandGame): Game {
  const size = 2 ** variables.length;
  const vector = (state: number): Vector =>
    Object.fromEntries(variables.map((name, bit) => [name, ((state >> bit) & 1) === 1 ? 1 : 0]));
  const after = (state: number, ...changes: readonly (Change | undefined)[]): number => {
    const end = changes.reduce<Vector>((now, change) => ({ ...now, ...change?.(now) }), vector(state));
    return variables.reduce((code, name, bit) => code | (end[name] === 1 ? 1 << bit : 0), 0);
  };
  const badness = (bad: boolean): Badness => ({ never: bad && consent === "never", may: bad && consent === "may" });
  const states = Array.from({ length: size }, (_, state) => state);
  const kinds = (end: End): readonly ReleaseKind[] =>
    (["pass", "withhold", "reject"] as const).filter((kind) => end[kind] !== undefined);
  const rounds = calls.map(({ ends, denied, bad, atDispatch, badRelease }) => ({
    outcomes: ends.map((end) => ({ failed: end.failed === true, releases: kinds(end) })),
    rows: states.map((state) => {
      const open = denied?.(vector(state)) !== true;
      const landing = (end: End, kind: ReleaseKind): Landing => ({
        to: after(state, atDispatch, end[kind]),
        ...badness(badRelease?.(vector(state)) === true),
      });
      const landings = ends.map((end) => kinds(end).map((kind) => landing(end, kind)));
      const middle = after(state, atDispatch);
      return [{ open, free: open, ...badness(bad?.(vector(state)) === true), middle, landings }];
    }),
  }));
  return {
    size,
    choices: 1,
    rounds,
    fires: fires.map(({ possible, bad, changes }) =>
      states.map((state) => [
        {
          possible: possible?.(vector(state)) ?? true,
          ...badness(bad?.(vector(state)) === true),
          to: after(state, changes),
        },
      ]),
    ),
    goals: goals.map((goal) =>
      typeof goal === "function"
        ? { holds: states.map((state) => goal(vector(state))), rounds: [] }
        : {
            holds: states.map(() => false),
            rounds: goal.map((name) => calls.findIndex((call) => call.name === name)),
          },
    ),
  };
}

/** One row of a table: the class of the state, the calls of Φ*, and those of Φ?; all other calls are refused. */
export type Line = readonly [kind: "safe" | "critical" | "unsafe", free: readonly string[], asked: readonly string[]];

/** All rows by the solver, keyed by the digits of the state; the definitions must say the same. */
export function linesOf(hand: HandGame): Readonly<Record<string, Line>> {
  const game = gameOf(hand);
  const [star = [], consented = []] = (["all", "never"] as const).map((hazards): readonly Judged[] => {
    const judged = judgedBySolver(game, hazards);
    expect(judged).toEqual(judgedByDefinitions(game, hazards, iterated(game, hazards)));
    return judged;
  });
  const named = (options: readonly string[]): readonly string[] =>
    options.map((option) => hand.calls[Number(option.split(".")[0])]?.name ?? option);
  return Object.fromEntries(
    star.map(({ winning, critical, free }, state): [string, Line] => {
      const digits = hand.variables.map((_, bit) => (state >> bit) & 1).join("");
      const asked = (consented[state]?.options ?? []).filter((option) => !free.includes(option));
      return [digits, [winning ? (critical ? "critical" : "safe") : "unsafe", named(free), named(asked)]];
    }),
  );
}
