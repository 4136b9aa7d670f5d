/** What the servers behind a merged endpoint say of themselves, as one answer in the gateway's name (gateway.md 7). */
import { type Json, type JsonObject, isObject, member, setOwn, stringMember } from "../../core/json.ts";
import type { RequestMessage } from "../../wire/message.ts";
import { metaKeys } from "../../wire/meta.ts";
import { modernRevision } from "../../wire/revision.ts";

/**
 * The result of `initialize` or `server/discover`. `said`: by server, what those that answered said; `version`: of this
 * program.
 */
export function mergedIdentity(
  request: RequestMessage,
  said: ReadonlyMap<string, JsonObject>,
  version: string,
): JsonObject {
  const identity = joined(said);
  const serverInfo = { name: "sluicegate", version };
  if (request.method === "server/discover") {
    const result = {
      resultType: "complete",
      supportedVersions: [modernRevision],
      ...identity,
      ttlMs: 0,
      cacheScope: "private",
    };
    return { ...result, _meta: { [metaKeys.serverInfo]: serverInfo } };
  }
  // Every server negotiated for itself; the client gets the oldest revision, which all of them can speak.
  const revisions = [...said.values()].map((result) => stringMember(result, "protocolVersion") ?? "").sort();
  const protocolVersion = revisions[0] ?? stringMember(request.params, "protocolVersion") ?? "";
  return { protocolVersion, ...identity, serverInfo };
}

/** The descriptions of all servers as one: capabilities united, instructions joined under their names. */
function joined(said: ReadonlyMap<string, JsonObject>): JsonObject {
  const capabilities: Record<string, Json> = {};
  const instructions: string[] = [];
  for (const [server, result] of said) {
    const own = member(result, "capabilities");
    for (const [name, value] of isObject(own) ? Object.entries(own) : []) {
      // Task ids are not told apart here, and experiments are between two parties.
      if (name === "tasks" || name === "experimental" || name === "extensions" || !isObject(value)) continue;
      const known = member(capabilities, name);
      setOwn(capabilities, name, isObject(known) ? { ...known, ...trueOnly(value) } : value);
    }
    const text = stringMember(result, "instructions");
    if (text !== undefined) instructions.push(`Server \`${server}\`: ${text}`);
  }
  return { capabilities, ...(instructions.length === 0 ? {} : { instructions: instructions.join("\n\n") }) };
}

function trueOnly(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, flag]) => flag !== false));
}
