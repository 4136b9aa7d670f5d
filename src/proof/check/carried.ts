/** Section 6 of the specification: the labels that the agent can give to the arguments of a call. */
import type { Class } from "./classes.ts";
import { bitsOf, untrusted } from "./labels.ts";
import { type Space, storeBit } from "./space.ts";

/** Levels of the environment's choices come first; choices of the agent without a related variable follow. */
export const choices = { success: 0, counted: 1, whole: 2, fields: 3, more: 4 } as const;
const agentChoices = 8;

/** The run that calls; for fire and host moves, the label that the arguments carry: a store's, or all that is held. */
export type Caller = "own run" | "other run" | { readonly carries: string | undefined };

/** Bounds the depth of a diagram, and with it that of recursion. */
const choicesMax = 2048;

/** @returns a sentence if the class has more choices than the limit. */
export function tooManyChoices({ held }: Space, one: Class): string | undefined {
  const labels = held.reduce((sum, each) => sum + each.labels.length, 1);
  return one.arguments.length * labels > choicesMax ? `${one.name} has too many kinds of arguments` : undefined;
}

export type Carried = {
  /** The function of a state variable, seen by the run that calls. */
  readonly state: (name: string) => number;
  readonly heldBit: (bit: number) => number;
  /** One bit of the label of one argument, by its place in the class. */
  readonly argumentBit: (argument: number, bit: number) => number;
  /** The bit of _untrusted_. */
  readonly untrustedBit: number;
};

export function carriedBy(space: Space, caller: Caller): Carried {
  const { model, diagram, levels } = space;
  const { and, or, variable } = diagram;
  const any = (nodes: readonly number[]): number => nodes.reduce(or, 0);
  // The other run has its own context and automata; the stores are shared.
  const shift = (name: string): number => (caller === "other run" && /^[KMP]:/.test(name) ? 1 : 0);
  const state = (name: string): number => space.fixed.get(name) ?? variable((levels.get(name) ?? 0) + shift(name));
  const untrustedBit = bitsOf(untrusted(model.lattice))[0] ?? 0;

  const heldBit = (index: number): number => any(space.bringing(index).map(({ name }) => state(name)));
  const joinedSome = (index: number, argument: number): number =>
    any(
      space.bringing(index).flatMap(({ name, labels, places }) => {
        const room = (levels.get(name) ?? 0) + 2 + argument * labels;
        return places.map((place) => and(state(name), variable(room + place)));
      }),
    );
  const argumentBit = (argument: number, index: number): number => {
    if (typeof caller === "object") {
      return caller.carries === undefined ? heldBit(index) : state(storeBit(caller.carries, index));
    }
    const { mode } = model.policy.flow;
    if (mode === "none") return 0;
    const joined = agentChoices + 2 * argument;
    if (mode !== "provenance") return and(variable(joined), heldBit(index));
    if (index === untrustedBit) return and(variable(joined + 1), heldBit(index));
    return joinedSome(index, argument);
  };
  return { state, heldBit, argumentBit, untrustedBit };
}
