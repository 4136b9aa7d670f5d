/**
 * Regulation with debts and firm keeps over plain values: the whole game of formal.md 4.5 for a policy of one hazard, as a
 * game of numbered states. Its states are all that can be reached from some state by any call that the rules do not deny
 * and by anything uncontrollable, so that nothing outside of them matters.
 */
import type { ToolSelector } from "../../../../src/policy/ir/ir.ts";
import { nameMatches } from "../../../../src/policy/semantics/patterns.ts";
import type { Subject } from "../../../../src/proof/prove/subject.ts";
import { Explorer, textOf } from "../explicit.ts";
import { actsBadly, tick } from "../explicit-environment.ts";
import { type MoveArgument, type State, type World, fires, makeWorld, matches } from "../explicit-model.ts";
import {
  type Class,
  type Reading,
  afterDispatch,
  brought,
  choicesOf,
  judge,
  optionsOf,
  read,
  startOf,
  withHeld,
} from "../explicit-moves.ts";
import { coreOf, hazardId } from "../random-policy.ts";
import type { Trial } from "./explicit-regulation.ts";
import type { Badness, Fire, Game, Row } from "./model.ts";

/** Beyond these a policy is too large to be played here. */
const statesMax = 100;
const optionsMax = 12;

export type GoalGame = {
  readonly world: World;
  readonly game: Game;
  /** By number. */
  readonly states: readonly State[];
  /** What each row of the game is, by round and state. */
  readonly trials: readonly (readonly (readonly Trial[])[])[];
};

type Option = { readonly trial: Trial; readonly reading: Reading; readonly open: boolean; readonly free: boolean };

/** The ends of a call: failed with its effects, failed without any, succeeded. Each can be passed or rejected. */
const shape = [{ failed: true }, { failed: true }, { failed: false }] as const;
const releases = ["pass", "reject"] as const;

/** Rules that follow keys are left to tests of their own: what they do depends on more than one automaton. */
export function goalGame(subject: Subject, starts: (world: World) => readonly State[]): GoalGame | undefined {
  const world = makeWorld(
    subject,
    hazardId,
    [...coreOf(subject)].filter((id) => id !== "default" && id !== "bounds"),
  );
  const asking = makeWorld(subject, hazardId, coreOf(subject));
  const { classes } = new Explorer(world);
  const numbers = new Map<string, number>();
  const states: State[] = [];
  const numberOf = (after: State): number => {
    // A call is a round here: it has ended before the next one, so none is on its way.
    const state = { ...after, automata: after.automata.map(({ bits }) => ({ bits, pending: 0 })) };
    const text = textOf(state);
    const known = numbers.get(text);
    if (known !== undefined) return known;
    numbers.set(text, states.length);
    return states.push(state) - 1;
  };
  for (const start of [startOf(world), ...starts(world)]) numberOf(start);
  const rounds = classes.map(() => [] as (readonly Row[])[]);
  const trials = classes.map(() => [] as (readonly Trial[])[]);
  const moves: (readonly Fire[])[] = [];
  for (let state = 0; state < states.length; state += 1) {
    const here = states[state];
    if (here === undefined || states.length > statesMax) return undefined;
    for (const [index, one] of classes.entries()) {
      const options = optionsIn({ world, asking }, one, here);
      if (options === undefined) return undefined;
      trials[index]?.push(options.map(({ trial }) => trial));
      rounds[index]?.push(options.map((option) => rowOf(world, option, here, numberOf)));
    }
    moves.push(firesIn(world, here).map(({ to, ...fire }) => ({ ...fire, to: numberOf(to) })));
  }
  const fire = Array.from({ length: Math.max(1, ...moves.map(({ length }) => length)) }, (_, index) =>
    moves.map((row, state) => [row[index] ?? { possible: false, never: false, may: false, to: state }]),
  );
  const game: Game = {
    size: states.length,
    choices: Math.max(1, ...rounds.flatMap((rows) => rows.map(({ length }) => length))),
    rounds: rounds.map((rows) => ({ outcomes: shape.map((end) => ({ ...end, releases })), rows })),
    fires: fire,
    goals: [...debts(world, states), ...keeps(subject, classes, states.length)],
  };
  return { world, game, states, trials };
}

/** Each debt not owed. */
function debts(world: World, states: readonly State[]): Game["goals"] {
  return world.automata.flatMap(({ id, temporal }, index) => {
    if (temporal.kind !== "owed" || id === world.hazard.id) return [];
    return [{ holds: states.map(({ automata }) => automata[index]?.bits[0] !== true), rounds: [] }];
  });
}

