/** The label table of a proof: the labels of all tools and protocol methods, as contracts and as JSON. */
import type { ArgumentContract, OutputContract, ToolContract } from "../../core/contract.ts";
import type { JsonObject } from "../../core/json.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import { contractOfTool, type ToolDigest } from "../../policy/contracts/contracts.ts";
import { knownHostTools } from "../../policy/contracts/host-tools.ts";
import { contractOfHostTool, contractOfMethod, knownMethods } from "../../policy/contracts/methods.ts";
import type { Ir } from "../../policy/ir/ir.ts";
import { withProcess } from "../../policy/ir/label-table.ts";
import { vouched } from "../../policy/semantics/patterns.ts";
import { groupBits } from "../../policy/semantics/semantics.ts";

/** Tools as their servers list them, by server. */
export type Manifest = { readonly [server: string]: readonly JsonObject[] };

/** The contracts of listed tools, protocol methods and client tools. */
export function labelTable(policy: CompiledPolicy, manifest: Manifest, digestOf: ToolDigest): readonly ToolContract[] {
  const servers = Object.entries(manifest).map(([server, tools]) => {
    return [server, tools.map((tool) => contractOfTool(policy.table, server, tool, digestOf))] as const;
  });
  return wholeTable(policy, servers);
}

/**
 * Contracts of all tools, then of all protocol methods of their servers: resources, prompts, completions, answers and
 * tasks reach a server, too; last those of clients, which their hooks report. Tools come first, since a counterexample
 * names the first call that fits.
 */
export function wholeTable(
  policy: CompiledPolicy,
  servers: readonly (readonly [server: string, tools: readonly ToolContract[]])[],
): readonly ToolContract[] {
  // The methods of a server reach the same process as its tools.
  const table = servers.reduce((all, [server, [first]]) => {
    const process = first?.process;
    return withProcess(all, server, process && { process, apart: false });
  }, policy.table);
  return [
    ...servers.flatMap(([, tools]) => tools.map(withoutClaims)),
    ...servers.flatMap(([server]) => knownMethods.map((method) => contractOfMethod(table, server, method))),
    ...clientTools(policy),
  ];
}

/**
 * Removes certain effects that only the server claims: permitting patterns ignore them at run time as well, and
 * restricting patterns match no more without them.
 */
function withoutClaims({ claimed, ...contract }: ToolContract): ToolContract {
  if (claimed === undefined) return contract;
  const cases = contract.cases.map((one) =>
    one.effects === undefined ? one : { ...one, effects: vouched(one.effects, claimed) },
  );
  return { ...contract, effects: vouched(contract.effects, claimed), cases };
}

/** A name that stands for every tool of a client that no list names. */
export const unlistedTool = "unlisted tool";

/** Calls reported by hooks are decided like any other: the client's own tools, and one unknown tool. */
function clientTools({ policy, table }: CompiledPolicy): readonly ToolContract[] {
  if (policy.host.tools !== "hooks") return [];
  const clients = [...new Set(knownHostTools.map(({ client }) => client))];
  return [...knownHostTools, ...clients.map((client) => ({ client, tool: unlistedTool }))].map(({ client, tool }) =>
    contractOfHostTool(table, client, tool),
  );
}

/** A contract as certificates carry it (docs/semantics.md 2): upper ends only, predicates in full. */
export function tableEntry(ir: Ir, contract: ToolContract): JsonObject {
  const { server, tool, effects, flags, reads, writes, opens, consequential, answers, process } = contract;
  const entry = {
    server,
    tool,
    effects: effectsJson(effects),
    flags: { irreversible: flags.irreversible, openWorld: flags.openWorld },
    arguments: Object.fromEntries([...contract.arguments].map(([name, argument]) => [name, argumentJson(argument)])),
    rest: argumentJson(contract.rest),
    output: outputJson(contract.output),
    cases: contract.cases.map((one) => ({
      predicates: one.predicates.map((index) => ir.predicates[index]),
      ...(one.output === undefined ? {} : { output: outputJson(one.output) }),
      ...(one.effects === undefined ? {} : { effects: effectsJson(one.effects) }),
    })),
    reads: [...reads],
    writes: [...writes],
    opens: opens.map((open) => ({ store: open.store, audience: groupBits(ir.lattice.groups, open.audience) })),
    consequential,
    ...(answers === undefined ? {} : { answers }),
    ...(process === undefined ? {} : { process: { ...process } }),
  };
  // Plain data through and through; only the types of predicates are narrower than JSON.
  return entry as unknown as JsonObject;
}

function effectsJson(effects: ToolContract["effects"]): JsonObject {
  return { must: [...effects.must], may: [...effects.may] };
}

function argumentJson({ role, sink, audience, forbidden }: ArgumentContract): JsonObject {
  return { role, sink, audience, forbidden };
}

function outputJson({ label, fields }: OutputContract): JsonObject {
  return { label: label.hi, fields: fields.map((field) => field.label.hi) };
}
