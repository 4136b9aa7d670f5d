/**
 * The oracle of the proof engine: breadth first through every state of docs/semantics.md, as plain values in a map. What
 * it says is meant to be obviously right; it says nothing at all where a model is too large for it.
 */
import type { Subject } from "../../../src/proof/prove/subject.ts";
import { type State, type Store, type World, makeWorld } from "./explicit-model.ts";
import {
  type Class,
  type Reading,
  basicLabels,
  choicesOf,
  classesOf,
  dispatched,
  joins,
  judge,
  optionsOf,
  read,
  startOf,
} from "./explicit-moves.ts";
import { actsBadly, environment } from "./explicit-environment.ts";

export type Answer = {
  readonly safe: boolean;
  /** Fewest moves up to and including the bad one. */
  readonly steps?: number;
};

/** States beyond which the explorer gives up. */
const statesMax = 3_000;
/** Readings of calls beyond which it gives up. */
const readingsMax = 12_000;
/** Successors beyond which it gives up. */
const successorsMax = 80_000;

/** Whether a bad move can be reached, and in how few; undefined where the model is too large to enumerate. */
export function exploreExplicitly(subject: Subject, hazardId: string, core: Iterable<string>): Answer | undefined {
  const explorer = new Explorer(makeWorld(subject, hazardId, core));
  let layer: readonly State[] = [startOf(explorer.world)];
  const seen = new Set(layer.map(textOf));
  for (let steps = 1; layer.length > 0; steps += 1) {
    const after: State[] = [];
    for (const state of layer) {
      const found = explorer.successors(state);
      if (found === undefined || seen.size > statesMax) return undefined;
      if (found.bad) return { safe: false, steps };
      for (const one of found.states) {
        const text = textOf(one);
        if (seen.has(text)) continue;
        seen.add(text);
        after.push(one);
      }
    }
    layer = after;
  }
  return { safe: true };
}

export function textOf({ held, stores, automata }: State): string {
  const cells = stores.map(({ label, audience, open }) => `${label}.${audience}.${open}`).join(" ");
  const bits = automata.map((one) => `${one.bits.map((bit) => (bit ? 1 : 0)).join("")}.${one.pending}`).join(" ");
  return `${held.join(" ")}|${cells}|${bits}`;
}

/** Successors of states, with a memory of what calls mean where the automata alone differ. */
export class Explorer {
  readonly world: World;
  readonly classes: readonly Class[];
  readonly #readings = new Map<string, readonly Reading[]>();
  readonly #others = new Map<string, readonly (readonly Store[])[]>();
  #read = 0;
  #made = 0;

  constructor(world: World) {
    this.world = world;
    this.classes = classesOf(world);
  }

  /** Undefined once there was too much to do. */
  successors(state: State): { readonly bad: boolean; readonly states: readonly State[] } | undefined {
    const { world } = this;
    if (actsBadly(world, state)) return { bad: true, states: [] };
    const readings = this.#readingsIn(state);
    const others = this.otherRuns(state);
    if (readings === undefined || others === undefined) return undefined;
    const states: State[] = [...environment(world, state)];
    for (const reading of readings) {
      const { permitted, bad } = judge(world, reading, state);
      if (!permitted) continue;
      if (bad) return { bad: true, states: [] };
      states.push(...dispatched(world, reading, state));
    }
    for (const stores of others) states.push({ ...state, stores });
    this.#made += states.length;
    return this.#made > successorsMax ? undefined : { bad: false, states };
  }

  /** What every class with every choice of labels means here; two that mean the very same are one. */
  #readingsIn(state: State): readonly Reading[] | undefined {
    const key = textOf({ ...state, automata: [] });
    const known = this.#readings.get(key);
    if (known !== undefined) return known;
    const choices = choicesOf(this.world, state.held);
    const found = new Map<string, Reading>();
    for (const one of this.classes) {
      for (const given of optionsOf(this.world, one.contract, choices)) {
        this.#read += 1;
        if (this.#read > readingsMax) return undefined;
        const reading = read(this.world, one, given, state);
        found.set(JSON.stringify(reading), reading);
      }
    }
    const all = [...found.values()];
    this.#readings.set(key, all);
    return all;
  }

  /** What calls of other runs, of which nothing is known but the stores, can make of the stores. */
  otherRuns(state: State): readonly (readonly Store[])[] | undefined {
    const key = JSON.stringify(state.stores);
    const known = this.#others.get(key);
    if (known !== undefined) return known;
    const found = new Map<string, readonly Store[]>();
    const acting = this.classes.filter(({ contract }) => contract.writes.length > 0 || contract.opens.length > 0);
    for (const held of acting.length === 0 ? [] : this.#anyHeld()) {
      const other: State = { ...startOf(this.world), held, stores: state.stores };
      for (const one of acting) {
        for (const given of optionsOf(this.world, one.contract, choicesOf(this.world, held))) {
          this.#read += 1;
          if (this.#read > readingsMax) return undefined;
          const reading = read(this.world, one, given, other);
          if (this.#somehowPermitted(reading)) found.set(JSON.stringify(reading.stores), reading.stores);
        }
      }
    }
    const all = [...found.values()];
    this.#others.set(key, all);
    return all;
  }

  /**
   * What another run may hold: anything. Of all that have the same join, the largest has every choice of the others,
   * and nothing else about what is held is ever looked at.
   */
  #anyHeld(): readonly (readonly number[])[] {
    const outputs = this.world.subject.contracts.flatMap((one) => [
      one.output,
      ...one.cases.flatMap(({ output }) => output ?? []),
    ]);
    const labels = new Set([
      ...basicLabels(this.world),
      this.world.ir.lattice.top,
      ...outputs.flatMap(({ label, fields }) => [label.hi, ...fields.map((field) => field.label.hi)]),
    ]);
    labels.delete(0);
    const all = [...labels];
    return joins(all).map((join) => all.filter((label) => (label & ~join) === 0));
  }

  /** The automata of another run are in any state, each for itself. */
  #somehowPermitted(reading: Reading): boolean {
    if (reading.observed) return true;
    const { world } = this;
    const start = startOf(world);
    return (
      !reading.stopped &&
      world.automata.every(({ id }, index) => {
        if (id === world.hazard.id) return true;
        const width = start.automata[index]?.bits.length ?? 0;
        return Array.from({ length: 2 ** width }, (_, vector) => {
          const bits = Array.from({ length: width }, (__, bit) => (vector & (1 << bit)) !== 0);
          const alone = { ...world, automata: world.automata.slice(index, index + 1), waits: [undefined] };
          const state = { ...start, automata: [{ bits, pending: 0 }] };
          return judge(alone, { ...reading, touches: reading.touches.slice(index, index + 1) }, state).permitted;
        }).some(Boolean);
      })
    );
  }
}
