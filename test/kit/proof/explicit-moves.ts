/** The moves of docs/semantics.md 6 and 7 over plain values: who may do what, and which of it is bad. */
import type { ToolContract } from "../../../src/core/contract.ts";
import { mayCover } from "../../../src/core/effect.ts";
import {
  type Around,
  type Automaton,
  type Move,
  type MoveArgument,
  type State,
  type Store,
  type Touch,
  type World,
  atDispatch,
  atomHolds,
  dataLabel,
  fires,
  joinOf,
  matches,
  triggersOf,
  unlocked,
  untouched,
  widthOf,
} from "./explicit-model.ts";

/** Of a call to the key that is followed. */
export type KeyRelation = "same" | "other" | "unreadable";

/** A class of calls: a contract, a truth for each predicate of the policy, and whether it has the key that is followed. */
export type Class = {
  readonly contract: ToolContract;
  readonly truths: ReadonlyMap<number, boolean>;
  readonly key: KeyRelation;
  /** Nothing is enforced at its server. */
  readonly observed: boolean;
};

export function classesOf({ subject, ir, automata }: World): readonly Class[] {
  const { policy, table } = subject.policy;
  const keyed = automata.some(({ key }) => key !== undefined);
  const vectors = mentioned(ir, subject.contracts).reduce<readonly ReadonlyMap<number, boolean>[]>(
    (all, index) => all.flatMap((truths) => [new Map(truths).set(index, true), new Map(truths).set(index, false)]),
    [new Map()],
  );
  return subject.contracts.flatMap((contract) =>
    vectors.flatMap((truths) =>
      (keyed ? (["same", "other", "unreadable"] as const) : (["same"] as const)).map((key): Class => {
        const holding = contract.cases.filter((one) => one.predicates.every((index) => truths.get(index) === true));
        const output = holding.flatMap((one) => one.output ?? [])[0] ?? contract.output;
        const [chosen] = holding.flatMap((one) => one.effects ?? []);
        const effects = chosen ?? contract.effects;
        const undone = chosen?.may.every((effect) => /^read(?:\.|$)/.test(effect)) === true;
        const flags = undone ? { ...contract.flags, irreversible: false } : contract.flags;
        const observed = policy.mode === "observe" || table.servers.get(contract.server)?.mode === "observe";
        return { contract: { ...contract, output, effects, flags }, truths, key, observed };
      }),
    ),
  );
}

/** Predicates that are written anywhere in the policy; the first is the workspace, which the default looks at. */
function mentioned(ir: World["ir"], contracts: readonly ToolContract[]): readonly number[] {
  const text = JSON.stringify([ir.rules, ir.hazards]);
  const chosenBy = new Set(contracts.flatMap(({ cases }) => cases.flatMap(({ predicates }) => predicates)));
  return ir.predicates.flatMap((_, index) =>
    index === 0 || text.includes(`"index":${index},`) || chosenBy.has(index) ? [index] : [],
  );
}

export function startOf({ ir, automata }: World): State {
  return {
    held: [],
    stores: ir.stores.map(({ initial, audience }) => ({ label: initial.hi, audience, open: 0 })),
    automata: automata.map((one) => ({ bits: Array.from({ length: widthOf(one) }, () => false), pending: 0 })),
  };
}

/** Joins of all subsets. */
export function joins(labels: readonly number[]): readonly number[] {
  return [...labels.reduce((all, label) => new Set([...all, ...[...all].map((one) => one | label)]), new Set([0]))];
}

/** The labels that the agent can give to an argument. */
export function choicesOf({ ir }: World, held: readonly number[]): readonly number[] {
  const { untrustedBit } = ir.lattice;
  switch (ir.flow) {
    case "none":
      return [0];
    case "strict":
      return [...new Set([0, joinOf(held)])];
    case "provenance": {
      const secret = joins(held.map((label) => label & ~untrustedBit));
      const tainted = (joinOf(held) & untrustedBit) !== 0;
      return tainted ? [...secret, ...secret.map((label) => label | untrustedBit)] : secret;
    }
  }
}

/** The arguments of a class: those of the contract, those that some pattern names, and one that no list of names mentions. */
export function argumentsOf({ names }: World, contract: ToolContract): readonly Omit<MoveArgument, "label">[] {
  const declared = [...contract.arguments].map(([name, argument]) => ({ name, contract: argument }));
  const named = names
    .filter((name) => !contract.arguments.has(name))
    .map((name) => ({ name, contract: contract.rest }));
  return [...declared, ...named, { name: undefined, contract: contract.rest }];
}

