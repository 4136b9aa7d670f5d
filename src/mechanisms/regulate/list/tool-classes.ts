/**
 * Tools that no part of the policy tells apart (formal.md 4.1): a list of a thousand has a few dozen classes, and each is
 * worked out once for a state. A class is a digest, so that nothing of a server's own words is kept.
 */
import type { ArgumentContract, ToolContract } from "../../../core/contract.ts";
import type { Json } from "../../../core/json.ts";
import type { Ir, Pattern } from "../../../policy/ir/ir.ts";
import { patternsOf } from "../../../policy/semantics/monitors.ts";
import { selects } from "../../../policy/semantics/patterns.ts";
import { hazardPatterns } from "../../../policy/semantics/relevance.ts";

/** Gives the class of a contract: equal classes have equal exposures in every state. */
export function toolClasses(ir: Ir, digest: (value: Json) => string): (contract: ToolContract) => string {
  const patterns = namingPatterns(ir);
  // Contracts are immutable, so an answer never goes stale.
  const known = new WeakMap<ToolContract, string>();
  return (contract) => {
    let found = known.get(contract);
    if (found === undefined) known.set(contract, (found = digest(JSON.stringify(distinctions(contract, patterns)))));
    return found;
  };
}

/** Patterns that ask for the name of a tool, in the order of the policy. */
function namingPatterns({ rules, hazards }: Ir): readonly Pattern[] {
  const all = [
    ...rules.flatMap((rule) => (rule.kind === "plain" ? [rule.when] : patternsOf(rule.temporal))),
    ...hazards.flatMap(hazardPatterns),
  ];
  return all.filter(({ tools }) => tools !== undefined);
}

/** Everything of a contract that a decision may look at; of its name, only which patterns mean it. */
function distinctions(contract: ToolContract, patterns: readonly Pattern[]): unknown {
  const { server: _server, tool: _tool, toolDigest: _digest, source: _source, ...rest } = contract;
  return {
    ...rest,
    arguments: [...contract.arguments].map(([name, argument]) => [name, shapeOf(argument)]),
    rest: shapeOf(contract.rest),
    named: patterns.map(({ tools = [] }) => (tools.some((selector) => selects(selector, contract)) ? 1 : 0)).join(""),
  };
}

/** An entry of a list has no values yet, so what the schema offers as values is nothing to tell it by. */
function shapeOf({ schemaValues: _values, ...shape }: ArgumentContract): unknown {
  return shape;
}
