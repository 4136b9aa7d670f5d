/**
 * Section 4 of the specification: the state as levels of a diagram. Between two levels of the certificate's order there
 * is room for variables that the checker adds: the same variable of another run, and the choices of the agent.
 */
import type { Diagram } from "./diagram.ts";
import { bitsOf, groupsOf } from "./labels.ts";
import type { Model } from "./model.ts";
import { quoted } from "./json.ts";

/** One variable of the run's context, and the labels that it stands for. */
export type HeldVariable = { readonly name: string; readonly labels: readonly bigint[] };
export type Space = {
  readonly model: Model;
  readonly diagram: Diagram;
  readonly held: readonly HeldVariable[];
  readonly levels: ReadonlyMap<string, number>;
  /** A bit that no tool can change: its value at the start, as a node. */
  readonly fixed: ReadonlyMap<string, 0 | 1>;
  /** The id under which the calls in flight of each automaton are counted. */
  readonly pendingOf: ReadonlyMap<string, string>;
  /** The variables that bring a bit: the number of their labels, and the labels that have it. */
  readonly bringing: (bit: number) => readonly Bringing[];
};
type Bringing = { readonly name: string; readonly labels: number; readonly places: readonly number[] };

/** Levels from one variable of the state to the next, and from the first level to the first variable. */
export const levelGap = 65_536;
const stateVariablesMax = 100_000;

export const storeBit = (store: string, bit: number): string => `S:${store}:${bit}`;
export const storeSeen = (store: string, group: number): string => `A:${store}:${group}`;
export const storeOpen = (store: string, group: number): string => `O:${store}:${group}`;
export const automatonBit = (id: string, bit: number): string => `M:${id}:${bit}`;
export const pending = (id: string, calls: 1 | 2): string => `P:${id}:${calls}`;

/**
 * Orders the state. A variable that the certificate leaves out is free: it comes last, and the invariant does not ask it.
 * @returns a reason to refuse where a name is unknown or twice, or a label that can be held has not exactly one variable.
 */
export function spaceOf(model: Model, variables: readonly string[], diagram: Diagram): Space | string {
  const held = variables.filter((name) => name.startsWith("K:")).map(heldVariable);
  const times = Map.groupBy(
    held.flatMap(({ labels }) => labels),
    (label) => label,
  );
  const unheld = model.holdable.find((label) => times.get(label)?.length !== 1);
  if (unheld !== undefined) return `not exactly one variable says whether the label ${unheld} is held`;
  const named = new Set(variables);
  const pendingOf = sharedPending(model, named);
  const state = [...held.map(({ name }) => name), ...storeNames(model), ...automatonNames(model, pendingOf)];
  if (state.length > stateVariablesMax) return `the state has more than ${stateVariablesMax} variables`;
  const known = new Set(state);
  const holdable = new Set(model.holdable);
  const stranger =
    variables.find((name) => !known.has(name)) ??
    held.find((one) => one.labels.some((label) => !holdable.has(label)))?.name;
  if (stranger !== undefined) return `the model has no variable ${quoted(stranger)}`;
  if (named.size !== variables.length) return "a variable is listed twice";
  const order = [...variables, ...state.filter((name) => !named.has(name))];
  const levels = new Map(order.map((name, index) => [name, (index + 1) * levelGap]));
  const brought = new Map(model.bits.map((bit) => [bit, bringing(held, bit)]));
  const fixed = unchanging(model);
  return { model, diagram, held, levels, fixed, pendingOf, bringing: (bit) => brought.get(bit) ?? [] };
}

function bringing(held: readonly HeldVariable[], bit: number): readonly Bringing[] {
  const all = held.map(({ name, labels }) => {
    const places = labels.flatMap((label, place) => (((label >> BigInt(bit)) & 1n) === 1n ? [place] : []));
    return { name, labels: labels.length, places };
  });
  return all.filter(({ places }) => places.length > 0);
}

function heldVariable(name: string): HeldVariable {
  const parts = name.slice(2).split(",");
  const labels = parts.map((part) => (/^[1-9][0-9]{0,15}$/.test(part) ? BigInt(part) : 0n));
  return { name, labels };
}

function storeNames({ policy, bits, lattice }: Model): readonly string[] {
  return Object.keys(policy.stores).flatMap((store) => [
    ...bits.map((bit) => storeBit(store, bit)),
    ...lattice.groups.flatMap((_, group) => [storeSeen(store, group), storeOpen(store, group)]),
  ]);
}

/** Automata that the same calls unlock count these calls together, under the id that the certificate chose. */
function sharedPending({ automata }: Model, named: ReadonlySet<string>): ReadonlyMap<string, string> {
  const sharing = Map.groupBy(automata, ({ unlockedBy, key }) => `${unlockedBy} ${key}`);
  const shared = [...sharing.values()].map((all) => {
    const ids = all.map(({ id }) => id);
    const chosen = ids.find((id) => named.has(pending(id, 1)) || named.has(pending(id, 2))) ?? ids[0];
    return ids.map((id) => [id, chosen ?? id] as const);
  });
  return new Map(shared.flat());
}

function unchanging(model: Model): ReadonlyMap<string, 0 | 1> {
  const { policy, tools, bits, lattice } = model;
  const opens = tools.flatMap((tool) => tool.opens);
  const touched = new Set([...tools.flatMap(({ writes }) => writes), ...opens.map(({ store }) => store)]);
  const opened = new Set(
    opens.flatMap(({ store, audience }) => bitsOf(BigInt(audience)).map((group) => storeSeen(store, group))),
  );
  const names = Object.keys(policy.stores).flatMap((store) => [
    ...(touched.has(store) ? [] : bits.map((bit) => storeBit(store, bit))),
    ...lattice.groups.flatMap((_, group) =>
      opened.has(storeSeen(store, group)) ? [] : [storeSeen(store, group), storeOpen(store, group)],
    ),
  ]);
  const start = startOf(model);
  return new Map(names.map((name) => [name, start.has(name) ? 1 : 0]));
}

function automatonNames({ automata }: Model, pendingOf: Space["pendingOf"]): readonly string[] {
  return automata.flatMap(({ id, bits }) => [
    ...Array.from({ length: bits }, (_, bit) => automatonBit(id, bit)),
    ...(pendingOf.get(id) === id ? [pending(id, 1), pending(id, 2)] : []),
  ]);
}

/** Names of the variables that are true at the start: only those of stores can be. */
export function startOf({ policy, lattice, startLabel }: Model): ReadonlySet<string> {
  return new Set(
    Object.entries(policy.stores).flatMap(([store, { audience }]) => [
      ...bitsOf(startLabel(store)).map((bit) => storeBit(store, bit)),
      ...bitsOf(groupsOf(lattice, audience)).map((group) => storeSeen(store, group)),
    ]),
  );
}
