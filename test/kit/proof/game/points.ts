/** Arbitrary states of a policy, reachable or not, and the same state as the gateway holds it. */
import fc from "fast-check";
import type { Label, LabelRange, Lattice } from "../../../../src/core/label.ts";
import type { Ir } from "../../../../src/policy/ir/ir.ts";
import { slotsOf } from "../../../../src/policy/semantics/monitors.ts";
import { type MonitorCell, type Q, globalKey, initialState, isKeyed } from "../../../../src/policy/semantics/state.ts";
import type { Subject } from "../../../../src/proof/prove/subject.ts";
import { type Automaton, type State, type Store, type World, joinOf, makeWorld, widthOf } from "../explicit-model.ts";
import type { Point } from "./explicit-regulation.ts";

/** The one key that a keyed automaton has seen; every other key has a fresh one. */
export const followedKey = "v";

/** Now, on the clock of the tests. Everything that is set was set just before. */
export const now = 1_000_000;

/** Some bits as a label: at least a level means at least every lower one. */
export function labelFrom(lattice: Lattice, bits: number): number {
  const levels = lattice.levels.length - 1;
  let label = bits & ((1 << lattice.bitCount) - 1);
  for (let level = levels - 1; level > 0; level -= 1) if ((label & (1 << level)) !== 0) label |= 1 << (level - 1);
  return label;
}

/** Few restrictions at a time: a state that holds everything is seldom of interest. */
function labelsOf({ lattice }: Ir): fc.Arbitrary<number> {
  const bits = fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 3, arbitrary: fc.nat({ max: lattice.bitCount - 1 }).map((bit) => 1 << bit) },
    { weight: 1, arbitrary: fc.nat({ max: 2 ** lattice.bitCount - 1 }) },
  );
  return bits.map((one) => labelFrom(lattice, one));
}

function heldIn(ir: Ir): fc.Arbitrary<readonly number[]> {
  return fc
    .array(labelsOf(ir), { maxLength: 3 })
    .map((all) => [...new Set(all.filter((one) => one !== 0))].toSorted((left, right) => left - right));
}

function storesIn(ir: Ir): fc.Arbitrary<readonly Store[]> {
  const every = (1 << ir.lattice.groups.length) - 1;
  const group = fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: every }) });
  const store = fc
    .record({ label: labelsOf(ir), audience: group, open: group })
    .map((one) => ({ ...one, audience: one.audience | one.open }));
  return fc.tuple(...ir.stores.map(() => store));
}

/** A counter is a thermometer, a debt counts calls only while it is owed; the others have one bit. */
function bitsOf(automaton: Automaton): fc.Arbitrary<readonly boolean[]> {
  const width = widthOf(automaton);
  return fc.nat({ max: width }).map((filled) => Array.from({ length: width }, (_, bit) => bit < filled));
}

/** States of one world, rules and all; nothing is on its way, and stores are as they began where no tool changes them. */
export function statesIn(world: World): fc.Arbitrary<State> {
  const automata = world.automata.map((automaton) => bitsOf(automaton).map((bits) => ({ bits, pending: 0 })));
  const { contracts } = world.subject;
  const stores = storesIn(world.ir).map((all) =>
    all.map(({ label, audience, open }, index) => {
      const { name = "", initial, audience: declared } = world.ir.stores[index] ?? {};
      const grows = contracts.some((one) => one.writes.includes(name) || one.opens.some(({ store }) => store === name));
      const groups = contracts.flatMap((one) =>
        one.opens.flatMap((each) => (each.store === name ? each.audience : [])),
      );
      const opened = joinOf(groups.map((group) => 1 << world.ir.lattice.groups.indexOf(group)));
      return {
        label: (initial?.hi ?? 0) | (grows ? label : 0),
        audience: (declared ?? 0) | (opened & audience),
        open: opened & open,
      };
    }),
  );
  return fc.record({ held: heldIn(world.ir), stores, automata: fc.tuple(...automata) });
}

export function pointsOf(subject: Subject): fc.Arbitrary<Point> {
  const { ir } = subject.policy;
  const automata = ir.hazards.flatMap(({ id, kind }) => {
    const [own] = makeWorld(subject, id, []).automata;
    if (kind !== "temporal" || own === undefined) return [];
    const fresh = Array.from({ length: widthOf(own) }, () => false);
    return [bitsOf(own).map((one) => [id, own.key === undefined ? [one] : [one, fresh]] as const)];
  });
  return fc.record({
    held: heldIn(ir),
    stores: storesIn(ir),
    bits: fc.tuple(...automata).map((all) => new Map(all)),
  });
}

export const exact = (label: number): LabelRange => ({ lo: label as Label, hi: label as Label }); // bits of this lattice

/** The state as the gateway holds it, with nothing uncertain in it. */
export function stateOf(ir: Ir, point: Point): Q {
  return held(ir, point, (id) => point.bits.get(id)?.[0]);
}

/** The same of a state of a world. */
export function stateOfWorld(world: World, state: State): Q {
  return held(world.ir, state, (id) => state.automata[world.automata.findIndex((one) => one.id === id)]?.bits);
}

type Around = Pick<Point, "held" | "stores">;

function held(ir: Ir, around: Around, bitsOfSlot: (id: string) => readonly boolean[] | undefined): Q {
  const slots = slotsOf(ir);
  const empty = initialState(ir, slots, undefined);
  const monitors = slots.map((slot) => {
    const own = bitsOfSlot(slot.id);
    if (own === undefined || !own.includes(true)) return new Map<string, MonitorCell>();
    // What waits until the end of the run has a bit of its own, before the one that is a gate.
    const bits = slot.temporal.kind === "by-end" ? [true, ...own] : own;
    const times = slot.temporal.kind === "at-most" ? bits.filter(Boolean).map(() => now - 1) : [];
    return new Map([[isKeyed(slot) ? followedKey : globalKey, { bits, since: now - 1, times, amounts: [] }]]);
  });
  return {
    ...empty,
    held: around.held.map(exact),
    stores: around.stores.map(({ label, audience, open }) => ({
      label: exact(label),
      audience,
      open,
      added: exact(label),
    })),
    monitors: { lo: monitors, hi: monitors },
  };
}
