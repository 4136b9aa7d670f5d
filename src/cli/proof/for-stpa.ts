/** What the proof engine says to reports of a hazard analysis: of the policy as it is, and of its rules in other tiers. */
import type { CompiledPolicy } from "../../policy/compile.ts";
import type { Proves } from "../../policy/stpa/cost.ts";
import type { ProofResults } from "../../policy/stpa/proof-results.ts";
import { proofResults, satisfies } from "../../policy/stpa/proof-results.ts";
import { makeProver, proveHazard } from "../../proof/prove.ts";
import type { Manifest } from "../../proof/table.ts";
import { manifestOf } from "./manifest-of.ts";
import { subjectOf } from "./manifest-of.ts";

/** The result for each hazard of the policy, for the tools that are listed or that the policy labels by name. */
export function provenNow(policy: CompiledPolicy, listed: Manifest): ProofResults {
  return proven(policy, listed, () => true);
}

/** Decides properties under any policy; undefined where the engine reached one of its limits. */
export function provesWith(listed: Manifest): Proves {
  return (policy, properties) => {
    const found = proven(policy, listed, (id) => properties.includes(id));
    const results = properties.map((id) => found.get(id));
    if (results.some((result) => result?.verdict === "unknown")) return undefined;
    return results.every((result) => {
      const consent = result === undefined ? undefined : policy.policy.hazards[result.id]?.consent;
      return satisfies(result, consent ?? "never");
    });
  };
}

function proven(policy: CompiledPolicy, listed: Manifest, wanted: (id: string) => boolean): ProofResults {
  const prover = makeProver(subjectOf(policy, manifestOf(policy, listed)));
  const properties = policy.ir.hazards
    .filter(({ id }) => wanted(id))
    .map((hazard) => {
      const { verdict, enforcedBy, without } = proveHazard(prover, hazard);
      return { id: hazard.id, verdict, enforcedBy, without: without.verdict };
    });
  const read = proofResults({ properties });
  if (!read.ok) throw new Error(`the engine's own result is unreadable: ${read.error}`);
  return read.value;
}
