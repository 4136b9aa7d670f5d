/** Arbitrary states of a policy, reachable or not, and the same state as the gateway holds it. */
import fc from "fast-check";
import type { Label, LabelRange, Lattice } from "../../../src/core/label.ts";
import type { Ir } from "../../../src/policy/ir.ts";
import { slotsOf } from "../../../src/policy/monitors.ts";
import type { MonitorCell, Q } from "../../../src/policy/state.ts";
import { globalKey, initialState, isKeyed } from "../../../src/policy/state.ts";
import type { Subject } from "../../../src/proof/subject.ts";
import { makeWorld, widthOf } from "../proof/explicit-model.ts";
import type { Point } from "./explicit-regulation.ts";

/** The one key that a keyed automaton has seen; every other key has a fresh one. */
export const followedKey = "key";

/** Now, on the clock of the tests. Everything that is set was set just before. */
export const now = 1_000_000;

/** Some bits as a label: at least a level means at least every lower one. */
export function labelFrom(lattice: Lattice, bits: number): number {
  const levels = lattice.levels.length - 1;
  let label = bits & ((1 << lattice.bitCount) - 1);
  for (let level = levels - 1; level > 0; level -= 1) if ((label & (1 << level)) !== 0) label |= 1 << (level - 1);
  return label;
}

export function pointsOf(subject: Subject): fc.Arbitrary<Point> {
  const { ir } = subject.policy;
  const every = (1 << ir.lattice.groups.length) - 1;
  // Few restrictions at a time: a state that holds everything is seldom of interest.
  const bits = fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 3, arbitrary: fc.nat({ max: ir.lattice.bitCount - 1 }).map((bit) => 1 << bit) },
    { weight: 1, arbitrary: fc.nat({ max: 2 ** ir.lattice.bitCount - 1 }) },
  );
  const label = bits.map((one) => labelFrom(ir.lattice, one));
  const group = fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: every }) });
  const store = fc
    .record({ label, audience: group, open: group })
    .map((one) => ({ ...one, audience: one.audience | one.open }));
  const automata = ir.hazards.flatMap(({ id, kind }) => {
    const [own] = makeWorld(subject, id, []).automata;
    if (kind !== "temporal" || own === undefined) return [];
    const width = widthOf(own);
    // A counter is a thermometer; the others have one bit.
    const vector = fc.nat({ max: width }).map((filled) => Array.from({ length: width }, (_, bit) => bit < filled));
    const fresh = Array.from({ length: width }, () => false);
    return [vector.map((one) => [id, own.key === undefined ? [one] : [one, fresh]] as const)];
  });
  return fc.record({
    held: fc
      .array(label, { maxLength: 3 })
      .map((all) => [...new Set(all.filter((one) => one !== 0))].toSorted((left, right) => left - right)),
    stores: fc.tuple(...ir.stores.map(() => store)),
    bits: fc.tuple(...automata).map((all) => new Map(all)),
  });
}

export const exact = (label: number): LabelRange => ({ lo: label as Label, hi: label as Label }); // bits of this lattice

/** The state as the gateway holds it, with nothing uncertain in it. */
export function stateOf(ir: Ir, point: Point): Q {
  const slots = slotsOf(ir);
  const empty = initialState(ir, slots, undefined);
  const monitors = slots.map((slot) => {
    const [bits] = slot.owner === "hazard" ? (point.bits.get(slot.id) ?? []) : [];
    if (bits === undefined || !bits.includes(true)) return new Map<string, MonitorCell>();
    const times = slot.temporal.kind === "at-most" ? bits.filter(Boolean).map(() => now - 1) : [];
    return new Map([[isKeyed(slot) ? followedKey : globalKey, { bits, since: now - 1, times, amounts: [] }]]);
  });
  return {
    ...empty,
    held: point.held.map(exact),
    stores: point.stores.map(({ label, audience, open }) => ({
      label: exact(label),
      audience,
      open,
      added: exact(label),
    })),
    monitors: { lo: monitors, hi: monitors },
  };
}
