/**
 * The admission card of a server: what it is, what each of its tools seems to do, and what is not known (lifecycle.md
 * 1.7). Made from facts alone, so that a terminal, a form and a console show the same. Accepting it decides effects, flags
 * and roles of arguments of the tools that are ready; it is no consent to any call.
 */
import type { LabelSource } from "../../core/contract.ts";
import type { JsonObject } from "../../core/json.ts";
import { type ToolLabelsText, namePattern } from "../../policy/document/shapes-labels.ts";
import { effectsForm } from "../../policy/document/label-forms.ts";
import {
  type ReadingDoubt,
  type ReadingGroup,
  type ToolReading,
  labelOf,
  readingGroups,
} from "../../oracles/labels/reading.ts";
import type { ServerAnswer } from "./card-answers.ts";
import type { CardNetwork } from "./card-hosts.ts";
import type { EntryChangeKind } from "./entry-change.ts";
import type { ServerFacts } from "./server-facts.ts";
import { type CardTrial, isOpenAgainst } from "./trials/trial-desk.ts";

/** NEW before an answer; PROBATION while something is open; TRUSTED when all is accepted; FLAGGED on evidence against it. */
export type TrustState = "new" | "probation" | "trusted" | "flagged" | "quarantined";

/** A tool as it is listed now, with what is believed and what is proposed. */
export type SeenTool = {
  readonly name: string;
  /** SHA-256 of the whole entry. */
  readonly digest: string;
  readonly entry: JsonObject;
  /** Where its label in force comes from. */
  readonly source: LabelSource;
  readonly reading: ToolReading;
  /** Phrases of the detectors, empty where they find nothing. */
  readonly findings: readonly string[];
  /** What changed since the entry that was accepted; undefined where nothing did, or nothing was. */
  readonly change: { readonly kind: EntryChangeKind; readonly lines: readonly string[] } | undefined;
};

export type CardFacts = {
  readonly server: string;
  readonly facts: ServerFacts | undefined;
  /** Other commands or addresses that were used under its name: what is accepted of it counts for each of them. */
  readonly earlier: readonly string[];
  /** What the server calls itself: its own words. */
  readonly declared: { readonly name: string; readonly version: string } | undefined;
  /** What an answer is bound to. */
  readonly digest: string;
  /** Whether it listed its tools since the gateway started; of one that did not, only what is on record is known. */
  readonly listed: boolean;
  readonly tools: readonly SeenTool[];
  /** `wanted`: hosts that it tried to reach and that are closed to it. */
  readonly isolation:
    | { readonly tier: string; readonly missing: readonly string[]; readonly wanted?: readonly string[] }
    | undefined;
  /** It runs without a way out, so calls of it pass that nothing is accepted of. */
  readonly enclosed?: boolean;
  /** What decides the hosts that it reaches: this card, or the policy with its packs. */
  readonly network: CardNetwork;
  /** The scope that the policy gives it, as sentences. */
  readonly scope: readonly string[];
  readonly packs: readonly string[];
  /** What trials of it found; undefined where none was made. */
  readonly probe: CardTrial | undefined;
  readonly answer: ServerAnswer | undefined;
  /** Last day of the readings that are in force. */
  readonly until: string | undefined;
};

/**
 * `labelled`: policy or pack decide. `accepted`: a card did. `ready`: one key accepts it, with what else is in doubt at its worst.
 * `doubtful`: what it does is in doubt, or there is something against it: to be reviewed.
 */
export type ToolStanding = "labelled" | "accepted" | "ready" | "doubtful";

export type CardTool = SeenTool & { readonly standing: ToolStanding; readonly doubts: readonly ReadingDoubt[] };

export type Card = Omit<CardFacts, "tools"> & {
  readonly state: TrustState;
  readonly groups: readonly { readonly group: ReadingGroup; readonly tools: readonly CardTool[] }[];
  /** What results count as, once their tool is accepted: a sentence, and the label that it stands for. */
  readonly results: { readonly words: string; readonly label: { readonly confidentiality: string } };
  /** What was not read or run. */
  readonly coverage: readonly string[];
};

export function makeCard(given: CardFacts): Card {
  const names = given.tools.map(({ name }) => name);
  const twice = new Set(names.filter((name, place) => names.indexOf(name) !== place));
  const tools = given.tools.map((tool) => standingOf(tool, twice.has(tool.name)));
  const groups = readingGroups.map((group) => ({ group, tools: tools.filter((tool) => tool.reading.group === group) }));
  return { ...given, state: stateOf(given, tools), groups, results: resultsOf(given), coverage: coverageOf(given) };
}

export function toolsOf({ groups }: Pick<Card, "groups">): readonly CardTool[] {
  return groups.flatMap(({ tools }) => tools);
}

/** Tools that wait for an answer. */
export function openTools(card: Pick<Card, "groups">): readonly CardTool[] {
  return toolsOf(card).filter(({ standing }) => standing === "ready" || standing === "doubtful");
}

const usableName = new RegExp(namePattern, "u");