/** Every way to give labels to the arguments of a class. */
export function optionsOf(
  world: World,
  contract: ToolContract,
  choices: readonly number[],
): readonly Move["arguments"][] {
  return argumentsOf(world, contract).reduce<readonly Move["arguments"][]>(
    (all, argument) => all.flatMap((before) => choices.map((label) => [...before, { ...argument, label }])),
    [[]],
  );
}

/** Everything that a dispatch means to the model in one state, automata aside. */
export type Reading = {
  /** A plain rule or the default refuses it. */
  readonly stopped: boolean;
  /** It is bad for a hazard that is no automaton. */
  readonly bad: boolean;
  readonly observed: boolean;
  readonly consequential: boolean;
  readonly touches: readonly Touch[];
  readonly stores: readonly Store[];
  /** What the whole result brings, and what its fields bring besides. */
  readonly whole: readonly number[];
  readonly fields: readonly number[];
};

export function read(world: World, one: Class, given: Move["arguments"], state: State): Reading {
  const { plain, automata } = world;
  const { contract, truths, key, observed } = one;
  const move: Move = { contract, truths, arguments: given };
  const around = { held: joinOf(state.held), stores: state.stores };
  const stores = storesAfter(world, move, state.stores);
  const touches = automata.map((automaton) => touchOf(automaton, key, move, around));
  const readStores = world.ir.stores.flatMap(({ name }, index) => (contract.reads.includes(name) ? [index] : []));
  return {
    stopped: plain.some(({ when }) => matches(when, "restrict", move, around)) || defaultAsks(world, move, around),
    bad: isBad(world, move, around),
    observed,
    consequential: contract.consequential,
    touches,
    stores,
    whole: [contract.output.label.hi, ...brought(world, stores, readStores)],
    fields: contract.output.fields.map(({ label }) => label.hi),
  };
}

export function touchOf(automaton: Automaton, key: KeyRelation, move: Move, around: Around): Touch {
  const { temporal } = automaton;
  const keyed = automaton.key !== undefined;
  if (keyed && (key === "other" || (key === "unreadable" && temporal.kind === "at-most"))) return untouched;
  const { fires: firing, arms, unlocks } = triggersOf(temporal);
  const keyless = keyed && key === "unreadable";
  return {
    fires: firing !== undefined && matches(firing, "restrict", move, around),
    arms: arms !== undefined && matches(arms, "restrict", move, around),
    unlocks: unlocks !== undefined && !keyless && matches(unlocks, "permit", move, around),
    ...(keyless ? { keyless } : {}),
  };
}

export function isBad({ hazard }: World, move: Move, around: Around): boolean {
  switch (hazard.kind) {
    case "flow":
      return matches(hazard.to, "restrict", move, around) && atomHolds(hazard.from.atom, dataLabel(hazard.from, move));
    case "call":
      return matches(hazard.call, "restrict", move, around);
    case "temporal":
      return false;
  }
}

const acting = [
  "read.external.send",
  "write.external",
  ...["delete", "pay", "grant", "credential", "config", "actuate"].map((action) => `write.local.${action}`),
];

function defaultAsks({ ir, withDefault, bounds, allows }: World, move: Move, around: Around): boolean {
  if (!withDefault || allows.some(({ when }) => matches(when, "permit", move, around))) return false;
  const { effects, flags } = move.contract;
  const may = (prefix: string): boolean => mayCover(prefix, effects.may);
  const control = move.arguments.filter(({ contract }) => contract.role !== "content");
  // What is empty may as well be left out.
  const acts =
    flags.irreversible ||
    acting.some(may) ||
    (may("read.external") && control.some(({ contract, label }) => contract.sink && label !== 0));
  const traced = move.contract.answers === true || ir.flow !== "strict" || control.some(({ label }) => label !== 0);
  const untraced = !traced && (around.held & ir.lattice.untrustedBit) !== 0;
  const surely = flags.irreversible || acting.some(may);
  const asks =
    control.some(({ label }) => (label & ir.lattice.untrustedBit) !== 0) ||
    move.arguments.some(({ contract, label }) => contract.sink && (label & contract.forbidden & bounds) !== 0);
  const loose = move.contract.process === undefined;
  const inside = loose && (may("execute") || (may("write.local") && move.truths?.get(0) !== true));
  return inside || (acts && asks) || (surely && untraced);
}

