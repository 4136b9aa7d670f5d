/**
 * The parts of a policy that can apply to a tool at all. Computed once per contract, so that the cost of a decision is
 * that of the tool's own rules, and not that of a thousand rules for other tools.
 */
import type { ToolContract } from "../../core/contract.ts";
import { type EffectRange, covers, mayCover } from "../../core/effect.ts";
import { type Check, type Hazard, type Pattern, type Rule, workspacePredicate } from "../ir/ir.ts";
import { type Slot, patternsOf } from "./monitors.ts";
import { asksForTrust } from "./semantics.ts";
import { staticMatch } from "./patterns.ts";
import type { Frame } from "./transition.ts";

export type Relevant = {
  readonly rules: readonly (Rule & { kind: "plain" })[];
  readonly checks: readonly Check[];
  /** Automata that can refuse, count or oblige a call of it; a step may touch further ones. */
  readonly slots: readonly Slot[];
  readonly hazards: readonly Hazard[];
  /** Whether a decision may look at the labels of the call's arguments. */
  readonly labels: boolean;
  /** Whether the default of the policy may ask about a call of it, in any state. */
  readonly defaultAsks: boolean;
  /** Indices of predicates whose truth the class of a call must hold. */
  readonly predicates: readonly number[];
  /** A dispatch of it leaves the state as it was, but for the label that its result may bring. */
  readonly leavesNoTrace: boolean;
};

/** Makes a memo over contracts; contracts are immutable, so an entry never goes stale. */
export function relevance(frame: Frame): (contract: ToolContract) => Relevant {
  const memo = new WeakMap<ToolContract, Relevant>();
  return (contract) => {
    const known = memo.get(contract);
    if (known !== undefined) return known;
    const made = relevantTo(frame, contract);
    memo.set(contract, made);
    return made;
  };
}

function relevantTo(frame: Frame, contract: ToolContract): Relevant {
  const widest = { ...contract, effects: widestEffects(contract) };
  const touches = (pattern: Pattern): boolean => staticMatch(pattern, widest, "restrict", "hi");
  const rules = frame.ir.rules.filter((rule) => rule.kind === "plain").filter((rule) => touches(rule.when));
  const checks = frame.ir.checks.filter(({ rule }) => touches(rule.when));
  const touched = frame.slots.filter((slot) => patternsOf(slot.temporal).some(touches));
  // A debt stands in the way of every consequential call, named by it or not.
  const slots = frame.slots.filter(
    (slot) => touched.includes(slot) || (slot.temporal.kind === "owed" && contract.consequential),
  );
  const hazards = frame.ir.hazards.filter((hazard) => hazardPatterns(hazard).some(touches));
  const patterns = [
    ...rules.map((rule) => rule.when),
    ...checks.map(({ rule }) => rule.when),
    ...touched.flatMap((slot) => patternsOf(slot.temporal)),
    ...hazards.flatMap(hazardPatterns),
  ];
  const predicates = new Set([
    workspacePredicate,
    ...contract.cases.flatMap((one) => one.predicates),
    ...patterns.flatMap((pattern) => pattern.predicates.map((predicate) => predicate.index)),
  ]);
  const labels =
    patterns.some((pattern) => pattern.data.length > 0) ||
    hazards.some((hazard) => hazard.kind === "flow") ||
    labelsMatter(contract, widest.effects);
  return {
    rules,
    checks,
    slots,
    hazards,
    labels,
    defaultAsks: defaultAsks(widest),
    predicates: [...predicates],
    leavesNoTrace: slots.length === 0 && leavesNoTrace(frame, widest),
  };
}

/** Only reads: no store keeps and no other reader sees any of the data; and no automaton steps at every call. */
function leavesNoTrace({ slots }: Frame, { consequential, writes, opens, effects }: ToolContract): boolean {
  if (consequential || writes.length > 0 || opens.length > 0) return false;
  if (slots.some(({ temporal }) => temporal.kind === "immediately")) return false;
  return effects.may.every((effect) => covers("read", effect)) && !mayCover("read.external.send", effects.may);
}

/** Beyond rules and hazards: stores that take the labels, bounds of sinks, and the default of the policy. */
function labelsMatter(contract: ToolContract, effects: EffectRange): boolean {
  const sinks = contract.rest.sink || [...contract.arguments.values()].some((argument) => argument.sink);
  return sinks || contract.writes.length > 0 || contract.flags.irreversible || asksForTrust(effects);
}

/** Beyond rules: something that the default could ask about (`defaultParts`), at either end and in any case. */
function defaultAsks({ effects, flags, cases }: ToolContract): boolean {
  const certain = cases.flatMap((one) => one.effects?.must ?? []);
  const all = { must: [], may: [...effects.may, ...effects.must, ...certain] };
  const acts = mayCover("execute", all.may) || mayCover("write.local", all.may);
  return acts || flags.irreversible || asksForTrust(all);
}

/** Every pattern of a hazard that names calls; the source of a flow is data, not a call. */
export function hazardPatterns(hazard: Hazard): readonly Pattern[] {
  switch (hazard.kind) {
    case "flow":
      return [hazard.to];
    case "call":
      return [hazard.call];
    case "temporal":
      return patternsOf(hazard.temporal);
  }
}

/** Every effect of every case: what the tool may do in some class. */
function widestEffects(contract: ToolContract): EffectRange {
  const may = [contract.effects, ...contract.cases.flatMap((one) => one.effects ?? [])].flatMap((range) => range.may);
  return { must: contract.effects.must, may };
}
