/**
 * Remedies for a counterexample: rules, from one that says exactly what the hazard says to one that takes the last tool away,
 * and labels for unlabelled tools. Each is proved before it is proposed.
 */
import type { HazardForm, RuleForm } from "../../policy/document/long-form.ts";
import type { Hazard } from "../../policy/ir/ir.ts";
import { makeProver, proveHazard } from "./prove.ts";
import type { Subject } from "./subject.ts";
import type { TraceStep } from "./trace.ts";

/** A policy with one more rule, and the number of its `expect:` traces with another verdict under it. */
export type Candidate = { readonly subject: Subject; readonly cost: () => number };

type Found = { readonly subject: Subject; readonly hazard: Hazard; readonly steps: readonly TraceStep[] };

/** The cheapest change that closes a counterexample, as a sentence: a rule under which the hazard is proved, else a label. */
export function closingLine(
  { subject, hazard, steps }: Found,
  withRule: (rule: RuleForm) => Candidate | undefined,
): string {
  const tried = closingRules(subject, hazard.id, steps).flatMap((rule) => {
    const candidate = withRule(rule);
    if (candidate === undefined) return [];
    const { verdict } = proveHazard(makeProver(candidate.subject), hazard);
    return verdict === "proved" ? [{ rule, cost: candidate.cost() }] : [];
  });
  const [best] = tried.toSorted((left, right) => left.cost - right.cost);
  if (best !== undefined) {
    const all = subject.policy.policy.expect.length;
    return `To close it, add: ${ruleLine(best.rule)} (costs ${best.cost} of ${all} \`expect:\` traces)`;
  }
  const [unlabelled] = unlabelledTools(subject, steps);
  if (unlabelled !== undefined)
    return `To close it, label ${unlabelled} under \`labels:\`: nothing is known of what it does`;
  return `No single rule closes it: take one of these tools away, or write \`accepts: [${hazard.id}]\``;
}

/** Candidate rules, the least intrusive first; ids are free in the policy. */
export function closingRules(
  { policy: { policy }, contracts }: Subject,
  hazardId: string,
  steps: readonly TraceStep[],
): readonly RuleForm[] {
  const hazard = policy.hazards[hazardId];
  if (hazard === undefined) return [];
  const head = {
    id: freeId(policy.rules, `${hazardId}-guard`),
    why: hazard.why || `against ${hazardId}`,
    serves: [hazardId],
  };
  const whole = { ...head, mode: "enforce" } as const;
  const mirrored = mirror(hazard.never, whole);
  const blocking = (when: RuleForm["when"]): readonly RuleForm[] =>
    when === undefined ? [] : [{ ...whole, tier: "block" as const, when }];
  const read = steps.at(-1);
  const readers = read?.kind === "fire" ? doorRules(contracts, hazard.never.flow?.from, read) : [];
  const tools = [...steps].reverse().flatMap((step) => {
    if (step.kind !== "call") return [];
    const acts = step.stored.some((store) => store.opened.length > 0) || step === read;
    return acts ? [{ tool: [`${step.server}.${step.tool}`] }] : [];
  });
  return [...mirrored, ...[...readers, ...tools].flatMap(blocking)];
}

type Fire = TraceStep & { readonly kind: "fire" };

/** Against readers of an open store: block writes of data that they must not see, or block the opening call. */
function doorRules(
  contracts: Subject["contracts"],
  from: NonNullable<HazardForm["never"]["flow"]>["from"] | undefined,
  { store, group }: Fire,
): readonly NonNullable<RuleForm["when"]>[] {
  const named = (those: Subject["contracts"]): readonly string[] =>
    those.map(({ server, tool }) => `${server}.${tool}`);
  const writers = named(contracts.filter((one) => one.writes.includes(store)));
  const openers = named(
    contracts.filter((one) => one.opens.some((open) => open.store === store && open.audience.includes(group))),
  );
  if (from === undefined) return [{ tool: openers }];
  const { audience: _audience, roles: _roles, args: _args, ...label } = from;
  return [{ tool: writers, data: [label] }, { tool: openers }];
}

function mirror(never: HazardForm["never"], head: Omit<RuleForm, "tier">): readonly RuleForm[] {
  const { flow, call, sequence, unless, atMost } = never;
  if (flow !== undefined) {
    return [{ ...head, tier: "block", when: { ...flow.to, data: [flow.from, ...(flow.to.data ?? [])] } }];
  }
  if (call !== undefined) return [{ ...head, tier: "block", when: call }];
  if (sequence !== undefined) return [{ ...head, tier: "block", absence: sequence }];
  if (unless !== undefined) {
    const { call: before, ...rest } = unless;
    return [{ ...head, tier: "must", gate: { ...rest, before } }];
  }
  return atMost === undefined ? [] : [{ ...head, tier: "block", atMost }];
}

function freeId(rules: readonly RuleForm[], wanted: string): string {
  let id = wanted;
  for (let count = 2; rules.some((rule) => rule.id === id); count += 1) id = `${wanted}-${count}`;
  return id;
}

/** Unlabelled tools of the counterexample: a label alone may close it. */
export function unlabelledTools({ contracts }: Subject, steps: readonly TraceStep[]): readonly string[] {
  const named = steps.flatMap((step) => {
    if (step.kind !== "call") return [];
    const contract = contracts.find((one) => one.server === step.server && one.tool === step.tool);
    const unknown = contract !== undefined && (contract.source === "unknown" || contract.source === "inference");
    return unknown && contract.toolDigest !== undefined ? [`${step.server}.${step.tool}`] : [];
  });
  return [...new Set(named)];
}

/** A rule as one line of YAML, to be copied into `rules:`; of a program only the name of its function. */
export function ruleLine(rule: RuleForm): string {
  const { serves: _serves, mode: _mode, id, tier, why, predicate, ...rest } = rule;
  return flowText({ id, tier, ...rest, ...(predicate === undefined ? {} : { predicate: predicate.name }), why });
}

/** Members whose list of one may be written as a single value. */
const ofOne = new Set([
  "tool",
  "effect",
  "flags",
  "glob",
  "domain",
  "path",
  "cidr",
  "equals",
  "data",
  "store",
  "audience",
]);

/** Members that a policy passes on unchanged: a list of one stays a list there. */
const handedOn = new Set(["arguments", "schema"]);

function flowText(value: unknown, key = ""): string {
  if (Array.isArray(value)) {
    const [only] = value;
    if (value.length === 1 && ofOne.has(key)) return flowText(only);
    return `[${value.map((one) => flowText(one)).join(", ")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(
      ([name, one]) => `${flowText(name)}: ${handedOn.has(name) ? JSON.stringify(one) : flowText(one, name)}`,
    );
    return `{${members.join(", ")}}`;
  }
  return typeof value === "string" && plainText.test(value) && !notText.test(value) ? value : JSON.stringify(value);
}

/** Words that YAML reads as they stand, and those of them that it does not read as text. */
const plainText = /^[A-Za-z](?:[\w./*-]|:(?=\w))*(?: [\w./*-]+)*$/;
const notText = /^(?:true|false|null|yes|no|on|off)$/i;
