/**
 * The variables of one model: those of the state, and the choices of moves (docs/semantics.md 4, 6). State variables come
 * first in the order, so that forgetting all choices is one walk from a single level on.
 */
import type { LabelRange } from "../../core/label.ts";
import { type Vector, gated, joinVectors, vectorOf } from "../../policy/ir/algebra.ts";
import { monitorWidth } from "../../policy/semantics/monitors.ts";
import type { End, StoreState, Surroundings } from "../../policy/semantics/patterns.ts";
import type { Diagram, Node } from "./diagram.ts";
import { type Held, heldLabels } from "./held-labels.ts";
import { type Question, readings, unlockText } from "./subject.ts";

/** A state variable: its name in certificates and its value at the start. */
export type StateVariable = { readonly name: string; readonly initial: boolean };

/** Levels of one store in the state; undefined where no move can change the bit or no pattern reads it. */
type StorePlaces = {
  readonly label: { readonly [end in End]?: readonly (number | undefined)[] };
  readonly audience: readonly (number | undefined)[];
  readonly open: readonly (number | undefined)[];
};

/** Levels of one automaton at one end; `pending` only where a success can unlock it. */
export type AutomatonPlaces = { readonly bits: readonly number[]; readonly pending: readonly number[] };

export type Space = {
  readonly question: Question;
  readonly diagram: Diagram;
  readonly held: Held;
  readonly variables: readonly StateVariable[];
  /** Level of the variable of each held label. */
  readonly heldLevels: readonly number[];
  readonly stores: readonly StorePlaces[];
  readonly automata: { readonly [end in End]?: readonly AutomatonPlaces[] };
  /** Level of a choice by name, made when first asked for. */
  readonly choice: (name: string) => Node;
  /** Level to choice, for reading an assignment back. */
  readonly choiceName: (level: number) => string | undefined;
};

/** The state as one run sees it: nodes instead of levels. */
export type RunView = {
  readonly held: readonly Node[];
  readonly bits: { readonly [end in End]?: readonly (readonly Node[])[] };
};

export function makeSpace(question: Question, outputs: readonly LabelRange[], diagram: Diagram): Space {
  const held = heldLabels(question, outputs);
  const variables: StateVariable[] = [];
  const add = (name: string, initial: boolean): number => variables.push({ name, initial }) - 1;
  const heldLevels = held.labels.map(() => 0);
  for (const group of held.variables) {
    const names = group.map((index) => held.labels[index]?.hi ?? 0);
    const level = add(`K:${[...new Set(names)].join(",")}`, false);
    for (const index of group) heldLevels[index] = level;
  }
  const stores = storePlaces(question, add);
  const automata = automatonPlaces(question, add);
  const choices = new Map<string, number>();
  const names: string[] = [];
  return {
    question,
    diagram,
    held,
    variables,
    heldLevels,
    stores,
    automata,
    choice: (name) => {
      const found = choices.get(name) ?? variables.length + names.push(name) - 1;
      choices.set(name, found);
      return diagram.variable(found);
    },
    choiceName: (level) => names[level - variables.length],
  };
}

type Add = (name: string, initial: boolean) => number;

function storePlaces(question: Question, add: Add): readonly StorePlaces[] {
  const { subject, mattering, ends } = question;
  const { ir } = subject.policy;
  const atoms = readings(question).flatMap(({ pattern }) => pattern.stores);
  const { read } = ir.host;
  return ir.stores.map((store, index): StorePlaces => {
    const touches = subject.contracts.filter(
      (one) => one.writes.includes(store.name) || one.opens.some((open) => open.store === store.name),
    );
    const opened = subject.contracts
      .flatMap((one) => one.opens)
      .filter((open) => open.store === store.name)
      .flatMap((open) => open.audience);
    const seen =
      subject.contracts.some((one) => one.reads.includes(store.name)) ||
      (Array.isArray(read) && read.includes(index)) ||
      atoms.some((atom) => atom.store === index && atom.label !== undefined) ||
      opened.length > 0;
    const labelled = touches.length > 0 && seen;
    const label = Object.fromEntries(
      ends.map((end) => [
        end,
        places(ir.lattice.bitCount, (bit) => {
          if (!labelled || (mattering & (1 << bit)) === 0) return undefined;
          return add(`S:${store.name}:${bit}${suffix(end)}`, (store.initial[end] & (1 << bit)) !== 0);
        }),
      ]),
    );
    const asked = atoms.some((atom) => atom.store === index && atom.audience !== undefined);
    const group = (letter: string, wanted: boolean, initial: number) =>
      places(ir.lattice.groups.length, (bit) => {
        if (!wanted || !opened.includes(ir.lattice.groups[bit] ?? "")) return undefined;
        return add(`${letter}:${store.name}:${bit}`, (initial & (1 << bit)) !== 0);
      });
    return { label, audience: group("A", asked, store.audience), open: group("O", true, 0) };
  });
}

