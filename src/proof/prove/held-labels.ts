/**
 * K, the labels that a run may hold, as finitely many variables (docs/semantics.md 4; formal.md annex 4). One variable
 * for each distinct label of an output, cut to the restrictions that matter; the basic labels represent data read from
 * stores, since a store's label is a join that no single output has.
 */
import type { LabelRange, Lattice } from "../../core/label.ts";
import { heldVariablesMax } from "./limits.ts";
import type { Question } from "./subject.ts";

/** A label that can be held, at both ends, cut to the restrictions that matter. */
export type HeldLabel = { readonly lo: number; readonly hi: number };

export type Held = {
  readonly labels: readonly HeldLabel[];
  /** Labels that share a variable, by index into `labels`: holding one counts as holding all. */
  readonly variables: readonly (readonly number[])[];
  /** Index of a label; undefined for the empty label, which has no variable. */
  readonly indexOf: (label: HeldLabel) => number | undefined;
};

/** For each restriction that matters: the label that a value has at least if it has that restriction. */
export function basicLabels(
  lattice: Lattice,
  mattering: number,
): readonly { readonly bit: number; readonly label: number }[] {
  const found: { bit: number; label: number }[] = [];
  for (let bit = 0; bit < lattice.bitCount; bit += 1) {
    if ((mattering & (1 << bit)) === 0) continue;
    const level = bit < lattice.levels.length - 1;
    found.push({ bit, label: (level ? (1 << (bit + 1)) - 1 : 1 << bit) & mattering });
  }
  return found;
}

export function cut(range: LabelRange, mattering: number): HeldLabel {
  return { lo: range.lo & mattering, hi: range.hi & mattering };
}

export function heldLabels({ subject, ends, mattering }: Question, outputs: readonly LabelRange[]): Held {
  const found = new Map<string, HeldLabel>();
  // Where only the upper end is followed, labels that differ below it are one.
  const kept = (label: HeldLabel): HeldLabel => (ends.includes("lo") ? label : { lo: label.hi, hi: label.hi });
  const add = (label: HeldLabel): void => {
    if (label.hi !== 0) found.set(keyOf(kept(label)), kept(label));
  };
  add({ lo: 0, hi: mattering });
  for (const { label } of basicLabels(subject.policy.ir.lattice, mattering)) {
    add({ lo: label, hi: label });
    add({ lo: 0, hi: label });
  }
  for (const output of outputs) add(cut(output, mattering));
  const labels = [...found.values()].toSorted((left, right) => left.hi - right.hi || left.lo - right.lo);
  const indices = new Map(labels.map((label, index) => [keyOf(label), index]));
  return { labels, variables: grouped(labels), indexOf: (label) => indices.get(keyOf(kept(label))) };
}

/** As text: two labels together have more bits than a number holds exactly. */
function keyOf({ lo, hi }: HeldLabel): string {
  return `${lo} ${hi}`;
}

/** Variables of the labels, the nearest joined until few enough are left. */
function grouped(labels: readonly HeldLabel[]): readonly (readonly number[])[] {
  const groups = labels.map((_, index) => [index]);
  while (groups.length > heldVariablesMax) {
    let best = { left: 0, right: 1, cost: Number.POSITIVE_INFINITY };
    for (let left = 0; left < groups.length; left += 1) {
      for (let right = left + 1; right < groups.length; right += 1) {
        const cost = distance(labels, groups[left] ?? [], groups[right] ?? []);
        if (cost < best.cost) best = { left, right, cost };
      }
    }
    const [merged = []] = groups.splice(best.right, 1);
    groups[best.left]?.push(...merged);
  }
  return groups.map((group) => group.toSorted((left, right) => left - right));
}

function distance(labels: readonly HeldLabel[], left: readonly number[], right: readonly number[]): number {
  const join = (group: readonly number[]): number => group.reduce((all, index) => all | (labels[index]?.hi ?? 0), 0);
  let count = 0;
  for (let rest = join(left) ^ join(right); rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
