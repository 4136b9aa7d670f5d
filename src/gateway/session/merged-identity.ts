/** What the servers behind a merged endpoint say of themselves, as one answer in the gateway's name (gateway.md 7). */
import { type Json, type JsonObject, isObject, member, setOwn, stringMember } from "../../core/json.ts";
import type { RequestMessage } from "../../wire/message.ts";
import { metaKeys } from "../../wire/meta.ts";
import { modernRevision } from "../../wire/revision.ts";

/** `said`: by server, what those that answered said; `missing`: the others. */
export type ServersSaid = { readonly said: ReadonlyMap<string, JsonObject>; readonly missing: readonly string[] };

/** The result of `initialize` or `server/discover`; `version`: of this program. */
export function mergedIdentity(request: RequestMessage, { said, missing }: ServersSaid, version: string): JsonObject {
  const identity = joined(said, missing);
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

/** Missing servers that the instructions name. */
const missingNamedMax = 8;

/** Servers that gave no answer, as a sentence of ours: their tools are missing, and the reader should know why. */
function missingText(missing: readonly string[]): string {
  const named = missing.slice(0, missingNamedMax).map((server) => `\`${server}\``);
  const more = missing.length > missingNamedMax ? ` and ${missing.length - missingNamedMax} more` : "";
  const subject = missing.length === 1 ? "Server" : "Servers";
  return `${subject} ${named.join(", ")}${more} did not start, or not in time: what they offer is missing. The gateway's output says why.`;
}

/** The descriptions of all servers as one: capabilities united, instructions joined under their names. */
function joined(said: ReadonlyMap<string, JsonObject>, missing: readonly string[]): JsonObject {
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
  if (missing.length > 0) instructions.push(missingText(missing));
  return { capabilities, ...(instructions.length === 0 ? {} : { instructions: instructions.join("\n\n") }) };
}

function trueOnly(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, flag]) => flag !== false));
}
