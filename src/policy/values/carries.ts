/** Whether a value carries anything that could be traced to its author: a text or a number somewhere in it. */
import { isArray, isObject, type Json } from "../../core/json.ts";
import { normaliseText } from "./text.ts";

/** Values looked at; one with more counts as carrying nothing, which asks. */
export const carriedLeavesMax = 10_000;

/**
 * True iff a text with a visible character or a number is a leaf of the value. `null`, booleans, empty lists and objects,
 * and texts without content count as absent: they name nothing, so their labels say nothing of who chose the call
 * (docs/semantics.md 6). Names of members do not count either.
 */
export function carriesValue(value: Json): boolean {
  const open: Json[] = [value];
  let seen = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if ((seen += 1) > carriedLeavesMax) return false;
    if (typeof next === "number" || (typeof next === "string" && normaliseText(next) !== "")) return true;
    if (isArray(next) || isObject(next)) open.push(...Object.values(next).slice(0, carriedLeavesMax));
  }
  return false;
}
