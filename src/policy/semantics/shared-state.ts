/**
 * The shared part g of a state: comparing, joining, storing it, and the state of an unknown run. The stored form names
 * labels by bits and stores by name, so that it can be read under the same lattice only.
 */
import { type Json, type JsonObject, isObject, member, isArray } from "../../core/json.ts";
import {
  type Label,
  type LabelRange,
  type Lattice,
  atMost,
  describe,
  fromBits,
  joinRanges,
  unknownRange,
  makeLattice,
} from "../../core/label.ts";
import type { Frame } from "./transition.ts";
import { type Q, type StoreCell, initialState, joinStores } from "./state.ts";

/**
 * Everything may be held: the state of a run whose history is lost. Stores have a record of their own, so where that is
 * there they are those of `known`; without it everything may be written and seen in each of them.
 */
export function topState(frame: Frame, known?: Q): Q {
  const { lattice } = frame.ir;
  const unknown = unknownRange(lattice);
  const everyone = (1 << lattice.groups.length) - 1;
  const first = initialState(frame.ir, frame.slots, undefined);
  if (known !== undefined) return { ...first, stores: known.stores, held: [unknown], lost: true };
  const stores = first.stores.map(({ label }) => ({
    label: joinRanges(label, unknown),
    audience: everyone,
    open: everyone,
    added: unknown,
  }));
  return { ...first, stores, held: [unknown], lost: true };
}

export function sharedChanged(before: Q, after: Q): boolean {
  return before.stores !== after.stores && before.stores.some((store, index) => !sameCell(store, after.stores[index]));
}

function sameCell(left: StoreCell, right: StoreCell | undefined): boolean {
  return (
    right !== undefined &&
    left.label.lo === right.label.lo &&
    left.label.hi === right.label.hi &&
    left.audience === right.audience &&
    left.open === right.open &&
    left.added.lo === right.added.lo &&
    left.added.hi === right.added.hi
  );
}

/** A state over the shared part of another; the join of both, so that nothing is ever forgotten by it. */
export function withShared(q: Q, shared: Q): Q {
  return { ...q, stores: joinStores(q.stores, shared.stores) };
}

/**
 * The shared part as it is stored. What `former` says under the same lattice of stores that this policy does not
 * declare is kept: another policy of the same owner does, and its labels must not fall.
 */
export function exportShared(frame: Frame, q: Q, former?: JsonObject): JsonObject {
  const { levels, categories, groups } = frame.ir.lattice;
  const lattice = { levels: [...levels], categories: [...categories], groups: [...groups] };
  const others = former !== undefined && sameLattice(frame, former) ? member(former, "stores") : undefined;
  const stores: Record<string, Json> = isObject(others) ? { ...(others as JsonObject) } : {}; // an object is no RawNumber
  frame.ir.stores.forEach(({ name }, index) => {
    const cell = q.stores[index];
    if (cell === undefined) return;
    const { label, audience, open, added } = cell;
    stores[name] = { lo: label.lo, hi: label.hi, audience, open, added: { lo: added.lo, hi: added.hi } };
  });
  return { lattice, stores };
}

function sameLattice({ ir }: Frame, value: JsonObject): boolean {
  const written = member(value, "lattice");
  return (["levels", "categories", "groups"] as const).every(
    (part) => JSON.stringify(member(written, part)) === JSON.stringify(ir.lattice[part]),
  );
}

/** Reads a stored shared part; undefined if it was written under another lattice or is malformed. */
export function importShared(frame: Frame, value: JsonObject): Q | undefined {
  const { lattice } = frame.ir;
  const stored = member(value, "stores");
  if (!isObject(stored)) return undefined;
  const first = initialState(frame.ir, frame.slots, undefined);
  // Without stored stores there is no label whose meaning another lattice could change: the user has reset them all.
  if (!sameLattice(frame, value)) return Object.keys(stored).length === 0 ? first : undefined;
  const cells: StoreCell[] = [];
  for (const [index, { name }] of frame.ir.stores.entries()) {
    const start = first.stores[index];
    if (start === undefined) return undefined;
    const found = member(stored, name);
    // A store that the policy declares since then starts as declared; a damaged entry spoils the whole.
    const cell = found === undefined ? start : readCell(lattice, found);
    if (cell === undefined) return undefined;
    cells.push(cell);
  }
  return { ...first, stores: joinStores(first.stores, cells) };
}

