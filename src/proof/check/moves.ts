/** Section 6 of the specification: every move with its precondition and its changes. */
import { type Automaton, atDispatch, atSuccess, atTick, follows, ticks } from "./automata.ts";
import { type Class, freeMoves } from "./classes.ts";
import { bitsOf, untrusted } from "./labels.ts";
import { type Judgement, judgementOf } from "./judgement.ts";
import { choices } from "./carried.ts";
import { type Space, automatonBit, pending, storeBit, storeOpen, storeSeen } from "./space.ts";

export type Move = {
  readonly name: string;
  /** The states and choices in which it can happen. */
  readonly when: number;
  readonly bad: number;
  readonly next: ReadonlyMap<string, number>;
};

export function* movesOf(space: Space, classes: readonly Class[]): Generator<Move> {
  for (const one of classes) {
    yield dispatched(space, one);
    if (one.writes.length > 0 || one.opens.length > 0) yield byOtherRun(space, one);
  }
  for (const automaton of space.model.automata) {
    const counts = space.pendingOf.get(automaton.id) === automaton.id;
    if (automaton.unlock !== undefined && counts) yield lateSuccess(space, automaton);
    if (ticks(automaton)) yield tick(space, automaton);
  }
  yield* untold(space);
  for (const { name, store, group, judged } of freeMoves(space.model)) {
    const { state, bad } = judgementOf(space, judged, { carries: store });
    const when = store === undefined ? 1 : state(storeOpen(store, group));
    // Where no group can ever be opened, no reader can cause the hazard.
    yield { name, when, bad: space.diagram.and(when, bad()), next: new Map() };
  }
}

type Change = readonly [string, number];

function dispatched(space: Space, one: Class): Move {
  const judgement = judgementOf(space, one, "own run");
  const stores = new Map(storeChanges(space, one, judgement));
  const next = new Map([
    ...stores,
    ...heldChanges(space, one, (name) => stores.get(name) ?? judgement.state(name)),
    ...space.model.automata.flatMap((automaton) => automatonChanges(space, automaton, judgement)),
  ]);
  return { name: one.name, when: judgement.permitted(), bad: judgement.bad(), next };
}

function byOtherRun(space: Space, one: Class): Move {
  const judgement = judgementOf(space, one, "other run");
  const next = new Map(storeChanges(space, one, judgement));
  return { name: `${one.name}, called by another run,`, when: judgement.permitted(), bad: 0, next };
}

function storeChanges({ model, diagram }: Space, one: Class, { state, argumentsBit }: Judgement): readonly Change[] {
  const { groups } = model.lattice;
  const written = new Set(one.writes).values().flatMap((store) =>
    model.bits.map((bit): Change => {
      const name = storeBit(store, bit);
      return [name, store === one.fills ? 1 : diagram.or(state(name), argumentsBit(bit))];
    }),
  );
  const opened = one.opens.flatMap(({ store, audience }): readonly Change[] => {
    const numbers = bitsOf(BigInt(audience)).filter((group) => group < groups.length);
    const foreign = numbers.some((group) => groups[group] !== "me");
    const distrusted = foreign ? bitsOf(untrusted(model.lattice) & model.matters) : [];
    return [
      ...numbers.flatMap((group): readonly Change[] => [
        [storeSeen(store, group), 1],
        [storeOpen(store, group), 1],
      ]),
      ...distrusted.map((bit): Change => [storeBit(store, bit), 1]),
    ];
  });
  return [...written, ...opened];
}

/** Labels that the agent comes to hold: those of the result and of the stores read, after the writes of this call. */
function heldChanges({ model, diagram, held }: Space, one: Class, after: (name: string) => number): readonly Change[] {
  const { and, or, variable } = diagram;
  const read = readLabels(model, one.reads, after);
  const brought: readonly (readonly [bigint, number])[] = [
    ...read,
    [BigInt(one.whole), 1],
    ...one.fields.map((label) => [BigInt(label), variable(choices.fields)] as const),
  ];
  return held.flatMap(({ name, labels }): readonly Change[] => {
    const here = brought.filter(([label]) => labels.includes(label)).map(([, when]) => when);
    return here.length === 0 ? [] : [[name, or(after(name), and(variable(choices.whole), here.reduce(or, 0)))]];
  });
}

