/**
 * What one policy stops and another lets through: each rule of the first becomes a hazard of the second, "a call that this
 * rule stopped goes ahead without a question", and is proved or refuted like any other (progress in one direction only:
 * what the second stops in addition is no concern).
 */
import type { ToolContract } from "../core/contract.ts";
import type { CanonicalPolicy, HazardForm, RuleForm } from "../policy/canonical/form.ts";

/** A hazard for each rule of the old policy that restricts; rules that cannot be said as one are named apart. */
export type OldRules = {
  readonly hazards: { readonly [id: string]: HazardForm };
  /** Debts, injections, rules that ask a program and the like: compared by their text only. */
  readonly unsayable: readonly RuleForm[];
};

export const oldRulePrefix = "before/";

export function oldRules(old: CanonicalPolicy): OldRules {
  const hazards: { [id: string]: HazardForm } = {};
  const unsayable: RuleForm[] = [];
  for (const rule of old.rules) {
    if (rule.tier === "allow" || rule.mode === "observe") continue;
    const never = neverOf(rule);
    if (never === undefined) unsayable.push(rule);
    else hazards[`${oldRulePrefix}${rule.id}`] = { loss: "", consent: "never", mode: "enforce", why: rule.why, never };
  }
  return { hazards, unsayable };
}

function neverOf(rule: RuleForm): HazardForm["never"] | undefined {
  const { when, predicate, absence, gate, atMost, exactlyOnce } = rule;
  // What a program of the operator's refuses is known to nobody but the program.
  if (predicate !== undefined) return undefined;
  if (when !== undefined) return { call: when };
  if (absence !== undefined) return { sequence: absence };
  if (atMost !== undefined) return { atMost };
  if (exactlyOnce !== undefined) {
    const { of, key } = exactlyOnce;
    return { atMost: { of, count: 1, ...(key === undefined ? {} : { key }) } };
  }
  // A gate that locks again says more than `unless` can.
  if (gate === undefined || gate.unless !== undefined) return undefined;
  const { before: call, ...rest } = gate;
  return { unless: { ...rest, call } };
}

/** Allow rules of the new policy that the old one did not have: each takes a question of the default away. */
export function newAllowances(old: CanonicalPolicy, present: CanonicalPolicy): readonly RuleForm[] {
  const known = new Set(allowances(old).map(({ when }) => JSON.stringify(when)));
  return allowances(present).filter(({ when }) => !known.has(JSON.stringify(when)));
}

function allowances(policy: CanonicalPolicy): readonly RuleForm[] {
  return policy.rules.filter((rule) => rule.tier === "allow" && rule.mode === "enforce");
}

/** Rules among `wanted` that the new policy has not got in the same words. */
export function missingRules(wanted: readonly RuleForm[], present: CanonicalPolicy): readonly RuleForm[] {
  const bare = ({ id: _id, why: _why, serves: _serves, ...rest }: RuleForm): string => JSON.stringify(rest);
  const known = new Set(present.rules.map(bare));
  return wanted.filter((rule) => !known.has(bare(rule)));
}

/** Tools of which the new policy believes something milder, with what it is. Both tables are over one lattice. */
export function milderLabels(old: readonly ToolContract[], present: readonly ToolContract[]): readonly string[] {
  const before = new Map(old.map((contract) => [`${contract.server}.${contract.tool}`, contract]));
  return present.flatMap((contract) => {
    const name = `${contract.server}.${contract.tool}`;
    const known = before.get(name);
    const milder = known === undefined ? [] : milderParts(known, contract);
    return milder.length === 0 ? [] : [`${name}: ${milder.join(", ")}`];
  });
}

function milderParts(old: ToolContract, present: ToolContract): readonly string[] {
  const parts: string[] = [];
  if ((old.output.label.hi & ~present.output.label.hi) !== 0) parts.push("its results are labelled lower");
  if (old.effects.may.some((effect) => !present.effects.may.includes(effect))) parts.push("it is believed to do less");
  if (old.writes.some((store) => !present.writes.includes(store)))
    parts.push("it is believed to write to fewer stores");
  if (old.opens.length > present.opens.length) parts.push("it is believed to open fewer stores");
  const loosened = [...old.arguments].filter(([name, argument]) => {
    const now = present.arguments.get(name) ?? present.rest;
    return (argument.forbidden & ~now.forbidden) !== 0 || (argument.sink && !now.sink);
  });
  if (loosened.length > 0) parts.push(`more may go into ${loosened.map(([name]) => name).join(" and ")}`);
  return parts;
}
