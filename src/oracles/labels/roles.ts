/** Roles of arguments, from their names, formats and types. */
import type { Role } from "../../core/contract.ts";
import { type JsonObject, isObject, member, stringMember } from "../../core/json.ts";
import { inferArguments } from "../../policy/contracts/infer.ts";

export type ArgumentReading = {
  readonly role: Role;
  readonly probability: number;
  readonly because: readonly string[];
};

/** By name of the argument. */
export function readArguments(tool: JsonObject): ReadonlyMap<string, ArgumentReading> {
  const properties = member(member(tool, "inputSchema"), "properties");
  const found = new Map<string, ArgumentReading>();
  for (const [name, { role, known }] of inferArguments(tool)) {
    const schema = isObject(properties) ? member(properties, name) : undefined;
    const format = stringMember(schema, "format");
    const because = format === undefined ? [] : [`the format \`${format}\``];
    found.set(name, {
      role,
      probability: known ? 0.92 : 0.4,
      because: [...because, ...(known ? [`the name \`${name}\``] : [])],
    });
  }
  return found;
}
