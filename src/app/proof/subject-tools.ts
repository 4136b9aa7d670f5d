/**
 * The tools that a proof is about: the manifests that are named, the shipped manifest where a server uses a shipped pack,
 * and otherwise the tools that the policy itself labels by name.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import { information } from "../../policy/document/diagnostic.ts";
import type { Subject } from "../../proof/prove/subject.ts";
import { type Manifest, labelTable } from "../../proof/prove/table.ts";
import { digest } from "../../wire/canonical.ts";
import { readManifest } from "../policy/manifest.ts";
import { namedTools, readPolicy, whyUnloadable } from "../policy/named-policy.ts";
import type { Loaded } from "../../policy/load.ts";
import { isShipped, packageFolder, sha256, toolDigest } from "../policy/policy-source.ts";
import type { Fault } from "../state/outcome.ts";

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

export type ProofInput = {
  readonly policy: CompiledPolicy;
  readonly manifest: Manifest;
  /** The rule comes from the default or a shipped pack, so its author is not the caller. */
  readonly inherited: (rule: string) => boolean;
};

/**
 * A policy of the command line as it will run: bare names of tools can only be resolved once it is known which tools
 * there are, so a policy whose packs ship lists is read with these. `lists` are those that are known for certain.
 */
export function packedPolicy(name: string, given: Manifest): Result<Loaded & { readonly lists: Manifest }, Fault> {
  const first = readPolicy(name, given);
  if (!first.ok || first.value.policy === undefined) return first.ok ? ok({ ...first.value, lists: given }) : first;
  const listed = listedTools(first.value.policy, given);
  if (!listed.ok) return err({ code: "SG-MANIFEST", sentence: listed.error });
  const lists = listed.value;
  if (Object.keys(lists).length === Object.keys(given).length) return ok({ ...first.value, lists });
  const packed = readPolicy(name, lists);
  return packed.ok ? ok({ ...packed.value, lists }) : packed;
}

/** A policy that compiles, and the tools that it is proved for. */
export function proofInput(file: string, manifests?: readonly string[]): Result<ProofInput, Fault> {
  const given = namedTools(manifests);
  if (!given.ok) return given;
  const loaded = packedPolicy(file, given.value);
  if (!loaded.ok) return loaded;
  const { policy, place, lists, diagnostics } = loaded.value;
  if (policy === undefined) return err({ code: "SG-POLICY", sentence: whyUnloadable(file, diagnostics) });
  const inherited = (rule: string): boolean => isShipped(place(information("RULE", ["rules", rule], "", "")).file);
  return ok({ policy, manifest: manifestOf(policy, lists), inherited });
}
