/** The detectors of lists, asked about the answer of a call. */
import { findingsInText, verdictOf } from "../../mechanisms/pin/detect.ts";
import { formRules } from "../../mechanisms/pin/rules.ts";
import type { Orders } from "../../mechanisms/probe/judge.ts";

const forms: ReadonlySet<string> = new Set(formRules.map(({ id }) => id));

/** Orders to a model in the answer of a tool; certain where two families of rules find some. */
export function ordersIn(text: string, tool: string): Orders | undefined {
  // Comments and hidden characters are in many a page or file that a tool reads; words that give orders are not.
  const found = findingsInText(text, { siblings: [tool], foreign: [] }).filter(({ rule }) => !forms.has(rule));
  const [first] = found;
  if (first === undefined) return undefined;
  return { certain: verdictOf(found) === "deny", rule: first.rule, excerpt: first.excerpt };
}
