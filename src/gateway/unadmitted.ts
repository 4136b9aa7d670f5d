/** What is passed on of a server's first answer while nobody has admitted it: what the protocol needs, and no prose. */
import type { Json, JsonObject } from "../core/json.ts";
import { isObject, member, stringMember } from "../core/json.ts";
import { metaKeys } from "../wire/meta.ts";

/** Switches, words of the protocol, and numbers. */
const kept = ["protocolVersion", "supportedVersions", "capabilities", "resultType", "ttlMs", "cacheScope"];

/** A name is no place for sentences. */
const nameCharactersMax = 64;

export function withoutProse(declared: JsonObject): JsonObject {
  const entries = Object.entries(declared).filter(([name]) => kept.includes(name));
  const info = member(declared, "serverInfo");
  if (info !== undefined) entries.push(["serverInfo", identity(info)]);
  const modern = member(member(declared, "_meta"), metaKeys.serverInfo);
  if (modern !== undefined) entries.push(["_meta", { [metaKeys.serverInfo]: identity(modern) }]);
  return Object.fromEntries(entries);
}

function identity(info: Json): JsonObject {
  const short = (name: string): string => (stringMember(info, name) ?? "unknown").slice(0, nameCharactersMax);
  return isObject(info) ? { name: short("name"), version: short("version") } : {};
}
