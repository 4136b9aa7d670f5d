/**
 * What a document takes from those that it extends: a rule or hazard of the same id is replaced, which is meant to be
 * possible and easily done by accident. Whoever does it is told, and warned where less is stopped than before.
 */
import type { Problem } from "../diagnostic.ts";
import { information, quoted, warning } from "../diagnostic.ts";
import type { HazardText, PolicyDocument, RuleText } from "../document.ts";

export function replaced(base: PolicyDocument, next: PolicyDocument): readonly Problem[] {
  const rules = new Map((base.rules ?? []).map((rule) => [rule.id, rule]));
  const ofRules = (next.rules ?? []).flatMap((rule, index) => {
    const before = rules.get(rule.id);
    return before === undefined ? [] : [said(["rules", index, "id"], "rule", rule.id, isLooser(before, rule))];
  });
  const ofHazards = Object.entries(next.hazards ?? {}).flatMap(([id, hazard]) => {
    const before = Object.hasOwn(base.hazards ?? {}, id) ? base.hazards?.[id] : undefined;
    return before === undefined ? [] : [said(["hazards", id], "hazard", id, isMilder(before, hazard))];
  });
  return [...ofRules, ...ofHazards];
}

function said(path: Problem["path"], what: string, id: string, looser: boolean): Problem {
  const message = `the ${what} ${quoted(id)} takes the place of one that is extended`;
  const remedy = "rename it to have both, or leave it so";
  return looser
    ? warning("REPLACES", path, `${message}, and stops less than it`, remedy)
    : information("REPLACES", path, message, remedy);
}

/**
 * How much an enforced rule stops. An allow rule takes a question away; what a must rule asks for has to happen, where a
 * question may be answered.
 */
const strength: { readonly [tier in RuleText["tier"]]: number } = { allow: -1, confirm: 1, must: 2, block: 3 };

function isLooser(before: RuleText, after: RuleText): boolean {
  return strengthOf(after) < strengthOf(before);
}

/** What only observes stops nothing, and takes no question away either. */
function strengthOf({ tier, mode }: RuleText): number {
  return mode === "observe" ? 0 : strength[tier];
}

function isMilder(before: HazardText, after: HazardText): boolean {
  return weightOf(after) < weightOf(before);
}

function weightOf({ consent, mode }: HazardText): number {
  if (mode === "observe") return 0;
  return consent === "may" ? 1 : 2;
}
