/**
 * Regulation by hazards over plain values, from formal.md 4.1 and 4.5 and the explicit model of docs/semantics.md: which
 * states are lost whatever the gateway does, and what a call may lead to. Hazards without goals: W is the set that fire,
 * tick and what the host does by itself cannot leave, and it is looked for by walking on from one state.
 */
import type { Hazard } from "../../../../src/policy/ir/ir.ts";
import type { Subject } from "../../../../src/proof/prove/subject.ts";
import { textOf } from "../explicit.ts";
import { actsBadly, tick } from "../explicit-environment.ts";
import { type MoveArgument, type State, type Store, type World, makeWorld } from "../explicit-model.ts";
import { type Class, type Reading, afterDispatch, brought, judge, read, withHeld } from "../explicit-moves.ts";
import type { Hazards } from "./model.ts";

/** States that a walk of uncontrollable moves may see; they only rise in labels and fall in automata. */
const driftMax = 4_096;

/** What a run holds, what all runs share, and for each hazard the automata of the keys that are followed. */
export type Point = {
  readonly held: readonly number[];
  readonly stores: readonly Store[];
  /** One automaton for each followed key; a hazard without automaton or key has one entry. */
  readonly bits: ReadonlyMap<string, readonly (readonly boolean[])[]>;
};

/** A call with its labels; `keys` says what its key is to each followed key, in the order of `Point.bits`. */
export type Trial = Omit<Class, "key"> & {
  readonly given: readonly MoveArgument[];
  readonly keys: readonly Class["key"][];
  /** Outsiders put nothing into what it opens to them: the lower end. */
  readonly sure?: true;
};

export type Verdicts = "allow" | "confirm" | "deny";

export class Regulation {
  readonly #worlds: readonly World[];
  readonly #kept = new Map<string, boolean>();

  constructor(subject: Subject) {
    const enforced = subject.policy.ir.hazards.filter(({ mode }) => mode === "enforce");
    this.#worlds = enforced.map(({ id }) => makeWorld(subject, id, []));
  }

  get hazards(): readonly Hazard[] {
    return this.#worlds.map(({ hazard }) => hazard);
  }

  /** Whether a state is in W for one hazard alone. */
  keeps(id: string, point: Point): boolean {
    return this.#worlds
      .filter(({ hazard }) => hazard.id === id)
      .every((world) => statesOf(world, point).every((state) => this.#staysQuiet(world, state)));
  }

  /** Whether a state is in W of all hazards that count. */
  wins(point: Point, hazards: Hazards): boolean {
    return this.#counted(hazards).every((world) => this.keeps(world.hazard.id, point));
  }

  /** Φ: whether the call may be let through. The gateway can pass a result or reject it; there are no handles. */
  permits(trial: Trial, point: Point, hazards: Hazards): boolean {
    if (!this.wins(point, hazards)) return false;
    const worlds = this.#counted(hazards);
    if (worlds.some((world) => isBadMove(world, trial, point))) return false;
    const counting = worlds.some(({ hazard }) => hazard.kind === "temporal" && hazard.temporal.kind === "at-most");
    const failures = counting ? [true, false] : [true];
    const quiet = worlds.every((world) =>
      after(world, trial, point, { counts: true, succeeds: false, passed: false }).every(
        (state) => !actsBadly(world, state),
      ),
    );
    const permitted = (succeeds: boolean, counts: boolean, passed: boolean): boolean =>
      worlds.every((world) =>
        after(world, trial, point, { counts, succeeds, passed }).every((state) => this.#staysQuiet(world, state)),
      );
    return (
      quiet &&
      failures.every((counts) => permitted(false, counts, true) || permitted(false, counts, false)) &&
      permitted(true, true, true)
    );
  }

  /**
   * Φ*, Φ?, or neither, where the rules allow the call. Whether the host has read, and whether outsiders have put something
   * into what is opened to them, is never known: one end of the uncertainty each (4.2).
   */
  verdict(trial: Trial, point: Point): Verdicts {
    const certain: Trial = { ...trial, sure: true };
    const read: Point = {
      ...point,
      held: withHeld(
        point.held,
        this.#worlds.flatMap((world) => readByHost(world, point)),
      ),
    };
    if (!this.permits(certain, point, "never")) return "deny";
    return this.permits(trial, read, "all") ? "allow" : "confirm";
  }

  #counted(hazards: Hazards): readonly World[] {
    return this.#worlds.filter(({ hazard }) => hazards === "all" || hazard.consent === "never");
  }

  /** Nothing bad fires here, nor in any state that drifting leads to. */
  #staysQuiet(world: World, start: State): boolean {
    const text = `${world.hazard.id} ${textOf(start)}`;
    const known = this.#kept.get(text);
    if (known !== undefined) return known;
    const seen = new Map([[textOf(start), start]]);
    let quiet = true;
    for (const state of seen.values()) {
      if (actsBadly(world, state)) {
        quiet = false;
        break;
      }
      for (const one of drifts(world, state)) seen.set(textOf(one), one);
      if (seen.size > driftMax) throw new Error("a state drifts too far");
    }
    this.#kept.set(text, quiet);
    return quiet;
  }
}

/** The states of one hazard's world that a point is: one for each key that is followed. */
export function statesOf(world: World, { held, stores, bits }: Point): readonly State[] {
  const own = world.automata.length === 0 ? [undefined] : (bits.get(world.hazard.id) ?? []);
  return own.map((one) => ({ held, stores, automata: one === undefined ? [] : [{ bits: one, pending: 0 }] }));
}

/** What the host reads by itself. */
function readByHost(world: World, { stores }: Pick<State, "stores">): readonly number[] {
  const { lattice, host } = world.ir;
  if (host.read === "gated") return [];
  return host.read === "everything" ? [lattice.top] : brought(world, stores, host.read);
}

/** What the host reads by itself, and time. */
function drifts(world: World, state: State): readonly State[] {
  const ticked = world.automata.flatMap((automaton, index) => tick(world, automaton, index, state) ?? []);
  return [{ ...state, held: withHeld(state.held, readByHost(world, state)) }, ...ticked];
}

function isBadMove(world: World, trial: Trial, point: Point): boolean {
  return statesOf(world, point).some(
    (state, index) => judge(world, readingOf(world, trial, { state, index }), state).bad,
  );
}

type End = { readonly counts: boolean; readonly succeeds: boolean; readonly passed: boolean };

/** States after the call, one for each followed key; what is passed is the result with all its fields. */
function after(world: World, trial: Trial, point: Point, { counts, succeeds, passed }: End): readonly State[] {
  return statesOf(world, point).map((state, index) => {
    const reading = readingOf(world, trial, { state, index });
    const labels = passed ? [...reading.whole, ...reading.fields] : [];
    return afterDispatch(world, reading, state, { counts, succeeds, labels });
  });
}

type Placed = { readonly state: State; readonly index: number };

function readingOf(world: World, { keys, given, sure, ...rest }: Trial, { state, index }: Placed): Reading {
  const one = { ...rest, key: keys[index] ?? ("same" as const) };
  const whole = read(world, one, given, state);
  if (sure !== true) return whole;
  const alone = read(world, { ...one, contract: { ...one.contract, opens: [] } }, given, state);
  const stores = whole.stores.map((store, at) => ({ ...store, label: alone.stores[at]?.label ?? store.label }));
  return { ...alone, stores };
}
