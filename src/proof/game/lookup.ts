/**
 * A state of a running gateway as an assignment to the variables of a model, so that a solved game can be queried. A
 * run holds many labels and the model has few variables: one counts as held if a held label is at least as restricted.
 * So the state is never underestimated.
 */
import type { LabelRange } from "../../core/label.ts";
import type { Slot } from "../../policy/semantics/monitors.ts";
import type { End } from "../../policy/semantics/patterns.ts";
import { type Q, cellAt, globalKey, isKeyed } from "../../policy/semantics/state.ts";
import type { Node } from "../prove/diagram.ts";
import type { Space } from "../prove/space.ts";

/**
 * How a state is evaluated. `held` is K with all other labels that count as held; `at` is a monotonic instant in ms.
 */
export type Look = {
  readonly q: Q;
  readonly end: End;
  readonly at: number;
  readonly held: readonly LabelRange[];
};

type Reader = (look: Look, key: string) => boolean;

/** Answers whether a state is among those of a node, for every key that a keyed automaton has seen, and a fresh one. */
export type Lookup = (node: Node, look: Look) => boolean;

export function makeLookup(space: Space, slots: readonly Slot[]): Lookup {
  const readers = readersOf(space, slots);
  const { diagram, question } = space;
  const keyed = question.automata.filter((one) => one.keyed).map(({ id }) => slots.find((slot) => slot.id === id));
  return (node, look) => {
    if (node < 2) return node === 1;
    const holds = (key: string): boolean => diagram.evaluate(node, (level) => readers[level]?.(look, key) ?? false);
    return keyed.length === 0 ? holds(globalKey) : keysIn(look, keyed).every(holds);
  };
}

function keysIn({ q, end }: Look, slots: readonly (Slot | undefined)[]): readonly string[] {
  const seen = slots.flatMap((slot) => (slot === undefined ? [] : [...(q.monitors[end][slot.index]?.keys() ?? [])]));
  return [...new Set([globalKey, ...seen])];
}

function readersOf(space: Space, slots: readonly Slot[]): readonly Reader[] {
  const readers: Reader[] = space.variables.map(() => () => false);
  space.held.variables.forEach((group) => {
    const level = space.heldLevels[group[0] ?? 0];
    const labels = group.map((index) => space.held.labels[index]?.hi ?? 0);
    if (level !== undefined) readers[level] = ({ held, end }) => labels.some((label) => covered(label, held, end));
  });
  space.stores.forEach((place, store) => {
    const read = (levels: readonly (number | undefined)[] | undefined, bits: (look: Look) => number): void => {
      levels?.forEach((level, bit) => {
        if (level !== undefined) readers[level] = (look) => (bits(look) & (1 << bit)) !== 0;
      });
    };
    read(place.label.hi, ({ q, end }) => q.stores[store]?.label[end] ?? 0);
    read(place.audience, ({ q }) => q.stores[store]?.audience ?? 0);
    read(place.open, ({ q }) => q.stores[store]?.open ?? 0);
  });
  space.question.automata.forEach(({ id }, index) => {
    const slot = slots.find((one) => one.id === id);
    const places = space.automata.hi?.[index]?.bits ?? [];
    if (slot === undefined) return;
    places.forEach((level, bit) => {
      readers[level] = (look, key) => bitOf(slot, look, { key, bit });
    });
  });
  return readers;
}

function covered(label: number, held: readonly LabelRange[], end: End): boolean {
  return held.some((one) => (label & ~one[end]) === 0);
}

function bitOf(
  slot: Slot,
  { q, end, at }: Look,
  { key, bit }: { readonly key: string; readonly bit: number },
): boolean {
  const { kind } = slot.temporal;
  const opens = kind === "gate" || kind === "immediately" || kind === "by-end";
  // A lost history may have armed and counted every event.
  if (q.lost && end === "hi" && !opens) return true;
  const cells = q.monitors[end][slot.index] ?? new Map();
  // A call in the outbox is a gate in the model, with one bit: `by` has succeeded.
  const place = kind === "by-end" ? 1 : bit;
  const own = cellAt(slot, cells, key, at).bits[place] === true;
  // An arming call with an unreadable key may have had this key.
  const forAny = end === "hi" && kind === "absence" && isKeyed(slot);
  return own || (forAny && cellAt(slot, cells, globalKey, at).bits[bit] === true);
}
