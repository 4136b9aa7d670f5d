/** Proves every hazard of a policy and reports the results; the contract of `proof verify --json` (system.md 6). */
import type { JsonObject } from "../../core/json.ts";
import type { CanonicalPolicy } from "../../policy/canonical/policy-document.ts";
import type { RuleForm } from "../../policy/document/long-form.ts";
import { type CompiledPolicy, compilePolicy } from "../../policy/compile/compile.ts";
import { assumptionsOf, certificateOf } from "../../proof/prove/certificate.ts";
import { type HazardProof, type Prover, makeProver, proveHazard } from "../../proof/prove/prove.ts";
import { type Candidate, closingLine } from "../../proof/prove/remedy.ts";
import { renderShortly, renderSteps } from "../../proof/prove/render.ts";
import type { Subject } from "../../proof/prove/subject.ts";
import type { Manifest } from "../../proof/prove/table.ts";
import type { TraceStep } from "../../proof/prove/trace.ts";
import { sha256 } from "../policy/policy-source.ts";
import { manifestDigests, subjectOf } from "./subject-tools.ts";
import { type ProofLint, lintQuestions, unlabelledLints } from "../../proof/prove/lints.ts";
import { checkExpectations, outcomeOf } from "../policy/expectations.ts";

export type VerifiedProperty = {
  readonly id: string;
  readonly verdict: HazardProof["verdict"];
  readonly enforcedBy: HazardProof["enforcedBy"];
  readonly givenConsent: boolean | undefined;
  readonly unenforceable?: "host";
  readonly accepted: boolean;
  readonly reason?: string;
  readonly without: { readonly verdict: string; readonly counterexample?: readonly string[] };
  readonly counterexample?: readonly string[];
  /** Counterexample that remains with consent to every question. */
  readonly consented?: string;
  readonly core?: readonly string[];
  readonly certificate?: JsonObject;
};

export type Verified = {
  readonly ok: boolean;
  readonly policy: string;
  readonly properties: readonly VerifiedProperty[];
  /** `outcome` tells of a trace that does not hold what became of it. */
  readonly usefulness: readonly {
    readonly expect: number;
    readonly verdict: string;
    readonly holds: boolean;
    readonly outcome?: string;
  }[];
  /** Findings of the exploration about single rules; none of them makes a proof fail. */
  readonly lints: readonly ProofLint[];
  readonly assumptions: readonly string[];
  /** Milliseconds of processor time. */
  readonly ms: number;
};

export type VerifyOptions = {
  /** Rules alone have to prevent every hazard; otherwise regulation, which refuses in time, counts as well. */
  readonly rulesOnly?: boolean;
};

/**
 * A hazard is held when it is proved, or accepted, or when regulation keeps it from happening: the gateway plays the same
 * game at run time, so a rule that repeats it adds nothing. Certificates cover rules only (docs/semantics.md 9).
 */
export function verify(
  policy: CompiledPolicy,
  manifest: Manifest,
  { rulesOnly = false }: VerifyOptions = {},
): Verified {
  const started = process.cpuUsage();
  const prover = makeProver(subjectOf(policy, manifest));
  const expect = checkExpectations(policy).map((one) => {
    const { index, expected, holds } = one;
    return { expect: index, verdict: expected, holds, ...(holds ? {} : { outcome: outcomeOf(one) }) };
  });
  const manifests = manifestDigests(manifest);
  const properties = policy.ir.hazards.map((hazard) => {
    const proof = proveHazard(prover, hazard);
    const certificate =
      proof.explored === undefined
        ? undefined
        : certificateOf({
            subject: prover.subject,
            hazard: hazard.id,
            core: proof.core ?? [],
            explored: proof.explored,
            manifests,
            expect,
          });
    return propertyOf(prover, proof, { manifest, certificate });
  });
  const useful =
    expect.some(({ verdict, holds }) => verdict === "allow" && holds) && expect.every(({ holds }) => holds);
  const regulated = (one: VerifiedProperty): boolean => !rulesOnly && one.enforcedBy === "regulation";
  const holds = properties.every((one) => one.verdict === "proved" || one.accepted || regulated(one));
  const { user, system } = process.cpuUsage(started);
  return {
    ok: useful && holds && properties.length > 0,
    policy: policy.digest,
    properties,
    usefulness: expect,
    lints: proofLints(policy, manifest),
    assumptions: [...assumptionsOf(prover.subject), ...unlistedServers(policy, manifest)],
    ms: Math.round((user + system) / 1_000),
  };
}

/** Servers in the policy without a list of tools: a proof that passes over them in silence would mislead. */
function unlistedServers({ table }: CompiledPolicy, manifest: Manifest): readonly string[] {
  const names = [...table.servers.keys()].filter((name) => manifest[name] === undefined);
  if (names.length === 0) return [];
  return [`Servers without a list of tools offer none (${names.join(", ")}): give their lists with --manifest.`];
}

type Surroundings = { readonly manifest: Manifest; readonly certificate: JsonObject | undefined };

function propertyOf(prover: Prover, proof: HazardProof, { manifest, certificate }: Surroundings): VerifiedProperty {
  const { hazard } = proof;
  const told = (steps: readonly TraceStep[]): readonly string[] => renderSteps(prover.subject, hazard, steps);
  const closing = (steps: readonly TraceStep[]): string =>
    closingLine({ subject: prover.subject, hazard, steps }, (rule) => tryRule(prover.subject, manifest, rule));
  const found = proof.counterexample;
  const bare = proof.without.counterexample;
  return {
    id: hazard.id,
    verdict: proof.verdict,
    enforcedBy: proof.enforcedBy,
    givenConsent: proof.givenConsent,
    ...(proof.unenforceable === undefined ? {} : { unenforceable: proof.unenforceable }),
    accepted: proof.accepted,
    ...(proof.reason === undefined ? {} : { reason: proof.reason }),
    without: { verdict: proof.without.verdict, ...(bare === undefined ? {} : { counterexample: told(bare.steps) }) },
    ...(found === undefined ? {} : { counterexample: [...told(found.steps), closing(found.steps)] }),
    ...(proof.consented === undefined ? {} : { consented: renderShortly(prover.subject, proof.consented.steps) }),
    ...(proof.core === undefined ? {} : { core: proof.core }),
    ...(certificate === undefined ? {} : { certificate }),
  };
}

/** The policy with another rule; undefined where that does not compile. */
function tryRule({ policy }: Subject, manifest: Manifest, rule: RuleForm): Candidate | undefined {
  const tried = withRule(policy.policy, rule);
  return tried && { subject: subjectOf(tried, manifest), cost: () => costOf(policy, tried) };
}

function withRule(policy: CanonicalPolicy, rule: RuleForm): CompiledPolicy | undefined {
  return compilePolicy({ ...policy, rules: [...policy.rules, rule] }, sha256).policy;
}

/** Expected traces that are judged otherwise under the new policy. */
function costOf(before: CompiledPolicy, after: CompiledPolicy): number {
  const old = checkExpectations(before);
  return checkExpectations(after).filter(({ found }, index) => found.verdict !== old[index]?.found.verdict).length;
}

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