function storesAfter({ ir }: World, { contract, arguments: given }: Move, stores: readonly Store[]): readonly Store[] {
  const sent = joinOf(given.map(({ label }) => label));
  const loose = contract.process === undefined;
  // A process that is not enclosed may have read anything.
  const sentTo = (name: string): number => (loose && name === `proc:${contract.server}` ? ir.lattice.top : sent);
  return stores.map((store, index) => {
    const name = ir.stores[index]?.name ?? "";
    const groups = contract.opens.filter((open) => open.store === name).flatMap((open) => open.audience);
    const bits = joinOf(groups.map((group) => 1 << ir.lattice.groups.indexOf(group)));
    const outsider = groups.some((group) => group !== "me") ? ir.lattice.untrustedBit : 0;
    return {
      label: store.label | outsider | (contract.writes.includes(name) ? sentTo(name) : 0),
      audience: store.audience | bits,
      open: store.open | bits,
    };
  });
}

/** The label of a value that has a restriction, and no other that it need not have. */
function basicLabel({ ir }: World, bit: number): number {
  return bit < ir.lattice.levels.length - 1 ? (1 << (bit + 1)) - 1 : 1 << bit;
}

export function basicLabels(world: World): readonly number[] {
  return Array.from({ length: world.ir.lattice.bitCount }, (_, bit) => basicLabel(world, bit));
}

/** What reading these stores brings. */
export function brought(world: World, stores: readonly Store[], indices: readonly number[]): readonly number[] {
  const label = joinOf(indices.map((index) => stores[index]?.label ?? 0));
  return basicLabels(world).filter((_, bit) => (label & (1 << bit)) !== 0);
}

/** Whether the rules let the dispatch through, and whether it is bad, in a state of the automata. */
export function judge(
  world: World,
  reading: Reading,
  state: State,
): { readonly permitted: boolean; readonly bad: boolean } {
  const firing = world.automata.filter((automaton, index) => {
    const touch = reading.touches[index];
    const bits = state.automata[index]?.bits;
    return touch !== undefined && bits !== undefined && fires(automaton, bits, touch, reading.consequential);
  });
  const rules = firing.filter(({ id }) => id !== world.hazard.id);
  return {
    permitted: reading.observed || (!reading.stopped && rules.length === 0),
    bad: reading.bad || firing.length > rules.length,
  };
}

/** What the environment chooses of a dispatch: whether it counts, whether it succeeds at once, what the agent gets. */
export type Choice = { readonly counts: boolean; readonly succeeds: boolean; readonly labels: readonly number[] };

export function afterDispatch(world: World, reading: Reading, state: State, choice: Choice): State {
  const { consequential } = reading;
  const automata = world.automata.map((automaton, index) => {
    const { bits, pending } = state.automata[index] ?? { bits: [], pending: 0 };
    const touch = reading.touches[index] ?? untouched;
    const after = atDispatch(automaton, bits, touch, { consequential, counts: choice.counts });
    if (!touch.unlocks) return { bits: after, pending };
    if (choice.succeeds) return { bits: unlocked(automaton, after), pending };
    return { bits: after, pending: world.waits[index] === index ? Math.min(2, pending + 1) : pending };
  });
  return { held: withHeld(state.held, choice.labels), stores: reading.stores, automata };
}

/** All states that a permitted dispatch can lead to. */
export function dispatched(world: World, reading: Reading, state: State): readonly State[] {
  const counted = world.automata.some(
    ({ temporal }, index) => temporal.kind === "at-most" && reading.touches[index]?.fires,
  );
  const opens = reading.touches.some(({ unlocks }) => unlocks);
  const found: State[] = [];
  for (const counts of counted ? [true, false] : [true]) {
    // What does not count has failed.
    for (const succeeds of opens && counts ? [true, false] : [false]) {
      for (const labels of [[], reading.whole, [...reading.whole, ...reading.fields]]) {
        found.push(afterDispatch(world, reading, state, { counts, succeeds, labels }));
      }
    }
  }
  return found;
}

export function withHeld(held: readonly number[], labels: readonly number[]): readonly number[] {
  return [...new Set([...held, ...labels.filter((label) => label !== 0)])].toSorted((left, right) => left - right);
}