/** A store as it was written under a lattice; undefined if it is malformed. */
export function readCell(lattice: Lattice, value: Json): StoreCell | undefined {
  const bits = (from: Json | undefined, name: string): Label | undefined => {
    const found = member(from, name);
    return typeof found === "number" ? fromBits(lattice, found) : undefined;
  };
  const groups = (name: string): number | undefined => {
    const found = member(value, name);
    const known = typeof found === "number" && Number.isInteger(found) && found >= 0;
    return known && found < 1 << lattice.groups.length ? found : undefined;
  };
  const lo = bits(value, "lo");
  const hi = bits(value, "hi");
  const brought = member(value, "added");
  const least = bits(brought, "lo");
  const most = bits(brought, "hi");
  const audience = groups("audience");
  const open = groups("open");
  if (lo === undefined || hi === undefined || audience === undefined || open === undefined) return undefined;
  if (least === undefined || most === undefined) return undefined;
  if (!atMost(lo, hi) || !atMost(least, most)) return undefined;
  return { label: { lo, hi }, audience, open, added: { lo: least, hi: most } };
}

/** Stores in words, for `runs` and messages. */
export function describeStores(
  frame: Frame,
  q: Q,
): readonly { readonly store: string; readonly label: string; readonly audience: readonly string[] }[] {
  const { lattice } = frame.ir;
  return frame.ir.stores.flatMap(({ name }, index) => {
    const cell = q.stores[index];
    if (cell === undefined) return [];
    const audience = lattice.groups.filter((_, group) => (cell.audience & (1 << group)) !== 0);
    return [{ store: name, label: describeLabels(lattice, cell.label), audience }];
  });
}

export function describeLabels(lattice: Lattice, { lo, hi }: LabelRange): string {
  const worst = describe(lattice, hi);
  return lo === hi ? worst : `at most ${worst}`;
}

/** A store in words: its possible content, its audience, and the groups that read it without a question. */
export type StoreWords = {
  readonly store: string;
  readonly label: string;
  readonly audience: readonly string[];
  readonly open: readonly string[];
};

/** A shared part in which every store is as the policy that reads it declares. */
export const nothingShared: JsonObject = { stores: {} };

/** The stores of a stored shared part, by name; undefined if it is damaged. */
export function storesInWords(value: JsonObject): readonly StoreWords[] | undefined {
  const stores = member(value, "stores");
  if (!isObject(stores)) return undefined;
  const names = Object.keys(stores).toSorted();
  if (names.length === 0) return [];
  const lattice = latticeOf(member(value, "lattice"));
  if (lattice === undefined) return undefined;
  const words: StoreWords[] = [];
  for (const store of names) {
    const found = member(stores, store);
    const cell = found === undefined ? undefined : readCell(lattice, found);
    if (cell === undefined) return undefined;
    const groups = (bits: number): string[] => lattice.groups.filter((_, group) => (bits & (1 << group)) !== 0);
    const [audience, open] = [groups(cell.audience), groups(cell.open)];
    words.push({ store, label: describeLabels(lattice, cell.label), audience, open });
  }
  return words;
}

/** The stored shared part as if nothing had ever reached the store; undefined if it knows no such store. */
export function withoutStore(value: JsonObject, store: string): JsonObject | undefined {
  const stores = member(value, "stores");
  if (!isObject(stores) || !Object.hasOwn(stores, store)) return undefined;
  return { ...value, stores: Object.fromEntries(Object.entries(stores).filter(([name]) => name !== store)) };
}

function latticeOf(written: Json | undefined): Lattice | undefined {
  const names = (part: string): readonly string[] | undefined => {
    const found = member(written, part);
    return isArray(found) && found.every((name) => typeof name === "string") ? found : undefined;
  };
  const [levels, categories, groups] = [names("levels"), names("categories"), names("groups")];
  if (levels === undefined || categories === undefined || groups === undefined) return undefined;
  const made = makeLattice({ levels, categories, groups });
  return made.ok ? made.value : undefined;
}
