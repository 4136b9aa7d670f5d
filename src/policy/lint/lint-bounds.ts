/**
 * Findings about allow rules that take away what labels promise: a bound or a set of readers of an argument asks before
 * other data goes there, and an allow rule answers that question for every call that it matches (docs/semantics.md 5).
 */
import type { ToolContract } from "../../core/contract.ts";
import type { CompiledPolicy } from "../compile/compile.ts";
import { type Problem, information, quoted } from "../document/diagnostic.ts";
import type { Rule } from "../ir/ir.ts";

/** Tools named in one finding. */
const toolsNamedMax = 3;

/** `matches` says whether a rule may speak of a tool, as far as name, effects and flags tell. */
export function lintBounds(
  { ir, policy }: CompiledPolicy,
  contracts: readonly ToolContract[],
  matches: (rule: Rule & { readonly kind: "plain" }, contract: ToolContract) => boolean,
): readonly Problem[] {
  if (policy.flow.mode === "none") return [];
  return ir.rules.flatMap((rule) => {
    // A rule that says which data it means, or what the run may hold, was written with the bound in mind.
    if (rule.kind !== "plain" || rule.tier !== "allow" || rule.mode === "observe") return [];
    if (rule.when.data.length > 0 || rule.when.held !== undefined) return [];
    const lifted = contracts.filter((one) => matches(rule, one)).flatMap(bounded);
    if (lifted.length === 0) return [];
    const more = lifted.length - toolsNamedMax;
    const names = `${lifted.slice(0, toolsNamedMax).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
    const message = `rule ${quoted(rule.id)} lifts the bounds and readers of ${names}`;
    const remedy = "add `data:` for what may pass, or narrow the rule";
    return [information("LIFTS-BOUND", ["rules", rule.id], message, remedy)];
  });
}

/** Arguments that labels name: what a tool takes besides is bound by the defaults, which an allow rule is there to lift. */
function bounded({ server, tool, arguments: given }: ToolContract): readonly string[] {
  const named = [...given].filter(([, { sink, forbidden }]) => sink && forbidden !== 0).map(([name]) => name);
  return named.length === 0 ? [] : [quoted(`${server}.${tool}(${named.join(", ")})`)];
}