function standingOf(tool: SeenTool, isTwice: boolean): CardTool {
  const { source, reading, findings, name } = tool;
  const doubts: ReadingDoubt[] = [...reading.doubts];
  if (reading.label.effects === undefined && doubts.every(({ about }) => about !== "effects")) {
    doubts.push({ about: "effects", probability: 0, why: "nothing says what it does" });
  }
  // A call names a tool, and the server alone knows which of the two it means.
  if (isTwice) doubts.push({ about: "name", probability: 0, why: "the server lists two tools of this name" });
  for (const finding of findings) doubts.push({ about: "text", probability: 0, why: finding });
  // An argument whose name begins like a place inside one has no label of its own.
  const isOdd = Object.keys(labelOf(reading.facts).args ?? {}).some((one) => one.startsWith("/"));
  if (!usableName.test(name) || isOdd)
    doubts.push({ about: "name", probability: 0, why: "its name cannot be written in a policy" });
  if (source === "card") return { ...tool, doubts, standing: "accepted" };
  if (source === "operator" || source === "pack") return { ...tool, doubts, standing: "labelled" };
  return { ...tool, doubts, standing: doubts.some(isOpening) ? "doubtful" : "ready" };
}

/** A doubt that no restrictive end settles; each other one is about a fact that counts as its worst until it is reviewed. */
function isOpening({ about }: ReadingDoubt): boolean {
  return about === "effects" || about === "name" || about === "text";
}

/** Tools that a review asks about: those that one key does not accept, then those accepted with a fact at its worst. */
export function reviewedTools(card: Pick<Card, "groups">): readonly CardTool[] {
  const open = openTools(card).filter(({ doubts }) => doubts.length > 0);
  const doubtful = open.filter(({ standing }) => standing === "doubtful");
  return [...doubtful, ...open.filter((tool) => !doubtful.includes(tool))];
}

/** What counts as the worst that it could be, as phrases in the order of the tool; empty for a tool that stays open. */
export function worstOf({ standing, doubts }: Pick<CardTool, "standing" | "doubts">): readonly ReadingDoubt[] {
  return standing === "ready" ? doubts : [];
}

function stateOf({ answer, probe }: CardFacts, tools: readonly CardTool[]): TrustState {
  if (answer?.answer === "refused") return "quarantined";
  const trial = isOpenAgainst(probe, answer?.at);
  if (answer?.flagged !== undefined || trial === "rejected") return "flagged";
  const open = tools.filter(({ standing }) => standing === "ready" || standing === "doubtful");
  const known = tools.length > open.length;
  if (trial === "suspect") return "probation";
  if (answer === undefined && !known) return "new";
  return open.length === 0 && tools.length > 0 ? "trusted" : "probation";
}

/**
 * Proposed as the operator's own word: private without categories. Whatever an account shows is its users', and what a
 * program of this machine reads is its user's.
 */
function resultsOf({ facts }: CardFacts): Card["results"] {
  const account = (facts?.account ?? []).slice(0, 3).join(", ");
  const whose = account === "" ? "private to you" : `private to the users of its account (${account})`;
  return {
    label: { confidentiality: "private" },
    words: `What its tools return counts as ${whose} and as holding no passwords or keys: it is text of others that is not obeyed, and goes nowhere outside without a question.`,
  };
}

function coverageOf({ probe, facts, tools, isolation, scope, listed }: CardFacts): readonly string[] {
  if (!listed) return ["It has not listed its tools since the gateway started: start its client to see them."];
  return [
    ...(probe?.now === undefined ? ["No tool was run: all of this is what names, texts and schemas say."] : []),
    ...(probe?.gaps ?? []),
    ...(facts?.transport === "stdio"
      ? ["The program itself was not read."]
      : ["The program runs elsewhere and cannot be looked at."]),
    ...(facts?.package !== undefined && facts.package.version === undefined
      ? ["The version is not pinned: another one may start the next time."]
      : []),
    ...(facts?.transport !== "http" && (isolation === undefined ? scope.length === 0 : isolation.tier === "none")
      ? ["It runs without isolation: what it does beside its answers is not seen."]
      : []),
    ...(tools.length === 0 ? ["It lists no tools, so there is nothing to accept."] : []),
  ];
}

/** The label that is accepted of a tool; `whole` takes doubtful facts at their word, as an operator who reviewed them does. */
export function acceptedLabel(
  { reading }: SeenTool,
  { results }: Pick<Card, "results">,
  whole: boolean,
): ToolLabelsText {
  const label = whole ? labelOf(reading.facts) : reading.label;
  return { ...label, output: { confidentiality: results.label.confidentiality } };
}

/** Effects as a card shows them: the most that it may do. */
export function effectsOf({ reading }: SeenTool): readonly string[] {
  const fact = reading.facts.find(({ about }) => about === "effects");
  const { effects } = reading.label;
  if (effects !== undefined) return effectsForm(effects).may;
  return Array.isArray(fact?.value) ? fact.value.filter((one) => typeof one === "string") : [];
}
