/** Proves every hazard of a policy and says what it found; the contract of `proof verify --json` (DESIGN 6). */
import type { JsonObject } from "../../core/json.ts";
import type { CanonicalPolicy, RuleForm } from "../../policy/canonical/form.ts";
import type { CompiledPolicy } from "../../policy/compile.ts";
import { compilePolicy } from "../../policy/compile.ts";
import type { Hazard } from "../../policy/ir.ts";
import { assumptionsOf, certificateOf } from "../../proof/certificate.ts";
import type { HazardProof, Prover } from "../../proof/prove.ts";
import { makeProver, proveHazard } from "../../proof/prove.ts";
import { closingRules, ruleLine, unlabelledTools } from "../../proof/remedy.ts";
import { renderShortly, renderSteps } from "../../proof/render.ts";
import type { Subject } from "../../proof/subject.ts";
import type { Manifest } from "../../proof/table.ts";
import type { TraceStep } from "../../proof/trace.ts";
import { sha256 } from "../policy-source.ts";
import { manifestDigests, subjectOf } from "./manifest-of.ts";
import type { ProofLint } from "../../proof/lints.ts";
import { proofLints } from "./lints.ts";
import { checkExpectations } from "../replay/expectations.ts";

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
  /** What still happens where every question is answered with yes. */
  readonly consented?: string;
  readonly core?: readonly string[];
  readonly certificate?: JsonObject;
};

export type Verified = {
  readonly ok: boolean;
  readonly policy: string;
  readonly properties: readonly VerifiedProperty[];
  readonly usefulness: readonly { readonly expect: number; readonly verdict: string; readonly holds: boolean }[];
  /** What the exploration says of single rules; none of it makes a proof fail. */
  readonly lints: readonly ProofLint[];
  readonly assumptions: readonly string[];
  /** Milliseconds of processor time. */
  readonly ms: number;
};

export function verify(policy: CompiledPolicy, manifest: Manifest): Verified {
  const started = process.cpuUsage();
  const prover = makeProver(subjectOf(policy, manifest));
  const expect = checkExpectations(policy).map(({ index, expected, holds }) => ({
    expect: index,
    verdict: expected,
    holds,
  }));
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
  const holds = properties.every((one) => one.verdict === "proved" || one.accepted);
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

/** Servers that the policy speaks of and nobody has listed: a proof that passes over them in silence would mislead. */
function unlistedServers({ table }: CompiledPolicy, manifest: Manifest): readonly string[] {
  const names = [...table.servers.keys()].filter((name) => manifest[name] === undefined);
  if (names.length === 0) return [];
  return [`Servers whose tools nobody has listed offer none (${names.join(", ")}): give their lists with --manifest.`];
}

type Surroundings = { readonly manifest: Manifest; readonly certificate: JsonObject | undefined };

function propertyOf(prover: Prover, proof: HazardProof, { manifest, certificate }: Surroundings): VerifiedProperty {
  const { hazard } = proof;
  const told = (steps: readonly TraceStep[]): readonly string[] => renderSteps(prover.subject, hazard, steps);
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
    ...(found === undefined
      ? {}
      : { counterexample: [...told(found.steps), closingLine(prover.subject, hazard, found.steps, manifest)] }),
    ...(proof.consented === undefined ? {} : { consented: renderShortly(prover.subject, proof.consented.steps) }),
    ...(proof.core === undefined ? {} : { core: proof.core }),
    ...(certificate === undefined ? {} : { certificate }),
  };
}

/** The one change that closes a counterexample, tried before it is said, and what it costs on the policy's own traces. */
function closingLine(subject: Subject, hazard: Hazard, steps: readonly TraceStep[], manifest: Manifest): string {
  const tried = closingRules(subject, hazard.id, steps).flatMap((rule) => {
    const policy = withRule(subject.policy.policy, rule);
    if (policy === undefined) return [];
    const proof = proveHazard(makeProver(subjectOf(policy, manifest)), hazard);
    return proof.verdict === "proved" ? [{ rule, cost: costOf(subject.policy, policy) }] : [];
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

function withRule(policy: CanonicalPolicy, rule: RuleForm): CompiledPolicy | undefined {
  return compilePolicy({ ...policy, rules: [...policy.rules, rule] }, sha256).policy;
}

/** Expected traces that are judged otherwise under the new policy. */
function costOf(before: CompiledPolicy, after: CompiledPolicy): number {
  const old = checkExpectations(before);
  return checkExpectations(after).filter(({ found }, index) => found.verdict !== old[index]?.found.verdict).length;
}
