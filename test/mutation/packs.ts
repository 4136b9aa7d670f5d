/** The starter policies as they are proved, and what is left of one when only some of its rules stay. */
import { readdirSync } from "node:fs";
import { proofInput, manifestOf, subjectOf } from "../../src/app/proof/subject-tools.ts";
import { sha256 } from "../../src/app/policy/policy-source.ts";
import type { CanonicalPolicy } from "../../src/policy/canonical/policy-document.ts";
import type { RuleForm } from "../../src/policy/document/long-form.ts";
import { type CompiledPolicy, compilePolicy } from "../../src/policy/compile/compile.ts";
import { loadPolicy } from "../../src/policy/load.ts";
import { makeProver, proveHazard } from "../../src/proof/prove/prove.ts";
import { type Subject, boundsRule, defaultRule } from "../../src/proof/prove/subject.ts";
import type { Manifest } from "../../src/proof/prove/table.ts";
import { shippedOptions } from "../kit/policy/load-packs.ts";

const folder = new URL("../../packs/policies/", import.meta.url);

export const starterPolicies: readonly string[] = readdirSync(folder)
  .flatMap((file) => (file.endsWith(".yaml") ? [file.slice(0, -".yaml".length)] : []))
  .toSorted();

export type Pack = { readonly name: string; readonly policy: CompiledPolicy; readonly manifest: Manifest };

export function starterPolicy(name: string): Pack {
  const input = proofInput(new URL(`${name}.yaml`, folder).pathname, undefined);
  if (!input.ok) throw new Error(input.error.sentence);
  return { name, policy: input.value.policy, manifest: asListed(input.value.manifest) };
}

/** A policy written in a test; its tools are those that it labels. */
export function policyOfText(name: string, text: string): Pack {
  const loaded = loadPolicy({ file: `${name}.yaml`, text }, shippedOptions);
  if (loaded.policy === undefined) throw new Error(JSON.stringify(loaded.diagnostics, undefined, 1));
  return { name, policy: loaded.policy, manifest: asListed(manifestOf(loaded.policy, {})) };
}

/** No server lists a tool without a schema; where the policy is all that is known, the schema says nothing. */
function asListed(manifest: Manifest): Manifest {
  return Object.fromEntries(
    Object.entries(manifest).map(([server, tools]) => [
      server,
      tools.map((tool) => ({ inputSchema: { type: "object" }, ...tool })),
    ]),
  );
}

/** A hazard, rules that keep it away, and the same without one of them. */
export type Mutant = {
  readonly hazard: string;
  readonly rule: string;
  readonly open: readonly string[];
  readonly closed: readonly string[];
};

/** Every rule of every core of a policy. */
export function mutantsOf({ policy, manifest }: Pack): readonly Mutant[] {
  const prover = makeProver(subjectOf(policy, manifest));
  return policy.ir.hazards.flatMap((hazard) => {
    const { core = [] } = proveHazard(prover, hazard);
    return core.map((rule) => ({
      hazard: hazard.id,
      rule,
      open: core.filter((id) => id !== rule),
      closed: core,
    }));
  });
}

/**
 * The policy with these rules only. Its hazards only observe, or the gateway would refuse the bad call by itself; and
 * where the default is not among the rules, everything is allowed that they let through.
 */
export function reducedTo({ policy: { policy }, manifest }: Pack, rules: readonly string[]): Subject {
  // Without its default a policy can be run, with a default that looks at less than all it cannot.
  if (rules.includes(defaultRule) && !rules.includes(boundsRule)) throw new Error("the default always looks at bounds");
  const kept = policy.rules.filter(
    (rule) => rules.includes(rule.id) || (rules.includes(defaultRule) && rule.tier === "allow"),
  );
  const { stpa: _stpa, ...rest } = policy;
  const reduced: CanonicalPolicy = {
    ...rest,
    hazards: Object.fromEntries(
      Object.entries(policy.hazards).map(([id, hazard]) => [id, { ...hazard, mode: "observe" as const }]),
    ),
    rules: rules.includes(defaultRule) ? kept : [...kept, everything],
    keep: [],
    expect: [],
    accepts: [],
  };
  const compiled = compilePolicy(reduced, sha256);
  if (compiled.policy === undefined) throw new Error(JSON.stringify(compiled.problems));
  return subjectOf(compiled.policy, manifest);
}

const everything: RuleForm = {
  id: "everything-passes",
  tier: "allow",
  why: "only the rules of the core restrict",
  serves: [],
  mode: "enforce",
  when: { tool: ["*"] },
};
