/**
 * The cost of each requirement: the `expect:` traces of the policy, judged again with the rules of that requirement in
 * another tier. Traces that should pass are tasks, traces that should be refused are attacks; so the price in prompts
 * and in autonomy stands beside its benefit.
 */
import type { Verdict } from "../../core/verdict.ts";
import type { CanonicalPolicy } from "../canonical/policy-document.ts";
import type { RuleForm } from "../document/long-form.ts";
import { type CompiledPolicy, compilePolicy } from "../compile/compile.ts";
import type { ExpectText } from "../document/shapes-rules.ts";
import { type StpaDocument, judgementsMax } from "./document.ts";
import { formalParts } from "./formal.ts";
import { rulesServing } from "./policy-gaps.ts";

/** Decides one trace; `prompts` counts the calls that ask. */
export type Judge = (
  policy: CompiledPolicy,
  expectation: ExpectText,
) => { readonly verdict: Verdict; readonly prompts: number };

/** Whether these hazards hold on every path under the policy; undefined where no proof was computed. */
export type Proves = (policy: CompiledPolicy, properties: readonly string[]) => boolean | undefined;

export type CostOptions = {
  readonly judge: Judge;
  readonly proves: Proves;
  /** SHA-256 of text, in hex. */
  readonly hash: (text: string) => string;
};

/** `none`: without the rules of the requirement. */
export type TriedTier = "block" | "must" | "confirm" | "allow" | "none";

export type TierCost = {
  readonly tier: TriedTier;
  /** The tier that the document chose. */
  readonly chosen: boolean;
  readonly autonomous: number;
  readonly asking: number;
  readonly prompts: number;
  readonly stopped: number;
  readonly attacksStopped: number;
  readonly attacksAsked: number;
  readonly proves: boolean | undefined;
};

export type RequirementCost = {
  readonly requirement: string;
  readonly rules: readonly string[];
  readonly properties: readonly string[];
  readonly tasks: number;
  readonly attacks: number;
  readonly tiers: readonly TierCost[];
};

export type Costs = {
  readonly requirements: readonly RequirementCost[];
  /** Requirements for which too many traces would have had to be judged. */
  readonly notComputed: readonly string[];
};

/** Costs of every requirement that some rule of the policy serves, in document order. */
export function requirementCosts(document: StpaDocument, policy: CompiledPolicy, options: CostOptions): Costs {
  const parts = formalParts(document);
  const traces = policy.policy.expect;
  const notComputed: string[] = [];
  let judged = 0;
  const requirements = Object.entries(document.requirements ?? {}).flatMap(([requirement, { tier }]) => {
    const rules = rulesServing(policy.policy, requirement);
    if (rules.length === 0) return [];
    const tried = tiersFor(rules, tier);
    judged += tried.length * traces.length;
    if (judged > judgementsMax) {
      notComputed.push(requirement);
      return [];
    }
    const properties = parts
      .filter((part) => part.kind === "property" && part.requirement === requirement)
      .map(({ id }) => id);
    const tasks = traces.filter(({ verdict }) => verdict !== "deny").length;
    const found = tried.map((each) => costOf(policy, { requirement, tier: each, chosen: tier, properties }, options));
    return [
      {
        requirement,
        rules: rules.map(({ id }) => id),
        properties,
        tasks,
        attacks: traces.length - tasks,
        tiers: found.map((cost) => ({ ...cost, chosen: cost.tier === tier })),
      },
    ];
  });
  return { requirements, notComputed };
}

const mustForms = ["gate", "owed", "inject", "immediately", "byEnd"] as const;

function isMust(rule: RuleForm): boolean {
  return mustForms.some((form) => rule[form] !== undefined);
}

/** A `must` rule cannot become a question, and a permission cannot be refused: only sensible tiers are tried. */
function tiersFor(rules: readonly RuleForm[], chosen: TriedTier): readonly TriedTier[] {
  if (rules.every(isMust)) return ["must", "none"];
  const free: readonly TriedTier[] = chosen === "allow" ? ["allow", "confirm", "none"] : ["block", "confirm", "none"];
  return free.includes(chosen) ? free : [chosen, ...free];
}

type Trial = {
  readonly requirement: string;
  readonly tier: TriedTier;
  readonly chosen: TriedTier;
  readonly properties: readonly string[];
};

function costOf(policy: CompiledPolicy, trial: Trial, { judge, proves, hash }: CostOptions): Omit<TierCost, "chosen"> {
  const compiled = (given: CanonicalPolicy): CompiledPolicy => {
    const made = compilePolicy(given, hash).policy;
    if (made === undefined) throw new Error("a policy that loads also loads with rules in another tier");
    return made;
  };
  const other = retiered(policy.policy, trial);
  // A hazard in force would refuse on its own what a milder tier lets through, and every tier would look the same.
  const tried = compiled(trial.tier === trial.chosen ? other : watched(other, trial.properties));
  const counts = { autonomous: 0, asking: 0, prompts: 0, stopped: 0, attacksStopped: 0, attacksAsked: 0 };
  for (const expectation of tried.policy.expect) {
    const { verdict, prompts } = judge(tried, expectation);
    if (expectation.verdict === "deny") {
      if (verdict === "deny") counts.attacksStopped += 1;
      if (verdict === "confirm") counts.attacksAsked += 1;
      continue;
    }
    counts.prompts += prompts;
    if (verdict === "allow") counts.autonomous += 1;
    else if (verdict === "confirm") counts.asking += 1;
    else counts.stopped += 1;
  }
  const held = trial.properties.length === 0 ? undefined : proves(compiled(other), trial.properties);
  return { tier: trial.tier, ...counts, proves: held };
}

/** The policy with some hazards that only report. */
function watched(policy: CanonicalPolicy, properties: readonly string[]): CanonicalPolicy {
  const hazards = Object.entries(policy.hazards).map(([id, hazard]) =>
    properties.includes(id) ? [id, { ...hazard, mode: "observe" as const }] : [id, hazard],
  );
  return { ...policy, hazards: Object.fromEntries(hazards) };
}

/** The policy with the rules of one requirement in another tier; the chosen one is the policy as it is. */
function retiered(policy: CanonicalPolicy, { requirement, tier, chosen }: Trial): CanonicalPolicy {
  const rules = policy.rules.flatMap((rule) => {
    if (!rule.serves.includes(requirement) || tier === chosen) return [rule];
    if (tier === "none") return [];
    // A `must` rule keeps its tier, a program can only refuse, and counts and absences have no `allow`.
    const fixed =
      isMust(rule) || rule.predicate !== undefined || tier === "must" || (tier === "allow" && rule.when === undefined);
    return [fixed ? rule : { ...rule, tier }];
  });
  // An expectation may name the rule that decides it, which may be gone here; only its trace and verdict matter.
  const expect = policy.expect.map(({ by: _by, ...rest }) => rest);
  return { ...policy, rules, expect };
}
