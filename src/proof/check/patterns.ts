/**
 * Section 3 of the specification: conditions of a pattern on the contract and its truth values are decided here;
 * conditions on labels and stores become atoms for the diagrams.
 */
import type { Json } from "./json.ts";
import { type Atom, type LabelForm, type Lattice, atomOf, dataShape, groupsOf, labelShape } from "./labels.ts";
import { predicateOf, workspacePredicate } from "./predicates.ts";
import { type Typed, misfit } from "./shape.ts";

const storeShape = { fields: { name: "text" }, optional: { label: labelShape, audience: { list: "text" } } } as const;
export const patternShape = {
  fields: {},
  optional: {
    tool: { list: "text" },
    effect: { list: "text" },
    flags: { list: { words: ["irreversible", "open_world"] } },
    arg: { map: "any" },
    data: { list: dataShape },
    held: labelShape,
    store: { list: storeShape },
    workspace: "flag",
  },
} as const;
export type PatternForm = Typed<typeof patternShape>;
type DataForm = Typed<typeof dataShape>;

export type Data = {
  /** Number of this atom among all of the model: an argument lists the atoms that select it. */
  readonly index: number;
  readonly atom: Atom;
  readonly roles: readonly string[] | undefined;
  readonly args: readonly string[] | undefined;
  readonly audience: bigint | undefined;
};
export type StoreTest = {
  readonly store: string;
  readonly atom: Atom | undefined;
  readonly audience: bigint | undefined;
};
export type Pattern = {
  readonly restricts: boolean;
  readonly selectors: readonly string[] | undefined;
  readonly effects: readonly string[] | undefined;
  readonly flags: readonly string[];
  readonly truths: ReadonlyMap<string, boolean>;
  readonly data: readonly Data[];
  readonly held: Atom | undefined;
  readonly stores: readonly StoreTest[];
};

export type PatternReader = { readonly lattice: Lattice; readonly nextDataIndex: () => number };

export function patternOf({ lattice, nextDataIndex }: PatternReader, form: PatternForm, restricts: boolean): Pattern {
  const truths = new Map<string, boolean>();
  const conditions: DataForm[] = [...(form.data ?? [])];
  for (const [argument, test] of Object.entries(form.arg ?? {})) {
    const label = labelTested(test, lattice);
    if (label !== undefined) conditions.push({ ...label, args: [argument] });
    if (label !== undefined && restricts) continue;
    const form = label === undefined ? test : { present: true };
    truths.set(predicateOf(argument, form, { restricts, refuse: lattice.refuse }), true);
  }
  if (form.workspace !== undefined) truths.set(workspacePredicate, form.workspace);
  const atom = (label: LabelForm | undefined): Atom | undefined =>
    label === undefined ? undefined : atomOf(lattice, label, restricts);
  const audience = (names: readonly string[] | undefined): bigint | undefined =>
    names === undefined ? undefined : groupsOf(lattice, names);
  return {
    restricts,
    selectors: form.tool,
    effects: form.effect,
    flags: form.flags ?? [],
    truths,
    data: conditions.map((one) => ({
      index: nextDataIndex(),
      atom: atomOf(lattice, one, restricts),
      roles: one.roles,
      args: one.args,
      audience: audience(one.audience),
    })),
    held: atom(form.held),
    stores: (form.store ?? []).map((one) => ({
      store: one.name,
      atom: atom(one.label),
      audience: audience(one.audience),
    })),
  };
}

function labelTested(test: Json, lattice: Lattice): LabelForm | undefined {
  if (test === null || typeof test !== "object" || !("label" in test)) return undefined;
  const reason = misfit(test, { fields: { label: labelShape } }, "a test of an argument's label");
  if (reason !== undefined) lattice.refuse(reason);
  return reason === undefined ? (test.label as LabelForm) : {}; // the shape was found to fit one line above
}

/** All bits that the atoms of a pattern mention. */
export function atomsOf(pattern: Pattern): readonly Atom[] {
  const found = [...pattern.data.map(({ atom }) => atom), pattern.held, ...pattern.stores.map(({ atom }) => atom)];
  return found.filter((atom) => atom !== undefined);
}

export type Effects = { readonly must: readonly string[]; readonly may: readonly string[] };
export type Flags = { readonly irreversible: boolean; readonly openWorld: boolean };
const covers = (prefix: string, effect: string): boolean => effect === prefix || effect.startsWith(`${prefix}.`);
export const mayDo = ({ may }: Effects, prefix: string): boolean =>
  may.some((effect) => covers(prefix, effect) || (!effect.includes(".") && covers(effect, prefix)));
export const mustDo = ({ must }: Effects, prefix: string): boolean => must.some((effect) => covers(prefix, effect));

/** A call of one tool without labels of arguments and state. `all` stands for every effect. */
export type Action = {
  readonly server: string;
  readonly tool: string;
  readonly effects: Effects | "all";
  readonly flags: Flags;
};

export const fitsTool = ({ selectors, flags }: Pattern, action: Omit<Action, "effects">): boolean =>
  (selectors?.some((selector) => selects(selector, action)) ?? true) &&
  flags.every((flag) => (flag === "irreversible" ? action.flags.irreversible : action.flags.openWorld));

export function fitsEffects({ restricts, effects }: Pattern, done: Effects | "all"): boolean {
  if (effects === undefined || done === "all") return true;
  return effects.some((prefix) => (restricts ? mayDo(done, prefix) : mustDo(done, prefix)));
}

function selects(selector: string, { server, tool }: { readonly server: string; readonly tool: string }): boolean {
  const dot = selector.indexOf(".");
  if (dot < 0) return globFits(selector, tool);
  return globFits(selector.slice(0, dot), server) && globFits(selector.slice(dot + 1), tool);
}

/** `*` stands for any characters. Each piece is looked for once, leftmost: no selector can make this slow. */
function globFits(glob: string, text: string): boolean {
  const [first = "", ...rest] = glob.split("*");
  const last = rest.pop();
  if (last === undefined) return glob === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Equal for patterns that ask the same, however they are written. */
export function meaningOf({ data, truths, held, stores, ...rest }: Pattern): string {
  const atom = (one: Atom | undefined): readonly string[] => (one === undefined ? [] : [one.kind, String(one.bits)]);
  return JSON.stringify([
    rest,
    [...truths],
    data.map(({ atom: own, roles, args, audience }) => [atom(own), roles, args, String(audience)]),
    atom(held),
    stores.map((store) => [store.store, atom(store.atom), String(store.audience)]),
  ]);
}
