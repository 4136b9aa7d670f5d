/**
 * `gateway --require-proof`: no server is admitted unless every hazard of the policy is proved for all that is admitted
 * then. A proof is believed only from its certificate: the engine, or the operator's file, makes it, and the independent
 * checker decides. A manifest that changes is a new question; where the answer is not yes, the server is quarantined.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { stringMember } from "../../core/json.ts";
import { seal } from "../../core/mechanism.ts";
import type { SealedMechanism } from "../../core/mechanism.ts";
import type { AdmitMoment } from "../../core/moment.ts";
import { noObjection, settled } from "../../core/opinion.ts";
import type { CompiledPolicy } from "../../policy/compile.ts";
import { contractOfMethod, knownMethods } from "../../policy/contracts/methods.ts";
import type { Q } from "../../policy/state.ts";
import { certificateOf } from "../../proof/certificate.ts";
import { checkCertificate } from "../../proof/check/check.ts";
import { makeProver, proveHazard } from "../../proof/prove.ts";
import { clientTools, tableEntry } from "../../proof/table.ts";
import { digest } from "../../wire/canonical.ts";
import { sha256 } from "../policy-source.ts";
import { checkExpectations } from "../replay/expectations.ts";

/** Why a server is not admitted: the hazard, and what is wrong with its proof. */
export type Unproved = { readonly server: string; readonly hazard: string; readonly reason: string };

export type RequiredProofs = {
  /** The mechanism for a policy; it speaks at `admit` only. */
  readonly mechanism: (policy: CompiledPolicy) => SealedMechanism<Q>;
  /** Everything that was refused so far. */
  readonly refused: readonly Unproved[];
  /** The last certificate that was made here for each hazard: about everything that is admitted. */
  readonly made: ReadonlyMap<string, JsonObject>;
};

/** With certificates, only those count; without, every proof is made here and then checked like a stranger's. */
export function requireProofs(certificates: readonly Json[] | undefined): RequiredProofs {
  const refused: Unproved[] = [];
  const made = new Map<string, JsonObject>();
  return {
    refused,
    made,
    mechanism: (policy) => {
      const verifier = makeVerifier(policy, { certificates, made });
      return seal({
        id: "proof",
        version: 1,
        initial: () => null,
        remember: () => null,
        consider: ({ moment }) => {
          if (moment.kind !== "admit") return noObjection;
          const failed = verifier(moment);
          if (failed === undefined) return noObjection;
          refused.push(failed);
          const facts = { server: failed.server, hazard: failed.hazard, cause: failed.reason };
          const way = "run `sluicegate proof verify` with this server's tools, and mend the policy";
          return settled([{ mechanism: "proof", code: "SG-UNPROVED", verdict: "deny", facts, way }]);
        },
      });
    },
  };
}

type Verifier = (moment: AdmitMoment) => Unproved | undefined;

type Proofs = {
  readonly certificates: readonly Json[] | undefined;
  readonly made: Map<string, JsonObject>;
};

function makeVerifier(policy: CompiledPolicy, proofs: Proofs): Verifier {
  const admitted = new Map<string, readonly ToolContract[]>();
  const usable = usefulness(policy);
  return ({ server, contracts }) => {
    // A list of prompts or resources has no tools; the methods of its server are judged with the tools known so far.
    const tools = contracts.length > 0 ? contracts : (admitted.get(server) ?? []);
    const present = new Map(admitted).set(server, tools);
    const table = tableOf(policy, present);
    for (const hazard of policy.ir.hazards) {
      if (policy.policy.accepts.includes(hazard.id)) continue;
      const reason = usable ?? unproved(policy, { hazard: hazard.id, table, ...proofs });
      if (reason !== undefined) return { server, hazard: hazard.id, reason };
    }
    admitted.set(server, tools);
    return undefined;
  };
}

/** What is wrong with the policy's own traces: without one that is allowed, a proof says nothing. */
function usefulness(policy: CompiledPolicy): string | undefined {
  const expected = checkExpectations(policy);
  const allowed = expected.some(({ expected: verdict, holds }) => verdict === "allow" && holds);
  if (!expected.every(({ holds }) => holds)) return "an `expect:` trace of the policy does not hold";
  return allowed ? undefined : "the policy has no `expect:` trace that is allowed";
}

function tableOf(
  policy: CompiledPolicy,
  present: ReadonlyMap<string, readonly ToolContract[]>,
): readonly ToolContract[] {
  const servers = [...present].toSorted(([left], [right]) => (left < right ? -1 : 1));
  return [
    ...servers.flatMap(([, contracts]) => contracts),
    ...servers.flatMap(([server]) => knownMethods.map((method) => contractOfMethod(policy.table, server, method))),
    ...clientTools(policy),
  ];
}

type Question = Proofs & { readonly hazard: string; readonly table: readonly ToolContract[] };

function unproved(policy: CompiledPolicy, question: Question): string | undefined {
  const { hazard, table, certificates } = question;
  if (certificates === undefined) return ownProof(policy, question);
  const present = table.map((contract) => digest(tableEntry(policy.ir, contract), sha256));
  let reason = "there is no certificate for it";
  for (const certificate of certificates) {
    if (stringMember(certificate, "hazard") !== hazard) continue;
    const checked = checkCertificate(certificate, { hash: sha256, policyDigest: policy.digest });
    const missing = checked.ok ? uncovered(certificate, present) : checked.reason;
    if (missing === undefined) return undefined;
    reason = missing;
  }
  return reason;
}

/** A proof for more tools covers fewer; one tool that it does not know is one too many. */
function uncovered(certificate: Json, present: readonly string[]): string | undefined {
  const tools =
    typeof certificate === "object" && certificate !== null && "tools" in certificate ? certificate["tools"] : [];
  const known = new Set(Array.isArray(tools) ? tools.map((tool: Json) => digest(tool, sha256)) : []);
  return present.every((entry) => known.has(entry))
    ? undefined
    : "its certificate is about other tools than those there are now";
}

function ownProof(policy: CompiledPolicy, { hazard: hazardId, table: contracts, made }: Question): string | undefined {
  const hazard = policy.ir.hazards.find(({ id }) => id === hazardId);
  if (hazard === undefined) return "the policy has no such hazard";
  const subject = { policy, contracts };
  const proof = proveHazard(makeProver(subject), hazard);
  if (proof.verdict === "vacuous") return undefined; // nothing there can bring it about
  if (proof.explored === undefined) return proof.reason ?? "it can happen";
  const expect = checkExpectations(policy).map(({ expected, holds }) => ({ verdict: expected, holds }));
  const certificate = certificateOf({
    subject,
    hazard: hazardId,
    core: proof.core ?? [],
    explored: proof.explored,
    manifests: {},
    expect,
  });
  const checked = checkCertificate(certificate, { hash: sha256, policyDigest: policy.digest });
  if (checked.ok && certificate !== undefined) made.set(hazardId, certificate);
  return checked.ok ? undefined : `the checker refuses its proof: ${checked.reason}`;
}
