/** The results of `proof verify --json` for each property, read again from an untrusted file. */
import { type Result, err, ok } from "../../core/result.ts";
import { type Json, isArray, isObject, member, stringMember } from "../../core/json.ts";
import { proofPropertiesMax } from "./document.ts";

export type ProofResult = {
  readonly id: string;
  readonly verdict: string;
  readonly proved: boolean;
  /** The proof relies on the answer of an approver. */
  readonly byConsent: boolean;
  /** Rules alone do not prevent the hazard; regulation, which refuses in time, does. */
  readonly byRegulation: boolean;
  /** The hazard cannot happen even without any rule; such a proof says nothing of the policy. */
  readonly withoutRules: boolean;
};

export type ProofResults = ReadonlyMap<string, ProofResult>;

/** Reads the report; the error names its fault. */
export function proofResults(report: Json): Result<ProofResults, string> {
  const properties = member(report, "properties");
  if (!isArray(properties)) return err("it has no list `properties`");
  if (properties.length > proofPropertiesMax) return err(`it has more than ${proofPropertiesMax} properties`);
  const found = new Map<string, ProofResult>();
  for (const property of properties) {
    const id = stringMember(property, "id");
    const verdict = wordOf(member(property, "verdict"));
    if (id === undefined || verdict === "") return err("a property has no `id` or no `verdict`");
    found.set(id, {
      id,
      verdict,
      proved: isProof(verdict),
      byConsent: stringMember(property, "enforcedBy") === "consent" || verdict.includes("consent"),
      byRegulation: !isProof(verdict) && stringMember(property, "enforcedBy") === "regulation",
      withoutRules: isProof(wordOf(member(property, "without"))),
    });
  }
  return ok(found);
}

/** A verdict is a word, or a map that has it. */
function wordOf(value: Json | undefined): string {
  if (typeof value === "string") return value;
  return isObject(value) ? (stringMember(value, "verdict") ?? stringMember(value, "kind") ?? "") : "";
}

/** `proved` and `proved given consent` (formal.md 4.4), however the words are joined. Nothing else is a proof. */
function isProof(verdict: string): boolean {
  return /^proved([ -]given[ -]consent)?$/.test(verdict);
}

/** Whether a proof meets the demand of the hazard: `consent: never` needs a proof without consent. */
export function satisfies(found: ProofResult | undefined, consent: "never" | "may"): boolean {
  return found?.proved === true && (consent === "may" || !found.byConsent);
}

/** Whether the hazard is kept from happening: by a proof, or by regulation, which plays the same game at run time. */
export function held(found: ProofResult | undefined, consent: "never" | "may"): boolean {
  return found?.byRegulation === true || satisfies(found, consent);
}

/** The proof in a few words. */
export function proofWords({ verdict, proved, byConsent, byRegulation, withoutRules }: ProofResult): string {
  if (byRegulation) return "prevented by regulation";
  if (!proved) return verdict;
  return withoutRules ? "proved, even without rules" : byConsent ? "proved, where the user is asked" : "proved";
}