function readLabels(
  model: Space["model"],
  stores: readonly string[],
  state: (name: string) => number,
): readonly (readonly [bigint, number])[] {
  return stores.flatMap((store) => model.bits.map((bit) => [model.basic(bit), state(storeBit(store, bit))] as const));
}

function automatonChanges(
  { diagram, pendingOf }: Space,
  automaton: Automaton,
  judgement: Judgement,
): readonly Change[] {
  const { and, or, not, choose, variable } = diagram;
  const { state, match, reading } = judgement;
  const { id, kind } = automaton;
  const key = judgement.keyFor(automaton);
  if (key === "other" || (key === "unreadable" && kind === "atMost")) return [];
  // A call that failed before it had any effect is not counted, and does not succeed either.
  const counted = variable(choices.counted);
  const success = and(variable(choices.success), counted);
  const unlocked = key === "same" ? match(automaton.unlock) : 0;
  const read = reading(automaton);
  const stepped = atDispatch(automaton, read);
  const succeeded = atSuccess(automaton, diagram, stepped, unlocked);
  const bits = stepped.map((bit, index): Change => {
    const unlockedNow = choose(success, succeeded[index] ?? 0, bit);
    const node = kind === "atMost" ? choose(counted, bit, read.bit(index)) : unlockedNow;
    return [automatonBit(id, index), node];
  });
  const waits = and(not(success), unlocked);
  const shared = pendingOf.get(id) ?? id;
  const [first, second] = [state(pending(shared, 1)), state(pending(shared, 2))];
  return [...bits, [pending(shared, 1), or(first, waits)], [pending(shared, 2), or(second, and(first, waits))]];
}

function changesOf({ id }: Automaton, bits: readonly number[]): readonly Change[] {
  return bits.map((bit, index): Change => [automatonBit(id, index), bit]);
}

const stateOf = ({ diagram, levels, fixed }: Space, name: string): number =>
  fixed.get(name) ?? diagram.variable(levels.get(name) ?? 0);
const bitsNow = (space: Space, { id, bits }: Automaton): readonly number[] =>
  Array.from({ length: bits }, (_, bit) => stateOf(space, automatonBit(id, bit)));

function lateSuccess(space: Space, automaton: Automaton): Move {
  const { id } = automaton;
  const [first, second] = [stateOf(space, pending(id, 1)), stateOf(space, pending(id, 2))];
  const stillTwo = space.diagram.and(second, space.diagram.variable(choices.more));
  const sharing = space.model.automata.filter((other) => space.pendingOf.get(other.id) === id);
  const next = new Map([
    ...sharing.flatMap((one) => changesOf(one, atSuccess(one, space.diagram, bitsNow(space, one), 1))),
    [pending(id, 1), second] as const,
    [pending(id, 2), stillTwo] as const,
  ]);
  return { name: `late success for the automaton of ${id}`, when: first, bad: 0, next };
}

function tick(space: Space, automaton: Automaton): Move {
  const ticked = atTick(automaton, bitsNow(space, automaton));
  const followers = space.model.automata.filter((other) => follows(other, automaton));
  const next = new Map([
    ...changesOf(automaton, ticked),
    ...followers.flatMap((other) =>
      changesOf(
        other,
        bitsNow(space, other).map((bit, index) => space.diagram.and(bit, ticked[index] ?? ticked.at(-1) ?? 0)),
      ),
    ),
  ]);
  return { name: `time passing for the automaton of ${automaton.id}`, when: 1, bad: 0, next };
}

/** Labels held without any call: a server speaks, the host reads. */
function* untold(space: Space): Generator<Move> {
  const { model, diagram, held } = space;
  const holding = (brought: readonly (readonly [bigint, number])[]): ReadonlyMap<string, number> =>
    new Map(
      held.map(({ name, labels }): Change => {
        const here = brought.filter(([label]) => labels.includes(label)).map(([, when]) => when);
        return [name, here.reduce(diagram.or, stateOf(space, name))];
      }),
    );
  const everything = holding([[model.matters, 1]]);
  yield { name: "a server speaking outside any call", when: 1, bad: 0, next: everything };
  const { read } = model.host;
  if (read === "everything") yield { name: "the host reading by itself", when: 1, bad: 0, next: everything };
  if (read === "everything" || read === "nothing") return;
  const next = holding(readLabels(model, read, (name) => stateOf(space, name)));
  yield { name: "the host reading its stores", when: 1, bad: 0, next };
}
