/**
 * The shared part g of a state: comparing, joining, storing it, and the state of a run of which nothing is known.
 * What is stored names labels by bits and stores by name, so that it can be read under the same lattice only.
 */
import { isArray, isObject, member } from "../core/json.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Label, LabelRange } from "../core/label.ts";
import { describe, fromBits, joinRanges, unknownRange } from "../core/label.ts";
import type { Frame } from "./transition.ts";
import type { Q, StoreCell } from "./state.ts";
import { initialState, joinStores } from "./state.ts";

/** Everything may be held, written and seen: the state of a run whose history is lost. */
export function topState(frame: Frame): Q {
  const { lattice } = frame.ir;
  const unknown = unknownRange(lattice);
  const everyone = (1 << lattice.groups.length) - 1;
  const first = initialState(frame.ir, frame.slots, undefined);
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

export function exportShared(frame: Frame, q: Q): JsonObject {
  const stores: Record<string, Json> = {};
  frame.ir.stores.forEach(({ name }, index) => {
    const cell = q.stores[index];
    if (cell === undefined) return;
    const { label, audience, open, added } = cell;
    stores[name] = { lo: label.lo, hi: label.hi, audience, open, added: { lo: added.lo, hi: added.hi } };
  });
  const { levels, categories, groups } = frame.ir.lattice;
  return { lattice: { levels: [...levels], categories: [...categories], groups: [...groups] }, stores };
}

/** Reads a stored shared part; undefined if it was written under another lattice or is no such thing. */
export function importShared(frame: Frame, value: JsonObject): Q | undefined {
  const { lattice } = frame.ir;
  const written = member(value, "lattice");
  const same = (["levels", "categories", "groups"] as const).every(
    (part) => JSON.stringify(member(written, part)) === JSON.stringify(lattice[part]),
  );
  const stored = member(value, "stores");
  if (!same || !isObject(stored)) return undefined;
  const first = initialState(frame.ir, frame.slots, undefined);
  const cells: StoreCell[] = [];
  for (const [index, { name }] of frame.ir.stores.entries()) {
    const start = first.stores[index];
    if (start === undefined) return undefined;
    const found = member(stored, name);
    // A store that the policy declares since then starts as declared; a damaged entry spoils the whole.
    const cell = found === undefined ? start : readCell(frame, found);
    if (cell === undefined) return undefined;
    cells.push(cell);
  }
  return { ...first, stores: joinStores(first.stores, cells) };
}

function readCell(frame: Frame, value: Json): StoreCell | undefined {
  const { lattice } = frame.ir;
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
  if (least === undefined || most === undefined || isArray(value)) return undefined;
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
    return [{ store: name, label: describeRange(frame, cell.label), audience }];
  });
}

export function describeRange(frame: Frame, { lo, hi }: LabelRange): string {
  const worst = describe(frame.ir.lattice, hi);
  return lo === hi ? worst : `at most ${worst}`;
}
