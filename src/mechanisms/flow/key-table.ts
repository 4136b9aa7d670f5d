/**
 * A hash table from 32-bit keys to what carries them: a set of label ranges (bits) and the first source. Typed arrays,
 * open addressing. Keys are not verified against text: a collision can only add a label, never lose one.
 */
import { tableKeysMax } from "./limits.ts";

export type KeyTable = {
  count: number;
  keys: Int32Array;
  /** Bit i = label range i; 0 = free slot. */
  masks: Int32Array;
  sources: Int32Array;
};

const firstSlots = 1_024;

export function makeKeyTable(): KeyTable {
  return {
    count: 0,
    keys: new Int32Array(firstSlots),
    masks: new Int32Array(firstSlots),
    sources: new Int32Array(firstSlots),
  };
}

export function copyKeyTable({ count, keys, masks, sources }: KeyTable): KeyTable {
  return { count, keys: keys.slice(), masks: masks.slice(), sources: sources.slice() };
}

/** Adds the bits of `mask` to a key; false when the table is full, and the caller must label coarsely. */
export function addKey(table: KeyTable, key: number, mask: number, source: number): boolean {
  const slot = slotOf(table, key);
  const before = table.masks[slot] ?? 0;
  if (before === 0) {
    if (table.count >= tableKeysMax) return false;
    table.keys[slot] = key;
    table.sources[slot] = source;
    table.count += 1;
  }
  table.masks[slot] = before | mask;
  if (before === 0 && table.count * 2 > table.keys.length) grow(table);
  return true;
}

/** Label ranges of a key as bits; 0 if it was never added. */
export function maskOf(table: KeyTable, key: number): number {
  return table.masks[slotOf(table, key)] ?? 0;
}

/** Source that first had the key; meaningful only where `maskOf` is not 0. */
export function sourceOf(table: KeyTable, key: number): number {
  return table.sources[slotOf(table, key)] ?? 0;
}

function slotOf(table: KeyTable, key: number): number {
  const wrap = table.keys.length - 1;
  let slot = spread(key) & wrap;
  // The table is at most half full, so a free slot ends every search.
  while ((table.masks[slot] ?? 0) !== 0 && table.keys[slot] !== key) slot = (slot + 1) & wrap;
  return slot;
}

/** Keys made from similar texts differ in few bits; this spreads them over the slots. */
function spread(key: number): number {
  let mixed = Math.imul(key ^ (key >>> 16), 0x45d9f3b);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function grow(table: KeyTable): void {
  const { keys, masks, sources } = table;
  const size = keys.length * 2;
  table.keys = new Int32Array(size);
  table.masks = new Int32Array(size);
  table.sources = new Int32Array(size);
  for (let old = 0; old < keys.length; old += 1) {
    const mask = masks[old] ?? 0;
    if (mask === 0) continue;
    const slot = slotOf(table, keys[old] ?? 0);
    table.keys[slot] = keys[old] ?? 0;
    table.masks[slot] = mask;
    table.sources[slot] = sources[old] ?? 0;
  }
}
