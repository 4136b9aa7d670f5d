/** Structural equality of JSON values: cheaper than two digests, for lists that come again and again. */
import { type Json, isArray, isObject, isRawNumber, member } from "../../core/json.ts";

/** Recursion is bounded by `depthMax` of the wire. Member order counts: a text in another order is looked at anew. */
export function sameJson(left: Json, right: Json): boolean {
  if (left === right) return true;
  if (isArray(left)) {
    if (!isArray(right) || left.length !== right.length) return false;
    for (let index = 0; index < left.length; index += 1) {
      if (!sameJson(left[index] ?? null, right[index] ?? null)) return false;
    }
    return true;
  }
  if (isRawNumber(left)) return isRawNumber(right) && left.rawJSON === right.rawJSON;
  if (!isObject(left) || !isObject(right)) return false;
  const names = Object.keys(left);
  const others = Object.keys(right);
  if (names.length !== others.length) return false;
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] ?? "";
    if (name !== others[index] || !sameJson(member(left, name) ?? null, member(right, name) ?? null)) return false;
  }
  return true;
}
