/**
 * What can be said of a policy without exploring it: rules that never speak, rules that another one makes pointless,
 * tools that are refused whatever happens, tools that nobody labelled. The prover says the rest.
 */
import type { ToolContract } from "../core/contract.ts";
import { mayCover } from "../core/effect.ts";
import type { JsonObject } from "../core/json.ts";
import type { CompiledPolicy } from "./compile.ts";
import type { ToolDigest } from "./contracts.ts";
import { contractOfTool } from "./contracts.ts";
import type { Problem } from "./diagnostic.ts";
import { information, quoted, warning } from "./diagnostic.ts";
import type { Pattern, Rule, Temporal, ToolSelector } from "./ir.ts";
import { lintScopes } from "./isolation/lint.ts";
import type { Slot } from "./monitors.ts";
import { slotsOf, unlockingOf } from "./monitors.ts";
import { lintCases } from "./lint-cases.ts";
import { lintNames } from "./lint-names.ts";
import { lintOrder } from "./lint-order.ts";
import { lintOrigins } from "./lint-origins.ts";
import { contradicts, implies, isBare } from "./pattern-forms.ts";
import { nameMatches } from "./patterns.ts";

/** Listed tools by server. */
export type ToolLists = { readonly [server: string]: readonly JsonObject[] };

export function lintPolicy(policy: CompiledPolicy, lists: ToolLists, digestOf: ToolDigest): readonly Problem[] {
  const contracts = Object.entries(lists).flatMap(([server, tools]) =>
    tools.map((tool) => contractOfTool(policy.table, server, tool, digestOf)),
  );
  // Tools of servers whose lists are not here are known by their labels; alone they prove no rule dead.
  const known = contracts.length === 0 ? [] : [...contracts, ...labelledElsewhere(policy, lists, digestOf)];
  return [
    ...noApprover(policy),
    ...policy.ir.rules.flatMap((rule) => deadRule(rule, known)),
    ...shadowedRules(policy.ir.rules),
    ...policy.ir.rules.flatMap((rule) => alwaysDenies(rule, contracts)),
    ...lintOrder(policy),
    ...lintOrigins(policy),
    ...slotsOf(policy.ir).flatMap((slot) => lockedGate(slot, policy.ir.rules, known)),
    ...unlabelled(contracts),
    ...lintNames(policy, lists, "servers"),
    ...lintCases(policy, lists, digestOf),
    ...lintScopes(policy, contracts),
    ...forgetful(policy),
    ...unproved(policy),
  ];
}

/** A choice that somebody may well make for secrecy, and whose price shows only at the first restart. */
function forgetful({ settings }: CompiledPolicy): readonly Problem[] {
  if (settings.payload !== "digests") return [];
  const message =
    "open runs count as holding everything after a restart or a change of policy, since nothing is kept to replay";
  return [information("DIGESTS", ["audit", "payload"], message, "keep `sealed`, or begin new runs then")];
}

/** A program may refuse the very call that a debt or a firm keep needs: then nobody can say beforehand that it comes. */
function unproved({ ir, policy }: CompiledPolicy): readonly Problem[] {
  const owes = ir.rules.some((rule) => rule.kind === "temporal" && rule.temporal.kind === "owed");
  if (!owes && !policy.keep.some(({ firm }) => firm === true)) return [];
  const message =
    "this program may refuse what debts or firm keeps need, so those are followed at run time and not proved";
  return ir.checks.map(({ rule }) => information("UNPROVED", at(rule), message, "keep those calls out of its `when:`"));
}

function labelledElsewhere(policy: CompiledPolicy, lists: ToolLists, digestOf: ToolDigest): readonly ToolContract[] {
  return policy.table.entries
    .filter(({ server, tool }) => !server.includes("*") && !tool.includes("*") && !Object.hasOwn(lists, server))
    .map(({ server, tool }) => contractOfTool(policy.table, server, { name: tool }, digestOf));
}

const at = (rule: Rule): Problem["path"] => ["rules", rule.id.replace(/\/end$/, "")];

function selects(selectors: readonly ToolSelector[], contract: ToolContract): boolean {
  return selectors.some((each) => nameMatches(each.server, contract.server) && nameMatches(each.tool, contract.tool));
}

/** The tool could match as far as its name, effects and flags say. */
function couldMatch(pattern: Pattern, contract: ToolContract): boolean {
  if (pattern.tools !== undefined && !selects(pattern.tools, contract)) return false;
  const { effects, flags } = pattern;
  // A case may have other effects than the tool outside it.
  const may = [...contract.effects.may, ...contract.cases.flatMap((each) => each.effects?.may ?? [])];
  if (effects !== undefined && !effects.some((effect) => mayCover(effect, may))) return false;
  return (
    (flags?.irreversible !== true || contract.flags.irreversible) &&
    (flags?.openWorld !== true || contract.flags.openWorld)
  );
}

/** The patterns whose match makes a rule speak. */
function triggers(rule: Rule): readonly Pattern[] {
  return rule.kind === "plain" ? [rule.when] : [triggerOf(rule.temporal)];
}

function triggerOf(temporal: Temporal): Pattern {
  switch (temporal.kind) {
    case "gate":
    case "immediately":
    case "inject":
      return temporal.before;
    case "absence":
      return temporal.never;
    case "at-most":
    case "budget":
      return temporal.of;
    case "owed":
    case "by-end":
      return temporal.after;
  }
}

