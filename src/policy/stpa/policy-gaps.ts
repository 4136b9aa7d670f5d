/** Where a policy and its STPA document have come apart: ids, properties, tiers and proofs. */
import canonicalize from "canonicalize";
import { canonicalPolicy } from "../canonical/canonical.ts";
import type { CanonicalPolicy } from "../canonical/policy-document.ts";
import type { CompiledPolicy } from "../compile/compile.ts";
import { type Problem, quoted } from "../document/diagnostic.ts";
import { suggestion } from "../document/nearest.ts";
import type { StpaDocument } from "./document.ts";
import { type FormalPart, formalParts, formalSections } from "./formal.ts";
import { gap } from "./gaps.ts";
import { entriesOf, many } from "./names.ts";
import { type ProofResults, held } from "./proof-results.ts";

/** Gaps with their place in the policy, and gaps with their place in the document. */
export type PolicyGaps = { readonly inPolicy: readonly Problem[]; readonly inDocument: readonly Problem[] };

/**
 * Compares a policy with the document that its ids refer to. `own` says whether a hazard or rule was written by the
 * author of the policy: the built-in default serves losses of its own, of which no document can know.
 */
export function policyGaps(
  document: StpaDocument,
  policy: CompiledPolicy,
  own: (section: "hazards" | "rules", id: string) => boolean,
): PolicyGaps {
  const { hazards, rules } = policy.policy;
  const parts = formalParts(document);
  const known = new Set([...entriesOf(document).map(({ id }) => id), ...parts.map(({ id }) => id)]);
  const inPolicy: Problem[] = [];
  for (const [id, hazard] of Object.entries(hazards)) {
    if (own("hazards", id)) inPolicy.push(...servedBy(id, hazard, { document, parts }));
  }
  for (const { id, serves } of rules) {
    if (!own("rules", id)) continue;
    const unknown = serves.filter((name) => !known.has(name) && !Object.hasOwn(hazards, name));
    for (const name of unknown) {
      const message = `rule ${quoted(id)} serves ${quoted(name)}, which the STPA document does not know`;
      const remedy = suggestion(name, Object.keys(document.requirements ?? {}));
      inPolicy.push(gap("SG-STPA-SERVES", ["rules", id, "serves"], message, remedy));
    }
  }
  const inDocument = [...missing(document, policy.policy, parts), ...otherTiers(document, policy.policy)];
  return { inPolicy, inDocument };
}

type Analysis = { readonly document: StpaDocument; readonly parts: readonly FormalPart[] };

function servedBy(
  id: string,
  hazard: CanonicalPolicy["hazards"][string],
  { document, parts }: Analysis,
): readonly Problem[] {
  const legal = [...Object.keys(document.losses), ...Object.keys(document.hazards)];
  const path = ["hazards", id];
  if (hazard.loss !== "" && !legal.includes(hazard.loss)) {
    const message = `hazard ${quoted(id)} names the loss ${quoted(hazard.loss)}, which the STPA document does not know`;
    return [gap("SG-STPA-SERVES", [...path, "loss"], message, suggestion(hazard.loss, legal))];
  }
  const traced = hazard.loss !== "" || Object.hasOwn(document.hazards, id) || parts.some((part) => part.id === id);
  if (traced) return [];
  return [gap("SG-STPA-SERVES", path, `hazard ${quoted(id)} serves no loss`, "add `loss:`, or leave it out")];
}

/** Requirements of the document that the policy lacks or states otherwise. */
function missing(document: StpaDocument, policy: CanonicalPolicy, parts: readonly FormalPart[]): readonly Problem[] {
  // The document's properties in the long form, resolved against the labels of this very policy.
  const meant = canonicalPolicy({ ...policy, ...formalSections(parts) }, [], undefined).policy.hazards;
  const found: Problem[] = [];
  for (const part of parts) {
    if (part.kind !== "property") continue;
    const has = Object.hasOwn(policy.hazards, part.id) ? policy.hazards[part.id] : undefined;
    const wants = meant[part.id];
    if (has === undefined) {
      const message = `the policy has no hazard ${quoted(part.id)}, which requirement ${quoted(part.requirement)} is`;
      found.push(gap("SG-STPA-PROPERTY", part.path, message, "add it; `sluicegate stpa compile` writes it"));
    } else if (wants !== undefined && (!sameJson(has.never, wants.never) || has.consent !== wants.consent)) {
      const message = `the hazard ${quoted(part.id)} of the policy says something else than the STPA document`;
      found.push(gap("SG-STPA-PROPERTY", part.path, message, "make them the same"));
    }
  }
  const refined = new Set(Object.values(document.requirements ?? {}).flatMap(({ refines }) => many(refines)));
  for (const id of Object.keys(document.requirements ?? {})) {
    const byHazard = parts.some(
      (part) => part.requirement === id && part.kind === "property" && Object.hasOwn(policy.hazards, part.id),
    );
    if (byHazard || refined.has(id) || rulesServing(policy, id).length > 0) continue;
    const message = `no rule and no hazard of the policy serves requirement ${quoted(id)}`;
    found.push(gap("SG-STPA-UNSERVED", ["requirements", id], message, `add a rule with \`serves: ${id}\``));
  }
  return found;
}

export function rulesServing(policy: CanonicalPolicy, requirement: string): CanonicalPolicy["rules"] {
  return policy.rules.filter(({ serves }) => serves.includes(requirement));
}

/** The tier that was chosen with a reason must be the tier of some rule, or the reason is about nothing. */
function otherTiers(document: StpaDocument, policy: CanonicalPolicy): readonly Problem[] {
  return Object.entries(document.requirements ?? {}).flatMap(([id, { tier }]) => {
    const rules = rulesServing(policy, id);
    if (rules.length === 0 || rules.some((rule) => rule.tier === tier)) return [];
    const has = [...new Set(rules.map((rule) => rule.tier))].join(" and ");
    const message = `requirement ${quoted(id)} chose the tier \`${tier}\`, and its rules are \`${has}\``;
    return [gap("SG-STPA-TIER", ["requirements", id, "tier"], message, "change the rules, or choose again")];
  });
}

/** Properties that neither a proof nor regulation covers, placed in the policy. */
export function proofGaps(policy: CompiledPolicy, proofs: ProofResults): readonly Problem[] {
  return Object.entries(policy.policy.hazards).flatMap(([id, { consent }]) => {
    const found = proofs.get(id);
    if (held(found, consent)) return [];
    const path = ["hazards", id];
    if (found?.proved === true) {
      const message = `hazard ${quoted(id)} is prevented only by a question, and its consent is \`never\``;
      return [gap("SG-STPA-PROOF", path, message, "add a rule that refuses, or write `consent: may`")];
    }
    const said = found === undefined ? "the proof does not mention it" : `the proof says ${quoted(found.verdict)}`;
    const remedy = "add the missing rule, then repeat `sluicegate proof verify`";
    return [gap("SG-STPA-PROOF", path, `hazard ${quoted(id)} is not proved: ${said}`, remedy)];
  });
}

/** Names of arguments stand in the order in which they were written, so the texts are compared by RFC 8785. */
function sameJson(left: unknown, right: unknown): boolean {
  return canonicalize(left) === canonicalize(right);
}
