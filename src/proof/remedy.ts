/**
 * What would close a counterexample: rules, from the one that says exactly what the hazard says to the one that takes the
 * last tool away, and labels where nobody has said what a tool does. The caller tries them and counts what they cost.
 */
import type { HazardForm, RuleForm } from "../policy/canonical/form.ts";
import type { Subject } from "./subject.ts";
import type { TraceStep } from "./trace.ts";

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

/** Against readers who ask nobody: what they must not see does not get in, or the door stays shut. */
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

/** Tools of the way of which nobody has said what they do: a label may be all that is missing. */
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

/** What may be written as one word or entry instead of a list of one. */
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

/** What a policy hands on as it is: a list of one is a list there. */
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
