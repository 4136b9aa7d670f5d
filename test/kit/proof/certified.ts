/** Certificates of random policies, made by the engine and given an example, without which the checker refuses any. */
import fc from "fast-check";
import { certificateOf } from "../../../src/proof/prove/certificate.ts";
import { type Checked, checkCertificate } from "../../../src/proof/check/check.ts";
import { type Json, textOf } from "../../../src/proof/check/json.ts";
import type { Explored } from "../../../src/proof/prove/fixpoint.ts";
import { type Subject, candidates } from "../../../src/proof/prove/subject.ts";
import { tableEntry } from "../../../src/proof/prove/table.ts";
import { sha256 } from "../../../src/app/policy/policy-source.ts";
import { documents, hazardId, subjectOf } from "./random-policy.ts";

export type Members = { [key: string]: Json };
type Document = Parameters<typeof subjectOf>[0];
export type Case = { readonly document: Document; readonly tools: readonly string[]; readonly subject: Subject };

/** The policy as a certificate has it, with an example of something allowed. */
export function policyOf(subject: Subject): Members {
  // A copy through text: whatever is done to it, the subject stays.
  const policy = JSON.parse(JSON.stringify(subject.policy.policy)) as Members;
  policy["expect"] = [{ trace: [], verdict: "allow" }];
  return policy;
}
export const digestOf = (policy: Json): string => sha256(textOf(policy));

export function tableOf(subject: Subject): readonly Json[] {
  // Contracts as JSON are JSON.
  return subject.contracts.map((contract) => tableEntry(subject.policy.ir, contract)) as unknown as readonly Json[];
}

/** What the engine would hand out for `subject` had it explored `explored`. */
export function certified(subject: Subject, core: readonly string[], explored: Explored): Members | undefined {
  const expect = [{ verdict: "allow", holds: true }];
  const made = certificateOf({ subject, hazard: hazardId, core, explored, manifests: {}, expect });
  if (made === undefined) return undefined;
  const policy = policyOf(subject);
  return { ...(JSON.parse(JSON.stringify(made)) as Members), policy, digest: digestOf(policy) };
}

/** The check of a gateway that has the policy and the tools of this subject. */
export function checkedFor(subject: Subject, certificate: unknown): Checked {
  return checkCertificate(certificate, {
    hash: sha256,
    policyDigest: digestOf(policyOf(subject)),
    tools: tableOf(subject),
    manifests: {},
  });
}

export const isVacuous = (checked: Checked): boolean => !checked.ok && checked.reason.endsWith("the proof is vacuous");

/** All ids that a core of the hazard may have. */
export function wholeCore({ policy: { ir } }: Subject): readonly string[] {
  const hazard = ir.hazards.find(({ id }) => id === hazardId);
  return hazard === undefined ? [] : candidates(ir, hazard);
}

/** The case of a seed: the same today and tomorrow. Undefined where the document is no policy. */
export function caseOf(seed: number): Case | undefined {
  const [drawn] = fc.sample(documents, { seed, numRuns: 1 });
  const subject = drawn === undefined ? undefined : subjectOf(drawn.document, drawn.tools);
  return drawn === undefined || subject === undefined ? undefined : { ...drawn, subject };
}

/** Numbers that follow from a seed alone. */
export function dice(seed: number): (sides: number) => number {
  let state = seed >>> 0;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}
