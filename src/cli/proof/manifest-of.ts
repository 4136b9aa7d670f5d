/**
 * The tools that a proof is about: the manifests that are named, the shipped manifest where a server uses a shipped pack,
 * and otherwise the tools that the policy itself labels by name.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import { ok } from "../../core/result.ts";
import type { CompiledPolicy } from "../../policy/compile.ts";
import type { Manifest } from "../../proof/table.ts";
import { readManifest } from "../manifest.ts";
import { packageFolder } from "../policy-source.ts";

/** Lists of tools that are known for certain: those that are named, and those that the chosen packs ship. */
export function listedTools(policy: CompiledPolicy, given: Manifest): Result<Manifest, string> {
  const found = new Map<string, readonly JsonObject[]>(Object.entries(given));
  for (const [server, { pack }] of policy.table.servers) {
    if (found.has(server) || pack === undefined) continue;
    const file = join(packageFolder, "packs/manifests", `${pack}.json`);
    if (!existsSync(file)) continue;
    const read = readManifest(`${server}=${file}`);
    if (!read.ok) return read;
    found.set(server, read.value[server] ?? []);
  }
  return ok(Object.fromEntries(found));
}

/** Those, and for other servers the tools that the policy labels. */
export function manifestOf(policy: CompiledPolicy, listed: Manifest): Manifest {
  const found = new Map<string, readonly JsonObject[]>(Object.entries(listed));
  for (const [server, tools] of labelledTools(policy)) if (!found.has(server)) found.set(server, tools);
  return Object.fromEntries([...found].toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

/** Tools that the operator labels by their full name, as a server would list them that says nothing more. */
function labelledTools({ table }: CompiledPolicy): ReadonlyMap<string, readonly JsonObject[]> {
  const found = new Map<string, JsonObject[]>();
  for (const { server, tool } of table.entries) {
    if (server.includes("*") || tool.includes("*")) continue;
    found.set(server, [...(found.get(server) ?? []), { name: tool }]);
  }
  for (const tools of found.values())
    tools.sort((left, right) => (String(left["name"]) < String(right["name"]) ? -1 : 1));
  return found;
}
