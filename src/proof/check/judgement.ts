/** Sections 3, 6 and 7 of the specification: the calls of a class that match, that are permitted, and that are bad. */
import { type Automaton, type Reading, fires } from "./automata.ts";
import { type Caller, type Carried, carriedBy } from "./carried.ts";
import type { Class, Key } from "./classes.ts";
import { type Atom, bitsOf } from "./labels.ts";
import type { Pattern } from "./patterns.ts";
import { type Space, automatonBit, storeBit, storeSeen } from "./space.ts";

export type Judgement = {
  /** The function of a state variable, seen by the run that calls. */
  readonly state: (name: string) => number;
  readonly heldBit: (bit: number) => number;
  /** One bit of the join of all arguments' labels. */
  readonly argumentsBit: (bit: number) => number;
  readonly match: (pattern: number | undefined) => number;
  readonly reading: (automaton: Automaton) => Reading;
  /** The key of this class as an automaton sees it: one without a key follows every call. */
  readonly keyFor: (automaton: Automaton) => Key;
  readonly permitted: () => number;
  readonly bad: () => number;
};
export function judgementOf(space: Space, one: Class, caller: Caller): Judgement {
  const { model, diagram } = space;
  const { and, or, not } = diagram;
  const any = (nodes: readonly number[]): number => nodes.reduce(or, 0);
  const all = (nodes: readonly number[]): number => nodes.reduce(and, 1);
  const { state, heldBit, argumentBit, untrustedBit } = carriedBy(space, caller);
  const joinOf = (index: number, chosen: (argument: Class["arguments"][number]) => boolean): number =>
    any(one.arguments.flatMap((argument, place) => (chosen(argument) ? [argumentBit(place, index)] : [])));

  const satisfied = ({ kind, bits }: Atom, bitOf: (index: number) => number): number =>
    all(bitsOf(bits).map((index) => (kind === "atLeast" ? bitOf(index) : not(bitOf(index)))));
  const conditions = ({ data, held: holding, stores }: Pattern): readonly number[] => [
    ...data.map(({ index, atom }) =>
      satisfied(atom, (at) => joinOf(at, ({ selectedBy }) => selectedBy.includes(index))),
    ),
    holding === undefined ? 1 : satisfied(holding, heldBit),
    ...stores.flatMap(({ store, atom, audience }) => [
      atom === undefined ? 1 : satisfied(atom, (at) => state(storeBit(store, at))),
      audience === undefined ? 1 : any(bitsOf(audience).map((group) => state(storeSeen(store, group)))),
    ]),
  ];
  const known = new Map<number, number>();
  const match = (number: number | undefined): number => {
    const pattern = number === undefined ? undefined : model.patterns[number];
    if (number === undefined || pattern === undefined || !one.fits.includes(number)) return 0;
    const node = known.get(number) ?? all(conditions(pattern));
    known.set(number, node);
    return node;
  };

  const reading = ({ id }: Automaton): Reading => ({
    diagram,
    bit: (index) => state(automatonBit(id, index)),
    match,
    consequential: one.consequential,
  });
  const keyFor = ({ key }: Automaton): Key => (key === undefined ? "same" : one.key);
  const fired = (automaton: Automaton): number => {
    const { kind, fireOn } = automaton;
    const key = keyFor(automaton);
    if (key === "other" || (key === "unreadable" && kind === "atMost")) return 0;
    // A gate opened for one key is not open for an unreadable key.
    return key === "unreadable" && kind === "gate" ? match(fireOn) : fires(automaton, reading(automaton));
  };
  const refusedByDefault = (): number => {
    const asks = askedByDefault(space, one, { heldBit, argumentBit, untrustedBit });
    return model.allow === undefined ? 0 : and(asks, not(any(model.allow.map(match))));
  };
  const permitted = (): number =>
    one.observed ? 1 : not(any([...model.plain.map(match), ...model.enforced.map(fired), refusedByDefault()]));
  const { hazard } = model;
  const bad = (): number => (hazard.kind === "match" ? all(hazard.patterns.map(match)) : fired(hazard.automaton));
  const argumentsBit = (index: number): number => joinOf(index, () => true);
  return { state, heldBit, argumentsBit, match, reading, keyFor, permitted, bad };
}

/** Where the default of section 6 asks about a call, allow rules aside. */
function askedByDefault(
  { model, diagram }: Space,
  one: Class,
  { heldBit, argumentBit, untrustedBit }: Pick<Carried, "heldBit" | "argumentBit" | "untrustedBit">,
): number {
  const { and, or, not } = diagram;
  const any = (nodes: readonly number[]): number => nodes.reduce(or, 0);
  const chosenBadly = (): number =>
    any(
      one.arguments.flatMap(({ control, forbidden }, place) => [
        control ? argumentBit(place, untrustedBit) : 0,
        ...bitsOf(BigInt(forbidden)).map((index) => argumentBit(place, index)),
      ]),
    );
  // An argument that carries nothing may be left out, and then the call reads at no place.
  const placed = (): number =>
    any(
      one.arguments.flatMap(({ place }, index) =>
        place ? bitsOf(model.matters).map((at) => argumentBit(index, at)) : [],
      ),
    );
  // What is given carries all that is held, and in `provenance` a call that carries something is a choice, too.
  const untraced = (): number => {
    const { mode } = model.policy.flow;
    if (one.answers || mode === "none" || mode === "provenance") return 0;
    const given = one.arguments.flatMap(({ control }, place) => (control ? [argumentBit(place, untrustedBit)] : []));
    return and(heldBit(untrustedBit), not(any(given)));
  };
  switch (one.byDefault) {
    case "asks":
      return 1;
    case "acts":
      return or(chosenBadly(), untraced());
    case "reads":
      return and(placed(), chosenBadly());
    case "passes":
      return 0;
  }
}
