import type { JsonObject } from "../core/json.ts";

/** A copy without some members; `__proto__` stays an own property, which assignment would lose. */
export function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** A copy whose `_meta` is this one; no member at all where nothing is in it. */
export function withMeta(object: JsonObject, meta: JsonObject): JsonObject {
  const bare = without(object, ["_meta"]);
  return isEmpty(meta) ? bare : { ...bare, _meta: meta };
}

export function isEmpty(object: JsonObject): boolean {
  return Object.keys(object).length === 0;
}
