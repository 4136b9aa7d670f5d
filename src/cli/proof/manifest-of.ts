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
import type { Subject } from "../../proof/subject.ts";
import type { Manifest } from "../../proof/table.ts";
import { labelTable } from "../../proof/table.ts";
import { digest } from "../../wire/canonical.ts";
import { readManifest } from "../manifest.ts";
import { packageFolder, sha256, toolDigest } from "../policy-source.ts";

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
  const names = new Map<string, Set<string>>();
  for (const { server, tool } of table.entries) {
    if (server.includes("*") || tool.includes("*")) continue;
    names.set(server, (names.get(server) ?? new Set()).add(tool));
  }
  const found = new Map<string, readonly JsonObject[]>();
  for (const [server, tools] of names) {
    found.set(
      server,
      [...tools].toSorted((left, right) => (left < right ? -1 : 1)).map((name) => ({ name })),
    );
  }
  return found;
}

/** The subject of a proof: the policy, and the contracts of everything that the manifest offers. */
export function subjectOf(policy: CompiledPolicy, manifest: Manifest): Subject {
  return { policy, contracts: labelTable(policy, manifest, toolDigest) };
}

/** Digest of each server's list, for certificates: what the proof was made about. */
export function manifestDigests(manifest: Manifest): { readonly [server: string]: string } {
  return Object.fromEntries(Object.entries(manifest).map(([server, tools]) => [server, digest([...tools], sha256)]));
}
