/** Findings of a scan, whatever found them: detectors in text, or probes. */
import { familyTexts, ruleTexts } from "../../mechanisms/pin/rule-texts.ts";
import type { Finding } from "../../mechanisms/pin/rules.ts";
import { objectionTexts } from "../../mechanisms/probe/judge.ts";

/** A finding of the detectors, or an objection of the probes with its sentence as the excerpt. */
export type ReportedFinding = Omit<Finding, "rule" | "family"> & {
  readonly rule: string;
  readonly family: string;
  readonly fingerprint: string;
};

/** Family of everything that probes find. */
export const probeFamily = "probe";

const probeAdvice = "Found by calling it with made-up data in a projection that nothing leaves.";

const words = new Map<string, string>(ruleTexts);

const families = new Map<string, string>(Object.entries(familyTexts));

const probeTexts = new Map<string, string>(
  Object.entries(objectionTexts).map(([code, text]) => [`${probeFamily}.${code}`, text]),
);

/** What a rule finds, as a phrase. */
export function textOfRule(rule: string): string {
  return words.get(rule) ?? probeTexts.get(rule) ?? rule;
}

/** Why a family of rules matters. */
export function textOfFamily(family: string): string {
  return family === probeFamily ? probeAdvice : (families.get(family) ?? family);
}

/** Every rule with its phrase and why it matters, for a report that lists rules. */
export function allRules(): readonly { readonly id: string; readonly finds: string; readonly matters: string }[] {
  const texts = [...ruleTexts].map(([id, finds]) => ({
    id,
    finds,
    matters: textOfFamily(id.slice(0, id.indexOf("."))),
  }));
  return [...texts, ...[...probeTexts].map(([id, finds]) => ({ id, finds, matters: probeAdvice }))];
}
