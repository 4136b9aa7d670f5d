/** Leaves of JSON values with their pointers (RFC 6901), bounded, without recursion: depth is the sender's choice. */
import { unescapeToken } from "../../core/pointer.ts";
import { isArray, isObject, type Json } from "../../core/json.ts";
import { depthMax, leavesMax } from "./limits.ts";

export type Leaf = {
  readonly path: readonly string[];
  readonly value: Json;
  /** Set for the name of a member, which its sender chooses like any value. */
  readonly name?: true;
};

/**
 * A property name as programs write it; any other name is a value of its own (`{"eve@x.com": "reader"}`), and so is one
 * with as many digits as an account number or a token has.
 */
const propertyName = /^(?!(?:[^0-9]*[0-9]){4})[A-Za-z_$][A-Za-z0-9_$-]{0,47}$/;

/** True for a name that its sender could have chosen to carry something. */
export function isValueName(name: string): boolean {
  return !propertyName.test(name);
}

/** All leaves in order, or undefined for a value that is too deep or has too many. */
export function leavesOf(value: Json): readonly Leaf[] | undefined {
  const leaves: Leaf[] = [];
  const open: { readonly value: Json; readonly path: readonly string[] }[] = [{ value, path: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: current, path } = next;
    if (leaves.length > leavesMax || path.length > depthMax) return undefined;
    if (isArray(current)) {
      for (let index = current.length - 1; index >= 0; index -= 1) {
        open.push({ value: current[index] ?? null, path: [...path, String(index)] });
      }
    } else if (isObject(current)) {
      for (const [name, member] of Object.entries(current).reverse())
        open.push({ value: member, path: [...path, name] });
      for (const name of Object.keys(current)) {
        if (isValueName(name)) leaves.push({ path: [...path, name], value: name, name: true });
      }
    } else leaves.push({ path, value: current });
  }
  return leaves;
}

/** Segments of a pointer with `*`; an empty pointer is the whole value. */
export function segmentsOf(pointer: string): readonly string[] {
  if (pointer === "") return [];
  return pointer.slice(1).split("/").map(unescapeToken);
}

/** True iff the pattern names the path or something that holds it. */
export function covers(pattern: readonly string[], path: readonly string[]): boolean {
  return pattern.length <= path.length && pattern.every((segment, index) => segment === "*" || segment === path[index]);
}
