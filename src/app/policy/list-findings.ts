/** The detectors as a gateway asks them. */
import type { JsonObject } from "../../core/json.ts";
import type { EntryFindings } from "../../gateway/ports/policy.ts";
import { findingsIn, verdictOf } from "../../mechanisms/pin/detect.ts";
import { ruleTexts } from "../../mechanisms/pin/rule-texts.ts";

export function findingsOf(entry: JsonObject, siblings: readonly string[]): EntryFindings {
  const found = findingsIn(entry, { siblings, foreign: [] });
  const findings = found.map(({ rule, pointer, excerpt }) => {
    return { rule, finds: ruleTexts.get(rule) ?? rule, pointer, excerpt };
  });
  return { verdict: verdictOf(found), findings };
}
