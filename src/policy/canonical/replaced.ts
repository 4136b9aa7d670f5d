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

/** A must rule is no looser than a question: what it asks for has to happen. */
const strength: { readonly [tier in RuleText["tier"]]: number } = { allow: 0, confirm: 1, must: 1, block: 2 };

function isLooser(before: RuleText, after: RuleText): boolean {
  return strength[after.tier] < strength[before.tier] || onlyObserves(before, after);
}

function isMilder(before: HazardText, after: HazardText): boolean {
  return ((before.consent ?? "never") === "never" && after.consent === "may") || onlyObserves(before, after);
}

function onlyObserves(before: { readonly mode?: string }, after: { readonly mode?: string }): boolean {
  return before.mode !== "observe" && after.mode === "observe";
}