const suffix = (end: End): string => (end === "hi" ? "" : ":lo");

function places(count: number, place: (bit: number) => number | undefined): readonly (number | undefined)[] {
  return Array.from({ length: count }, (_, bit) => place(bit));
}

/**
 * Bit n of every automaton, at every end, before bit n + 1 of any: a rule's counter bounds a hazard's, a lower end an
 * upper one, and only side by side is that a small diagram.
 */
function automatonPlaces(question: Question, add: Add): Space["automata"] {
  const { automata, ends } = question;
  const widths = automata.map(({ temporal }) => monitorWidth(temporal));
  const bits = ends.map(() => widths.map((): number[] => []));
  for (let bit = 0; bit < Math.max(0, ...widths); bit += 1) {
    ends.forEach((end, at) => {
      automata.forEach(({ id }, index) => {
        if (bit < (widths[index] ?? 0)) bits[at]?.[index]?.push(add(`M:${id}:${bit}${suffix(end)}`, false));
      });
    });
  }
  return Object.fromEntries(ends.map((end, at) => [end, withPending({ automata, bits: bits[at] ?? [], end }, add)]));
}

type OneEnd = {
  readonly automata: Question["automata"];
  readonly bits: readonly (readonly number[])[];
  readonly end: End;
};

/** Calls in flight are counted once for all automata that the same success unlocks. */
function withPending({ automata, bits, end }: OneEnd, add: Add): readonly AutomatonPlaces[] {
  const waiting = new Map<string, readonly number[]>();
  return automata.map((automaton, index) => {
    const own = bits[index] ?? [];
    const unlock = unlockText(automaton);
    if (unlock === undefined) return { bits: own, pending: [] };
    const pending =
      waiting.get(unlock) ?? [1, 2].map((count) => add(`P:${automaton.id}:${count}${suffix(end)}`, false));
    waiting.set(unlock, pending);
    return { bits: own, pending };
  });
}

/** The run that the proof follows. */
export function ownView(space: Space): RunView {
  const { diagram } = space;
  return {
    held: space.heldLevels.map((level) => diagram.variable(level)),
    bits: Object.fromEntries(
      space.question.ends.map((end) => [
        end,
        (space.automata[end] ?? []).map((one) => one.bits.map((level) => diagram.variable(level))),
      ]),
    ),
  };
}

/** Another run: it is unknown, so its held labels and automata are free choices. */
export function otherView(space: Space): RunView {
  return {
    held: space.heldLevels.map((level) => space.choice(`other ${level}`)),
    bits: Object.fromEntries(
      space.question.ends.map((end) => [
        end,
        (space.automata[end] ?? []).map((one) => one.bits.map((level) => space.choice(`other ${level}`))),
      ]),
    ),
  };
}

/** The facts that patterns read, for a run's view, at one end. */
export function surroundings(space: Space, view: RunView, end: End): Surroundings<Node> {
  const { diagram, question } = space;
  const { lattice } = question.subject.policy.ir;
  return {
    held: space.held.labels.map((label, index) => ({
      present: view.held[index] ?? 0,
      label: vectorOf(diagram, label[end], lattice.bitCount),
    })),
    stores: storeStates(space, end),
  };
}

export function storeStates(space: Space, end: End): readonly StoreState<Node>[] {
  const { diagram, question } = space;
  const { stores, lattice } = question.subject.policy.ir;
  return stores.map((store, index) => {
    const place = space.stores[index];
    const read = (levels: readonly (number | undefined)[] | undefined, initial: number, count: number) =>
      Array.from({ length: count }, (_, bit) => {
        const level = levels?.[bit];
        return level === undefined ? diagram.constant((initial & (1 << bit)) !== 0) : diagram.variable(level);
      });
    return {
      label: read(place?.label[end], store.initial[end] & question.mattering, lattice.bitCount),
      audience: read(place?.audience, store.audience, lattice.groups.length),
      open: read(place?.open, 0, lattice.groups.length),
    };
  });
}

/** Join of all labels that a run holds, at one end. */
export function heldVector(space: Space, view: RunView, end: End): Vector<Node> {
  const { diagram, question, held } = space;
  const { bitCount } = question.subject.policy.ir.lattice;
  return held.labels.reduce<Vector<Node>>(
    (all, label, index) =>
      joinVectors(diagram, all, gated(diagram, view.held[index] ?? 0, vectorOf(diagram, label[end], bitCount))),
    vectorOf(diagram, 0, bitCount),
  );
}
