/**
 * Findings about a policy without exploration: rules that never apply, rules that another one makes pointless, tools
 * that are refused whatever happens, tools without labels. The prover reports the rest.
 */
import type { ToolContract } from "../../core/contract.ts";
import { mayCover } from "../../core/effect.ts";
import type { CompiledPolicy } from "../compile/compile.ts";
import { type ToolDigest, type ToolLists, contractOfTool, evidenceOf } from "../contracts/contracts.ts";
import { type Problem, information, quoted, warning } from "../document/diagnostic.ts";
import type { Pattern, Rule, Temporal, ToolSelector } from "../ir/ir.ts";
import { lintScopes } from "./lint-scopes.ts";
import { type Slot, slotsOf, unlockingOf } from "../semantics/monitors.ts";
import { lintBounds } from "./lint-bounds.ts";
import { lintNames } from "./lint-names.ts";
import { lintReferences } from "./lint-references.ts";
import { lintOrder } from "./lint-order.ts";
import { contradicts, implies, isBare, nameMatches } from "../semantics/patterns.ts";
import { stringMember } from "../../core/json.ts";

export function lintPolicy(policy: CompiledPolicy, lists: ToolLists, digestOf: ToolDigest): readonly Problem[] {
  const tools = Object.entries(lists).flatMap(([server, listed]) =>
    listed.map((one) => ({ contract: contractOfTool(policy.table, server, one, digestOf), listed: one })),
  );
  const contracts = tools.map(({ contract }) => contract);
  // Tools of servers whose lists are not here are known by their labels; alone they prove no rule dead.
  const known = contracts.length === 0 ? [] : [...contracts, ...labelledElsewhere(policy, lists, digestOf)];
  return [
    ...noApprover(policy),
    ...policy.ir.rules.flatMap((rule) => deadRule(rule, known)),
    ...shadowedRules(policy.ir.rules),
    ...policy.ir.rules.flatMap((rule) => alwaysDenies(rule, contracts)),
    ...lintOrder(policy),
    ...lintBounds(policy, [...contracts, ...labelledElsewhere(policy, lists, digestOf)], ({ when }, contract) =>
      couldMatch(when, contract),
    ),
    ...lintOrigins(policy),
    ...lintReferences(policy.ir, tools, couldMatch),
    ...slotsOf(policy.ir).flatMap((slot) => lockedGate(slot, policy.ir.rules, known)),
    ...unlabelled(contracts),
    ...lintNames(policy, lists, "servers"),
    ...lintCases(policy, lists, digestOf),
    ...lintScopes(policy, contracts),
    ...forgetful(policy),
    ...unproved(policy),
  ];
}

/** A choice that an operator may well make for secrecy, and whose price shows only at the first restart. */
function forgetful({ settings }: CompiledPolicy): readonly Problem[] {
  if (settings.payload !== "digests") return [];
  const message =
    "open runs count as holding everything after a restart or a change of policy, since nothing is kept to replay";
  return [information("DIGESTS", ["audit", "payload"], message, "keep `sealed`, or begin new runs then")];
}

/** A program may refuse the very call that a debt or a firm keep needs: then no analysis can promise that call. */
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
    warning("DEAD", at(rule), `rule ${quoted(rule.id)} can never match`, "no known tool matches it: fix or remove it"),
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

/** The call that a rule or hazard waits for; the debt that exactly-once reports at the end has none of its own. */
function neededBy({ temporal, id }: Slot): Pattern | undefined {
  // An absence waits for nothing, since it need not end.
  if (temporal.kind === "absence" || (temporal.kind === "by-end" && id.endsWith("/end"))) return undefined;
  return unlockingOf(temporal);
}

/** A gate that no call can open refuses for ever, whether a rule or a hazard shuts it; a debt is as good as a gate. */
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
 * An approver acts as a user of this machine, and the runs of its clients belong to the same user: there `other` turns
 * every question into a refusal. It can be met where a client signs in as another user.
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

/**
 * Cases of labels that replace those of a pack. Only the cases of the most authoritative source that has any for a tool
 * count, so an operator who adds one loses those of the pack, and with them what they declared secret.
 */
export function lintCases({ table }: CompiledPolicy, lists: ToolLists, digestOf: ToolDigest): readonly Problem[] {
  return table.entries.flatMap(({ server, tool, statement }) => {
    if (statement.cases === undefined || statement.cases.length === 0) return [];
    const listed = Object.entries(lists).flatMap(([name, tools]) =>
      nameMatches(server, name) ? tools.map((one) => ({ server: name, listed: one })) : [],
    );
    // A pack that the operator gives a server is known without its list.
    const lost = [...listed, { server, listed: { name: tool } }].some((subject) => {
      const name = stringMember(subject.listed, "name") ?? "";
      if (!nameMatches(tool, name)) return false;
      const { believed } = evidenceOf(table, { ...subject, tool: name, toolDigest: digestOf(subject.listed) });
      return believed.some((one) => one.source === "pack" && (one.statement.cases ?? []).length > 0);
    });
    if (!lost) return [];
    const name = `${server}.${tool}`;
    const message = `the cases of ${quoted(name)} take the place of those of its pack`;
    return [warning("REPLACES", ["labels", name], message, "repeat here those of the pack that shall go on holding")];
  });
}

/**
 * Tools that a rule or hazard names without their server, where a call of them permits something: a hostile server can
 * offer a tool of the same name. A rule that only refuses may name any server.
 */
export function lintOrigins({ ir }: CompiledPolicy): readonly Problem[] {
  const allowed = ir.rules.flatMap((rule) =>
    rule.kind === "plain" && rule.tier === "allow"
      ? unscoped({ owner: "rule", id: rule.id, does: "lets pass" }, rule.when)
      : [],
  );
  const met = slotsOf(ir).flatMap(({ owner, id, temporal }) => {
    const key = unlockingOf(temporal);
    // `exactlyOnce` is two of them under one name.
    return key === undefined ? [] : unscoped({ owner, id: id.replace(/\/end$/, ""), does: "is met by" }, key);
  });
  return [...allowed, ...met];
}

type Speaker = { readonly owner: "rule" | "hazard"; readonly id: string; readonly does: string };

function unscoped({ owner, id, does }: Speaker, { tools }: Pattern): readonly Problem[] {
  return (tools ?? [])
    .filter(({ server, tool }) => server === "*" && tool !== "*")
    .map(({ tool }) => {
      const message = `${owner} ${quoted(id)} ${does} ${quoted(tool)} of any server, and each can list that name`;
      const remedy = `say whose: ${quoted(`SERVER.${tool}`)}`;
      return warning("UNSCOPED", [owner === "rule" ? "rules" : "hazards", id], message, remedy);
    });
}
