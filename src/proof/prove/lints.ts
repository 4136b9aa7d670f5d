/**
 * Lints of rules by exploration: rules that never apply, rules that others make redundant, and rules that require a call
 * that can never be made. Each is a question like a hazard: "a call that this pattern matches goes ahead", with and without
 * rules.
 */
import type { CanonicalPolicy } from "../../policy/canonical/policy-document.ts";
import type { HazardForm, PatternForm, RuleForm } from "../../policy/document/long-form.ts";
import type { HazardProof } from "./prove.ts";
import type { Subject } from "./subject.ts";

export type ProofLint = {
  readonly code: "dead" | "shadowed" | "unreachable-question" | "locked" | "unlabelled";
  /** `rule ID` or `tool SERVER.TOOL`. */
  readonly about: string;
  /** Id of the rule, if the question is about a rule. */
  readonly rule?: string;
  readonly message: string;
};

/** A question for the prover, and the lint that its answer gives. */
export type LintQuestion = {
  readonly rule: string;
  readonly hazard: HazardForm;
  /** Rules of the policy in the core of the question: all, or all but the rule itself. */
  readonly without?: string;
  readonly lint: (proof: HazardProof) => ProofLint | undefined;
};

export function lintQuestions({ rules }: CanonicalPolicy): readonly LintQuestion[] {
  return rules.flatMap((rule) => (rule.mode === "observe" ? [] : [...speaking(rule), ...meeting(rule)]));
}

/** Refused by rules for certain, whatever the answer to a question. */
function refused({ verdict, enforcedBy, givenConsent }: HazardProof): boolean {
  return verdict === "proved" && enforcedBy === "rules" && givenConsent === true;
}

function ask(call: PatternForm): HazardForm {
  return { loss: "", consent: "never", mode: "enforce", why: "", never: { call } };
}

/** Plain rules that stop calls: dead if no call matches, shadowed if other rules stop every matching call. */
function speaking(rule: RuleForm): readonly LintQuestion[] {
  const { id, when, predicate, tier } = rule;
  if (when === undefined || predicate !== undefined || tier === "allow") return [];
  const lint = (proof: HazardProof): ProofLint | undefined => {
    const never = proof.verdict === "vacuous" || proof.without.verdict === "proved";
    if (never) return { code: "dead", about: `rule ${id}`, rule: id, message: "no call that can be made matches it" };
    if (!refused(proof) || proof.core === undefined) return undefined;
    const by = proof.core.join(", ");
    return tier === "confirm"
      ? {
          code: "unreachable-question",
          about: `rule ${id}`,
          rule: id,
          message: `it never comes to its question: ${by} refuses first`,
        }
      : { code: "shadowed", about: `rule ${id}`, rule: id, message: `it says nothing that ${by} does not say` };
  };
  return [{ rule: id, hazard: ask(when), without: id, lint }];
}

/** Rules that demand a call: locked if that call can never be made. */
function meeting(rule: RuleForm): readonly LintQuestion[] {
  const needed = rule.gate?.need ?? rule.immediately?.need ?? rule.owed?.owe ?? rule.byEnd?.by;
  if (needed === undefined) return [];
  const lint = (proof: HazardProof): ProofLint | undefined => {
    const absent = proof.verdict === "vacuous";
    if (!absent && !refused(proof)) return undefined;
    const why = absent
      ? "no known tool offers it"
      : proof.without.verdict === "proved"
        ? "no call that can be made matches it"
        : `it is always refused (${proof.core?.join(", ") ?? ""})`;
    const what = rule.owed === undefined ? "what it waits for never comes" : "its debt can never be met";
    return { code: "locked", about: `rule ${rule.id}`, rule: rule.id, message: `${what}: ${why}` };
  };
  return [{ rule: rule.id, hazard: ask(needed), lint }];
}

/** Unlabelled tools: they may have any effect, and their calls ask. */
export function unlabelledLints({ contracts }: Subject): readonly ProofLint[] {
  return contracts
    .filter(({ source, toolDigest }) => toolDigest !== undefined && (source === "unknown" || source === "inference"))
    .map(({ server, tool }) => ({
      code: "unlabelled",
      about: `tool ${server}.${tool}`,
      message: "it is unlabelled, so it may have any effect",
    }));
}
