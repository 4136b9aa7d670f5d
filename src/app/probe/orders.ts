/** The detectors of lists, asked about the answer of a call and about tools that are listed later. */
import type { JsonObject } from "../../core/json.ts";
import { findingsIn, findingsInText, verdictOf } from "../../mechanisms/pin/detect.ts";
import { type Finding, formRules } from "../../mechanisms/pin/rules.ts";
import { visible } from "../../mechanisms/pin/sentences.ts";
import type { Orders } from "../../mechanisms/probe/judge.ts";

const forms: ReadonlySet<string> = new Set(formRules.map(({ id }) => id));

/** Orders to a model in the answer of a tool; certain where two families of rules find some. */
export function ordersIn(text: string, tool: string): Orders | undefined {
  // Comments and hidden characters are in many a page or file that a tool reads; words that give orders are not.
  const neighbours = { siblings: [tool], foreign: [] };
  return ordersOf(findingsInText(readablePart(text).text, neighbours).filter(({ rule }) => !forms.has(rule)));
}

/** Orders in an entry of a list, judged as lists are judged before they are shown. */
export function ordersInEntry(entry: JsonObject, siblings: readonly string[]): Orders | undefined {
  return ordersOf(findingsIn(entry, { siblings, foreign: [] }));
}

function ordersOf(found: readonly Finding[]): Orders | undefined {
  const [first] = found;
  if (first === undefined) return undefined;
  return { certain: verdictOf(found) === "deny", rule: first.rule, excerpt: first.excerpt };
}

/** Characters of an answer that are read, from its beginning and from its end. */
const headMax = 49_152;
const tailMax = 16_384;

/**
 * The part of an answer that is searched. Runs of white space and of characters that show nothing are made short first:
 * they cost a reader nothing, and 100,000 line breaks would push an order out of any bound. `whole`: nothing was left out.
 */
export function readablePart(answer: string): { readonly text: string; readonly whole: boolean } {
  const text = visible(answer).replace(/\s{3,}/g, (run) => (run.includes("\n") ? "\n\n" : "  "));
  if (text.length <= headMax + tailMax) return { text, whole: true };
  return { text: `${text.slice(0, headMax)}\n\n${text.slice(-tailMax)}`, whole: false };
}
