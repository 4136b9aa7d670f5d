/**
 * `gateway --require-proof`: no server is admitted unless every hazard of the policy is proved for all that is admitted
 * then. A proof is believed only from its certificate: the engine, or the operator's file, makes it, and the independent
 * checker decides. A manifest that changes is a new question; where the answer is not yes, the server is quarantined.
 */
import type { ToolContract } from "../../core/contract.ts";
import { type Json, type JsonObject, stringMember } from "../../core/json.ts";
import { seal, type SealedMechanism } from "../../core/mechanism.ts";
import type { AdmitMoment } from "../../core/moment.ts";
import { noObjection, settled } from "../../core/opinion.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import type { Hazard } from "../../policy/ir/ir.ts";
import { certificateOf } from "../../proof/prove/certificate.ts";
import { checkCertificate } from "../../proof/check/check.ts";
import { makeProver, proveHazard } from "../../proof/prove/prove.ts";
import { tableEntry, wholeTable } from "../../proof/prove/table.ts";
import { digest } from "../../wire/canonical.ts";
import { sha256 } from "../policy/policy-source.ts";
import { type Expectation, checkExpectations } from "../policy/expectations.ts";

/** Why a server is not admitted: the hazard, and what is wrong with its proof. */
export type Unproved = { readonly server: string; readonly hazard: string; readonly reason: string };

export type RequiredProofs = {
  /** The mechanism for a policy; it speaks at `admit` only. */
  readonly mechanism: (policy: CompiledPolicy) => SealedMechanism;
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
          const way = "run `sluicegate proof verify` with this server's tools, and fix the policy";
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

function makeVerifier(policy: CompiledPolicy, { certificates, made }: Proofs): Verifier {
  const admitted = new Map<string, readonly ToolContract[]>();
  const expected = checkExpectations(policy);
  const useless = uselessness(expected);
  const covers = certificates === undefined ? undefined : certified(policy, certificates);
  return ({ server, contracts }) => {
    const known = admitted.get(server);
    // A list of prompts or resources has no tools, and the methods of its server were judged with the tools.
    if (contracts.length === 0 && known !== undefined) return undefined;
    const present = [...new Map(admitted).set(server, contracts)];
    const table = wholeTable(
      policy,
      present.toSorted(([left], [right]) => (left < right ? -1 : 1)),
    );
    const unproved = covers?.(table) ?? ownProofs({ policy, expected, made }, table);
    for (const hazard of policy.ir.hazards) {
      if (policy.policy.accepts.includes(hazard.id)) continue;
      const reason = useless ?? unproved(hazard);
      if (reason !== undefined) return { server, hazard: hazard.id, reason };
    }
    admitted.set(server, contracts);
    return undefined;
  };
}

/** Why a hazard counts as not proved. */
type Unprovedness = (hazard: Hazard) => string | undefined;

/** A fault of the policy's own traces: without an allowed one, a proof says nothing. */
function uselessness(expected: readonly Expectation[]): string | undefined {
  const allowed = expected.some(({ expected: verdict, holds }) => verdict === "allow" && holds);
  if (!expected.every(({ holds }) => holds)) return "an `expect:` trace of the policy does not hold";
  return allowed ? undefined : "the policy has no `expect:` trace that is allowed";
}

/** Believes certificates only; each is checked once, and then asked whether it knows the tools that there are. */
function certified(
  policy: CompiledPolicy,
  certificates: readonly Json[],
): (table: readonly ToolContract[]) => Unprovedness {
  const checked = certificates.map((certificate) => ({
    certificate,
    hazard: stringMember(certificate, "hazard"),
    result: checkCertificate(certificate, { hash: sha256, policyDigest: policy.digest }),
  }));
  return (table) => {
    const present = table.map((contract) => digest(tableEntry(policy.ir, contract), sha256));
    return ({ id }) => {
      let reason = "there is no certificate for it";
      for (const { certificate, hazard, result } of checked) {
        if (hazard !== id) continue;
        const missing = result.ok ? uncovered(certificate, present) : result.reason;
        if (missing === undefined) return undefined;
        reason = missing;
      }
      return reason;
    };
  };
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

type Making = {
  readonly policy: CompiledPolicy;
  readonly expected: readonly Expectation[];
  readonly made: Map<string, JsonObject>;
};

/** Proves here, and believes what the checker says of the certificate. */
function ownProofs({ policy, expected, made }: Making, contracts: readonly ToolContract[]): Unprovedness {
  const prover = makeProver({ policy, contracts });
  const expect = expected.map(({ expected: verdict, holds }) => ({ verdict, holds }));
  return (hazard) => {
    const proof = proveHazard(prover, hazard);
    if (proof.verdict === "vacuous") return undefined; // nothing there can bring it about
    if (proof.explored === undefined) return proof.reason ?? "it can happen";
    const { core = [], explored } = proof;
    const certificate = certificateOf({
      subject: prover.subject,
      hazard: hazard.id,
      core,
      explored,
      manifests: {},
      expect,
    });
    const checked = checkCertificate(certificate, { hash: sha256, policyDigest: policy.digest });
    if (checked.ok && certificate !== undefined) made.set(hazard.id, certificate);
    return checked.ok ? undefined : `the checker refuses its proof: ${checked.reason}`;
  };
}
