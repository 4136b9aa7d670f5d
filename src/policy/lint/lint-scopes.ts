/** Compares the scopes of a policy with the lists of its servers, and with the contracts of their tools. */
import type { ToolContract } from "../../core/contract.ts";
import type { CompiledPolicy } from "../compile/compile.ts";
import { type Problem, information, quoted, warning } from "../document/diagnostic.ts";
import { suggestion } from "../document/nearest.ts";

/** Findings about scopes; `contracts` are of the tools that the known servers list. */
export function lintScopes(policy: CompiledPolicy, contracts: readonly ToolContract[]): readonly Problem[] {
  const { isolation } = policy;
  if (isolation === undefined) return [];
  const servers = [...new Set(contracts.map(({ server }) => server))];
  return servers.flatMap((server) => {
    const listed = contracts.filter((contract) => contract.server === server);
    return [...strangers(policy, server, listed), ...wide(policy, server, listed)];
  });
}

/** Scopes of tools that the server does not list. A pack may speak of several versions of a server, a policy of one. */
function strangers(policy: CompiledPolicy, server: string, listed: readonly ToolContract[]): readonly Problem[] {
  const tools = Object.keys(policy.policy.isolation?.servers[server]?.tools ?? {});
  const names = listed.map(({ tool }) => tool);
  return tools
    .filter((tool) => !names.includes(tool))
    .map((tool) => {
      const message = `server ${quoted(server)} lists no tool ${quoted(tool)}, so this scope is never used`;
      const path = ["isolation", "servers", server, "tools", tool];
      return { ...warning("SCOPE-TOOL", path, message, suggestion(tool, names)), atKey: true };
    });
}

/** Tools that touch nothing outside this machine, on a server that may connect whichever tool is called. */
function wide(policy: CompiledPolicy, server: string, listed: readonly ToolContract[]): readonly Problem[] {
  const order = policy.isolation?.orderOf(server);
  if (order === undefined || order.mode === "off") return [];
  const { net } = order.scope;
  if (net.mode === "none" || (net.mode === "list" && net.allow.length === 0)) return [];
  const vouched = new Set(["operator", "pack", "card", "server"]);
  const local = listed.filter(
    (contract) =>
      vouched.has(contract.source) &&
      ![...contract.effects.may, ...contract.cases.flatMap((each) => each.effects?.may ?? [])].some((effect) =>
        /(^|\.)external(\.|$)|^[a-z]+$/.test(effect),
      ),
  );
  if (local.length === 0) return [];
  const shown = local.slice(0, 3).map(({ tool }) => quoted(tool));
  const more = local.length > 3 ? ` and ${local.length - 3} more` : "";
  const message = `${shown.join(", ")}${more} of ${quoted(server)} are labelled local, and the server may connect during any call`;
  const path = ["isolation", "servers", server, "net"];
  return [information("SCOPE-LABELS", path, message, "move `net.allow` to the tools that need it, under `tools`")];
}