/** Each tool of a firm keep stays possible. */
function keeps(subject: Subject, classes: readonly Class[], size: number): Game["goals"] {
  const fits = ({ contract }: Class, { server, tool }: ToolSelector): boolean =>
    nameMatches(server, contract.server) && nameMatches(tool, contract.tool);
  return subject.policy.regulation.keeps
    .filter(({ firm }) => firm)
    .flatMap(({ tools }) => tools)
    .map((selector) => ({
      holds: Array.from({ length: size }, () => false),
      rounds: classes.flatMap((one, index) => (fits(one, selector) ? [index] : [])),
    }));
}

type Worlds = { readonly world: World; readonly asking: World };

/** Every meaning that a call of the class can have here; undefined if there are too many. */
function optionsIn({ world, asking }: Worlds, one: Class, state: State): readonly Option[] | undefined {
  const found = new Map<string, Option>();
  const given = optionsOf(world, one.contract, choicesOf(world, state.held)).filter((labels) =>
    isMeant(world, one, labels, state),
  );
  if (given.length > 4_096) return undefined;
  for (const labels of given) {
    const reading = read(world, one, labels, state);
    const around = { held: state.held.reduce((all, label) => all | label, 0), stores: state.stores };
    const move = { contract: one.contract, truths: one.truths, arguments: labels };
    const blocked = world.plain.some(({ tier, when }) => tier === "block" && matches(when, "restrict", move, around));
    const firing = world.automata.filter((automaton, index) => {
      const [touch, bits] = [reading.touches[index], state.automata[index]?.bits];
      return touch !== undefined && bits !== undefined && fires(automaton, bits, touch, reading.consequential);
    });
    const denied = blocked || firing.some(({ id }) => id !== world.hazard.id && tierOf(world, id) !== "confirm");
    const open = reading.observed || !denied;
    const free = open && judge(asking, read(asking, one, labels, state), state).permitted;
    const name = JSON.stringify({ reading, open, free });
    const trial = { ...one, given: labels, keys: [one.key] };
    if (!found.has(name)) found.set(name, { trial, reading, open, free });
    if (found.size > optionsMax) return undefined;
  }
  return [...found.values()];
}

/**
 * In `strict` what is given carries all that is held. A call that is to meet a goal has the arguments that its contract
 * declares, or some argument where it declares none: saying nothing meets no goal.
 */
function isMeant({ ir }: World, { contract }: Class, labels: readonly MoveArgument[], { held }: State): boolean {
  const all = held.reduce((join, label) => join | label, 0);
  const bare = contract.arguments.size === 0;
  const declared = labels.filter(({ name }) => (name === undefined ? bare : contract.arguments.has(name)));
  return ir.flow !== "strict" || declared.every(({ label }) => label === all);
}

function tierOf({ ir }: World, id: string): string | undefined {
  return ir.rules.find((rule) => rule.id === id)?.tier;
}

function badness({ hazard }: World, bad: boolean): Badness {
  return { never: bad && hazard.consent === "never", may: bad && hazard.consent === "may" };
}

function rowOf(world: World, { reading, open, free }: Option, state: State, numberOf: (state: State) => number): Row {
  const end = (counts: boolean, succeeds: boolean, labels: readonly number[]): number =>
    numberOf(afterDispatch(world, reading, state, { counts, succeeds, labels }));
  const all = [...reading.whole, ...reading.fields];
  const landings = (counts: boolean, succeeds: boolean) =>
    [all, []].map((labels) => ({ ...badness(world, false), to: end(counts, succeeds, labels) }));
  const bad = badness(world, judge(world, reading, state).bad);
  // What is denied leads nowhere: the states after it need not be made.
  if (!open) return { open, free, ...bad, middle: numberOf(state), landings: [] };
  return {
    open,
    free,
    ...bad,
    middle: end(true, false, []),
    landings: [landings(true, false), landings(false, false), landings(true, true)],
  };
}

type Drift = Badness & { readonly possible: boolean; readonly to: State };

/** Fire, the host's acts, what it reads by itself, and time. */
function firesIn(world: World, state: State): readonly Drift[] {
  const { host, lattice } = world.ir;
  const labels =
    host.read === "gated" ? [] : host.read === "everything" ? [lattice.top] : brought(world, state.stores, host.read);
  const ticked = world.automata.flatMap((automaton, index) => tick(world, automaton, index, state) ?? []);
  const quiet = badness(world, false);
  return [
    { possible: actsBadly(world, state), ...badness(world, true), to: state },
    ...[{ ...state, held: withHeld(state.held, labels) }, ...ticked].map((to) => ({ possible: true, ...quiet, to })),
  ];
}
