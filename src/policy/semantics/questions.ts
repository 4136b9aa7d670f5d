/**
 * Servers whose questions pass unchanged (gateway.md 2): with a rule that lets every `elicitation/create` of the server
 * pass, as an allow-all policy does, the operator states that the gateway neither changes nor withholds them.
 */
import type { Ir, Pattern } from "../ir/ir.ts";
import { nameMatches } from "./patterns.ts";

export function permitsQuestions(ir: Ir, server: string): boolean {
  return ir.rules.some(
    (rule) => rule.kind === "plain" && rule.tier === "allow" && rule.mode === "enforce" && isEvery(rule.when, server),
  );
}

/** Nothing in the pattern but names: a condition on effects, data or arguments says nothing of a question. */
function isEvery({ tools, ...conditions }: Pattern, server: string): boolean {
  const { effects, flags, predicates, data, held, stores } = conditions;
  const named =
    tools?.some((each) => nameMatches(each.server, server) && nameMatches(each.tool, "elicitation/create")) ?? true;
  const bare = [effects, flags, held].every((part) => part === undefined);
  return named && bare && [predicates, data, stores].every((part) => part.length === 0);
}
