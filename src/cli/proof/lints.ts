/** Asks the prover what it knows of a policy's own rules. */
import type { CompiledPolicy } from "../../policy/compile.ts";
import { compilePolicy } from "../../policy/compile.ts";
import type { ProofLint } from "../../proof/lints.ts";
import { lintQuestions, unlabelledLints } from "../../proof/lints.ts";
import { makeProver, proveHazard } from "../../proof/prove.ts";
import type { Manifest } from "../../proof/table.ts";
import { sha256 } from "../policy-source.ts";
import { subjectOf } from "./manifest-of.ts";

/** Rules that are asked about; a policy with more is proved, and its rules are not judged one by one. */
export const lintedRulesMax = 200;

/** Members of the ids that questions get, which no policy can name. */
const asking = "lint?";

export function proofLints(policy: CompiledPolicy, manifest: Manifest): readonly ProofLint[] {
  const unlabelled = unlabelledLints(subjectOf(policy, manifest));
  const questions = lintQuestions(policy.policy);
  if (questions.length > lintedRulesMax) return unlabelled;
  const found = questions.flatMap(({ hazard, without, lint }) => {
    const rules = policy.policy.rules.filter(({ id }) => id !== without);
    // Whatever named the rule that is left out has no part in the question.
    const asked = { ...policy.policy, rules, hazards: { [asking]: hazard }, expect: [], accepts: [] };
    const compiled = compilePolicy(asked, sha256).policy;
    const [only] = compiled?.ir.hazards ?? [];
    if (compiled === undefined || only === undefined) return [];
    return lint(proveHazard(makeProver(subjectOf(compiled, manifest)), only)) ?? [];
  });
  return [...found, ...unlabelled];
}