/** No list has them, and a rule may speak of them all the same: the questions of a server. */
function asksPeople({ tools }: Pattern): boolean {
  return tools?.some(({ tool }) => tool === "elicitation/create") ?? false;
}

function deadRule(rule: Rule, contracts: readonly ToolContract[]): readonly Problem[] {
  const dead = triggers(rule).some(
    (pattern) =>
      contradicts(pattern) ||
      (contracts.length > 0 && !asksPeople(pattern) && !contracts.some((each) => couldMatch(pattern, each))),
  );
  if (!dead) return [];
  return [
    warning("DEAD", at(rule), `rule ${quoted(rule.id)} can never speak`, "no known tool fits it: mend or remove it"),
  ];
}

const strictness = { block: 3, must: 2, confirm: 1, allow: 0 } as const;

/** A plain rule says nothing where a stricter one, or an equal one before it, always speaks first. */
function shadowedRules(rules: readonly Rule[]): readonly Problem[] {
  const found: Problem[] = [];
  for (const [index, rule] of rules.entries()) {
    if (rule.kind !== "plain") continue;
    const by = rules.find((other, place) => {
      if (other === rule || other.kind !== "plain" || other.mode === "observe") return false;
      const stricter = strictness[other.tier] > strictness[rule.tier] && other.tier !== "must";
      // An allow and a block read tests in different ways, so only the absence of tests compares them.
      const comparable =
        other.tier === rule.tier || (rule.tier !== "allow" && other.tier !== "allow") || isBare(other.when);
      return comparable && (stricter || (other.tier === rule.tier && place < index)) && implies(rule.when, other.when);
    });
    if (by === undefined) continue;
    const message = `rule ${quoted(rule.id)} says nothing that ${quoted(by.id)} does not say more strictly`;
    found.push(warning("SHADOWED", at(rule), message, "remove it, or narrow the other"));
  }
  return found;
}

function alwaysDenies(rule: Rule, contracts: readonly ToolContract[]): readonly Problem[] {
  if (rule.kind !== "plain" || rule.tier !== "block" || rule.mode === "observe" || !isBare(rule.when)) return [];
  const { tools, effects, flags } = rule.when;
  if (tools === undefined && effects === undefined && flags === undefined) {
    return [warning("ALWAYS-DENY", at(rule), `rule ${quoted(rule.id)} refuses every call`, "add a condition")];
  }
  const denied = contracts.filter((each) => couldMatch(rule.when, each)).map((each) => `${each.server}.${each.tool}`);
  if (denied.length === 0) return [];
  const shown = denied.slice(0, 3).map(quoted).join(", ");
  const more = denied.length > 3 ? ` and ${denied.length - 3} more` : "";
  const remedy = "remove the tool from the client, or add a condition if some calls should pass";
  return [
    information("ALWAYS-DENY", at(rule), `rule ${quoted(rule.id)} refuses every call of ${shown}${more}`, remedy),
  ];
}

/** What a rule or hazard waits for; a debt that exactly-once reports at the end is about what it counts. */
function neededBy({ temporal, id }: Slot): Pattern | undefined {
  // An absence waits for nothing, since it need not end.
  if (temporal.kind === "absence" || (temporal.kind === "by-end" && id.endsWith("/end"))) return undefined;
  return unlockingOf(temporal);
}

/** A gate whose key nobody can turn refuses for ever, whether a rule or a hazard shuts it; a debt is as good as a gate. */
function lockedGate(slot: Slot, rules: readonly Rule[], contracts: readonly ToolContract[]): readonly Problem[] {
  const need = neededBy(slot);
  if (need === undefined) return [];
  const absent = contracts.length > 0 && !contracts.some((each) => couldMatch(need, each));
  const refusing = rules.find(
    (other) =>
      other.kind === "plain" &&
      other.tier === "block" &&
      other.mode === "enforce" &&
      isBare(other.when) &&
      implies(need, other.when),
  );
  const path = [slot.owner === "rule" ? "rules" : "hazards", slot.id];
  const said = (why: string): readonly Problem[] => [
    warning(
      "ALWAYS-DENY",
      path,
      `${slot.owner} ${quoted(slot.id)} needs a call that ${why}`,
      "name a call that can happen",
    ),
  ];
  if (absent) return said("no known tool offers");
  return refusing === undefined ? [] : said(`${quoted(refusing.id)} refuses`);
}

/**
 * Whoever approves does so as a user of this machine, and the runs of its clients belong to the same user: there `other`
 * makes a refusal of every question. It can be met where a client signs in as somebody else.
 */
function noApprover({ policy, settings }: CompiledPolicy): readonly Problem[] {
  const signsIn = policy.match.principal !== undefined && !policy.match.principal.startsWith("os:");
  if (settings.approvals.by !== "other" || signsIn) return [];
  const message =
    "`by: other` refuses every call that asks: runs of a user's clients are that user's, who approves here";
  const remedy = "write `by: anyone`, or `match` clients that sign in over HTTP under a principal of their own";
  return [warning("APPROVER", ["approvals", "by"], message, remedy)];
}

function unlabelled(contracts: readonly ToolContract[]): readonly Problem[] {
  return contracts
    .filter((contract) => contract.source === "unknown" || contract.source === "inference")
    .map((contract) => {
      const name = `${contract.server}.${contract.tool}`;
      const message = `${quoted(name)} has no labels: its calls ask`;
      return information("UNLABELLED", ["labels"], message, `add \`${contract.tool.slice(0, 60)}\` under \`labels\``);
    });
}
