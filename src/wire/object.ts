import type { JsonObject } from "../core/json.ts";

/** A copy without some members; `__proto__` stays an own property, which assignment would lose. */
export function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
