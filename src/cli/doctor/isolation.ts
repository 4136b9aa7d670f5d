/** How local servers are isolated on this machine under the user's policies, and what is missing for better. */
import { probeSupport, type Support } from "../../adapters/projection/launch/support.ts";
import { reaches, tierOf } from "../../adapters/projection/launch/tiers.ts";
import type { IsolationOrder } from "../../core/isolation/scope.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import { type Check, failed, noted, passed } from "./check.ts";

/** Most servers that a report names. */
const serversMax = 16;

/** A name that no policy has: what holds for servers that it does not speak of. */
const anyServer = "any other server";

export async function checkIsolation(policies: readonly CompiledPolicy[]): Promise<readonly Check[]> {
  const support = await probeSupport();
  return isolationChecks(
    support,
    policies.flatMap(({ isolation }) => {
      if (isolation === undefined) return [];
      return [isolation.orderOf(anyServer), ...isolation.named.values()];
    }),
  );
}

/** One check for each server that a policy names, and one for all others; without any order, what could be. */
export function isolationChecks(support: Support, orders: readonly IsolationOrder[]): readonly Check[] {
  if (orders.length === 0) return [possible(support)];
  return orders.slice(0, serversMax).map((order) => checkOrder(support, order));
}

type Usual = { readonly name: string; readonly verb: string; readonly closed: boolean };

/** The default: isolated where this machine gives tier A, or A- to a server without network. */
function usual({ name, verb, closed }: Usual, support: Support): Check {
  const { tier, notes } = tierOf(support, { net: { mode: "none" } });
  if (tier === "A" || (tier === "A-" && closed)) {
    return passed(
      "isolation",
      `${name} ${verb} isolated in tier ${tier}, as is usual; \`isolation:\` in the policy opens hosts and folders.`,
    );
  }
  return noted(
    "isolation",
    `${name} ${verb} without isolation: this machine gives tier ${tier}. ${notes[0] ?? ""}`.trim(),
  );
}

function possible(support: Support): Check {
  const { tier, notes } = tierOf(support, { net: { mode: "none" } });
  const missing = notes[0] === undefined ? "" : ` ${notes[0]}`;
  return noted(
    "isolation",
    `No policy isolates servers: they run as you do. This machine can give tier ${tier}; unset SLUICEGATE_ISOLATION.${missing}`,
  );
}

function checkOrder(support: Support, order: IsolationOrder): Check {
  const name = order.server === anyServer ? "Servers" : `Server \`${order.server.slice(0, 40)}\``;
  const verb = order.server === anyServer ? "run" : "runs";
  const [needs, starts] = order.server === anyServer ? ["need", "none starts"] : ["needs", "it does not start"];
  if (order.mode === "off") return noted("isolation", `${name} ${verb} without isolation, as the policy says.`);
  if (order.mode === "learn") {
    return noted("isolation", `${name} ${verb} in learn mode: watched, not held to a scope. See \`sluicegate learn\`.`);
  }
  const { tier, notes } = tierOf(support, order.scope);
  if (order.mode === "where-possible") return usual({ name, verb, closed: order.scope.net.mode === "none" }, support);
  const missing = notes[0] === undefined ? "" : ` ${notes[0]}`;
  if (!reaches(tier, order.require)) {
    return failed("isolation", `${name} ${needs} tier ${order.require} and would get ${tier}, so ${starts}.${missing}`);
  }
  return tier === "A" && notes.length === 0
    ? passed("isolation", `${name} ${verb} in tier A: own files, own network, every effect seen.`)
    : noted("isolation", `${name} ${verb} in tier ${tier}.${missing}`);
}
