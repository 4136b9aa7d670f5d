/** What the forms of patterns tell of each other, whatever is called. */
import { covers } from "../core/effect.ts";
import type { Pattern } from "./ir.ts";
import { nameMatches } from "./patterns.ts";

/** Everything that `inner` matches, `outer` matches too, as far as their forms tell. */
export function implies(inner: Pattern, outer: Pattern): boolean {
  const has = (list: readonly unknown[], item: unknown): boolean => {
    const text = JSON.stringify(item);
    return list.some((each) => JSON.stringify(each) === text);
  };
  const tools =
    outer.tools === undefined ||
    (inner.tools?.every((each) =>
      outer.tools?.some((wide) => nameMatches(wide.server, each.server) && nameMatches(wide.tool, each.tool)),
    ) ??
      false);
  const effects =
    outer.effects === undefined ||
    (inner.effects?.every((each) => outer.effects?.some((wide) => covers(wide, each))) ?? false);
  const flags =
    (outer.flags?.irreversible !== true || inner.flags?.irreversible === true) &&
    (outer.flags?.openWorld !== true || inner.flags?.openWorld === true);
  return (
    tools &&
    effects &&
    flags &&
    outer.predicates.every((each) => has(inner.predicates, each)) &&
    outer.data.every((each) => has(inner.data, each)) &&
    outer.stores.every((each) => has(inner.stores, each)) &&
    (outer.held === undefined || JSON.stringify(outer.held) === JSON.stringify(inner.held))
  );
}

/** No condition beyond names, effects and flags. */
export function isBare(pattern: Pattern): boolean {
  return (
    pattern.predicates.length === 0 &&
    pattern.data.length === 0 &&
    pattern.stores.length === 0 &&
    pattern.held === undefined
  );
}

/** Conditions that exclude each other: nothing matches it. */
export function contradicts(pattern: Pattern): boolean {
  const held = new Map<number, boolean>();
  for (const { index, holds } of pattern.predicates) {
    if (held.get(index) === !holds) return true;
    held.set(index, holds);
  }
  return false;
}
