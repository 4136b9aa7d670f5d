/**
 * The stored shared part by itself, without the policy that wrote it: it names its lattice, so it can be put in words,
 * and a person can have a store forgotten, when no policy is loaded that declares it.
 */
import type { Json, JsonObject } from "../core/json.ts";
import { isArray, isObject, member } from "../core/json.ts";
import type { Lattice } from "../core/label.ts";
import { makeLattice } from "../core/label.ts";
import { describeLabels, readCell } from "./shared-state.ts";

/** A store in words: what it may hold, who may read it, and who reads it unasked. */
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
