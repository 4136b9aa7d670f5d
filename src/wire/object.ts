import type { Json, JsonObject } from "../core/json.ts";

/** A copy without some members; `__proto__` stays an own property, which assignment would lose. */
export function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** A copy with one member set, or left out when the value is undefined or an object that became empty. */
export function withMember(object: JsonObject, name: string, value: Json | undefined): JsonObject {
  const rest = without(object, [name]);
  return value === undefined ? rest : { ...rest, [name]: value };
}
