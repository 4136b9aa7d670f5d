/**
 * Which arguments of a call are examined. An agent may send megabytes in one call, and every session waits for the
 * answer of one decision; so a call has a budget, and what does not fit is taken for all that the run holds.
 */
import { isArray, isObject, type Json, type JsonObject } from "../../core/json.ts";
import { argumentLeavesMax, argumentUnitsMax } from "./limits.ts";

type Size = { readonly leaves: number; readonly units: number };

/** Names of the arguments that are examined: the smallest first, as many as fit. The others are not looked into. */
export function examinedOf(given: JsonObject): ReadonlySet<string> {
  const sizes = Object.entries(given).map(([name, value]) => ({ name, size: sizeOf(name, value ?? null) }));
  const examined = new Set<string>();
  let { leaves, units } = { leaves: 0, units: 0 };
  for (const { name, size } of sizes.sort((one, other) => shareOf(one.size) - shareOf(other.size))) {
    leaves += size.leaves;
    units += size.units;
    if (leaves > argumentLeavesMax || units > argumentUnitsMax) break;
    examined.add(name);
  }
  return examined;
}

/** Part of the budget that an argument needs. */
function shareOf({ leaves, units }: Size): number {
  return Math.max(leaves / argumentLeavesMax, units / argumentUnitsMax);
}

/** Counting ends above the limits. Without recursion: depth is the sender's choice. */
function sizeOf(name: string, value: Json): Size {
  let leaves = 1;
  let units = name.length;
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    leaves += 1;
    if (typeof next === "string") units += next.length;
    if (leaves + open.length > argumentLeavesMax) return { leaves: argumentLeavesMax + 1, units };
    if (isArray(next)) {
      if (next.length > argumentLeavesMax) return { leaves: argumentLeavesMax + 1, units };
      for (const one of next) open.push(one);
    } else if (isObject(next)) for (const [member, one] of Object.entries(next)) open.push(member, one);
  }
  return { leaves, units };
}
