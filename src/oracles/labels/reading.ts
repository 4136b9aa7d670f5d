/**
 * What the texts and schemas of a tool suggest that it does: a proposal for an operator, never an authority. All of it was
 * written by the server, so a reading that relaxes anything has to be accepted first (lifecycle.md 1.7).
 */
import { argumentRoles } from "../../core/contract.ts";
import { covers, mayCover } from "../../core/effect.ts";
import { type Json, type JsonObject, isArray, stringMember } from "../../core/json.ts";
import { effectsForm } from "../../policy/document/label-forms.ts";
import type { FlagText, ToolLabelsText } from "../../policy/document/shapes-labels.ts";
import { toolDeeds } from "./deeds.ts";
import { type ArgumentReading, readArguments } from "./roles.ts";
import { readTo } from "./siblings.ts";
import type { ReadingContext, Sign } from "./sign.ts";
import { signsOf } from "./signs.ts";

/** One statement about a tool, with its evidence. */
export type ReadingFact = {
  /** `effects`, `flags`, `args/NAME/role`, `output/confidentiality` or `output/trust`. */
  readonly about: string;
  /** In the words of an entry of `labels:`. */
  readonly value: Json;
  /** `declared`: the server says so in a form that is made for it. `inferred`: names, texts and schemas suggest it. */
  readonly source: "declared" | "inferred";
  /** That the fact is true, from 0 to 1. */
  readonly probability: number;
  /** Parts of a sentence, strongest evidence first. They quote names of the tool: escape them before they are shown. */
  readonly because: readonly string[];
};

/** How a card groups tools. */
export const readingGroups = ["reads", "writes inside", "acts outside", "runs code or unknown"] as const;
export type ReadingGroup = (typeof readingGroups)[number];

/** A fact below the threshold: what it is about, and why it is not certain. */
export type ReadingDoubt = { readonly about: string; readonly probability: number; readonly why: string };

export type ToolReading = {
  readonly server: string;
  readonly tool: string;
  readonly facts: readonly ReadingFact[];
  /**
   * An entry of `labels:` that is complete but for effects in doubt, which it leaves out: a fact below `readingThreshold` stands at
   * its restrictive end, a role as `unsure` and flags as all of them.
   */
  readonly label: ToolLabelsText;
  readonly doubts: readonly ReadingDoubt[];
  /** By the facts above the threshold; a tool whose effects are in doubt is `runs code or unknown`. */
  readonly group: ReadingGroup;
};

/** Facts below this probability count as the worst that they could be; effects stay unknown. */
export const readingThreshold = 0.9;

/** A reading of each tool of a server, in the order of its list; behind `listWorkMax` all of a tool is in doubt. */
export function readTools(context: ReadingContext): readonly ToolReading[] {
  const end = readTo(context.tools);
  return context.tools.map((tool, place) => (place < end ? readTool(tool, context) : unread(tool, context)));
}

function unread(tool: JsonObject, { server }: ReadingContext): ToolReading {
  const because = ["the list is too long to be read to its end"];
  const fact: ReadingFact = { about: "effects", value: [], source: "inferred", probability: 0, because };
  const doubts = [{ about: "effects", probability: 0, why: because.join() }];
  const group = "runs code or unknown";
  return { server, tool: stringMember(tool, "name") ?? "", facts: [fact], label: {}, doubts, group };
}

export function readTool(tool: JsonObject, context: ReadingContext): ToolReading {
  const signs = signsOf(tool, context);
  const effects = effectsFact(signs);
  const args = readArguments(tool, context);
  const facts: readonly ReadingFact[] = [
    effects,
    flagsFact(effects, signs),
    ...[...args].map(([name, reading]) => argumentFact(name, reading)),
    trustFact,
  ];
  const certain = facts.filter(({ probability }) => probability >= readingThreshold);
  const label = labelOf(facts.flatMap((fact) => (certain.includes(fact) ? [fact] : restrictive(fact))));
  return {
    server: context.server,
    tool: stringMember(tool, "name") ?? "",
    facts,
    label,
    doubts: facts.filter((fact) => !certain.includes(fact)).map(doubtOf),
    group: groupOf(label, facts),
  };
}

function effectsFact(signs: readonly Sign[]): ReadingFact {
  const { effects, probability, because } = toolDeeds(signs);
  return { about: "effects", value: effects, source: "inferred", probability, because };
}

function flagsFact(effects: ReadingFact, signs: readonly Sign[]): ReadingFact {
  const list = wordsIn(effects.value);
  const hinted = signs.some(({ id }) => id === "destructiveHint=true" || id === "text:irreversible");
  const lasting = list.some((effect) => /\.(delete|pay|send|publish|actuate)$/.test(effect));
  const flags: readonly FlagText[] = [
    ...(hinted || lasting ? (["irreversible"] as const) : []),
    ...(list.some((effect) => effect.includes(".external")) ? (["open_world"] as const) : []),
  ];
  return { ...effects, about: "flags", value: flags };
}

function argumentFact(name: string, { role, probability, because }: ArgumentReading): ReadingFact {
  return { about: `args/${name}/role`, value: role, source: "inferred", probability, because };
}

/** What a tool returns is text of others until an operator says more. */
const trustFact: ReadingFact = {
  about: "output/trust",
  value: "untrusted",
  source: "inferred",
  probability: 1,
  because: ["nothing vouches for what it returns"],
};

function doubtOf({ about, value, probability, because }: ReadingFact): ReadingDoubt {
  const says =
    because.length === 0
      ? "nothing says what it is"
      : `${because.slice(0, 3).join(", ")} suggest ${JSON.stringify(value)}`;
  return { about, probability, why: says };
}

/** A fact in doubt at its restrictive end. There is none for effects but everything, which is a tool without labels. */
function restrictive(fact: ReadingFact): readonly ReadingFact[] {
  if (fact.about === "effects") return [];
  return [{ ...fact, value: fact.about === "flags" ? flagWords : "unsure" }];
}

const flagWords: readonly FlagText[] = ["irreversible", "open_world"];

/** An entry of `labels:` of what is certain alone, for readers of labels who take what is left out for unknown. */
export function certainLabel({ facts }: Pick<ToolReading, "facts">): ToolLabelsText {
  return labelOf(facts.filter(({ probability }) => probability >= readingThreshold));
}

/** An entry of `labels:` of some facts; each is taken at its word, whatever its probability. */
export function labelOf(facts: readonly ReadingFact[]): ToolLabelsText {
  const valueOf = (about: string): Json | undefined => facts.find((fact) => fact.about === about)?.value;
  const effects = wordsIn(valueOf("effects"));
  const flags = wordsIn(valueOf("flags")).filter(
    (flag): flag is FlagText => flag === "irreversible" || flag === "open_world",
  );
  const args = facts.flatMap(({ about, value }) => {
    const name = /^args\/(.*)\/role$/s.exec(about)?.[1];
    const role = argumentRoles.find((one) => one === value);
    return name === undefined || role === undefined ? [] : [[name, role] as const];
  });
  const trust = valueOf("output/trust");
  return {
    ...(effects.length === 0 ? {} : { effects: effects.length === 1 ? effects : { must: [], may: effects } }),
    ...(flags.length === 0 ? {} : { flags }),
    ...(args.length === 0 ? {} : { args: Object.fromEntries(args) }),
    ...(typeof trust === "string" ? { output: { trust } } : {}),
  };
}

function wordsIn(value: Json | undefined): string[] {
  return isArray(value) ? value.filter((word) => typeof word === "string") : [];
}

/** A read of an address that the agent chooses sends what the address holds (policy.md 2), so it acts outside. */
function groupOf({ effects, args = {} }: ToolLabelsText, facts: readonly ReadingFact[]): ReadingGroup {
  if (effects === undefined) return "runs code or unknown";
  const { may } = effectsForm(effects);
  if (mayCover("execute", may)) return "runs code or unknown";
  // Also where the role is in doubt: what may be an address is no part of a plain read.
  const addressed =
    Object.values(args).includes("recipient") ||
    facts.some(({ about, value }) => about.startsWith("args/") && value === "destination");
  if (addressed) return "acts outside";
  if (may.every((effect) => covers("read", effect))) return "reads";
  return mayCover("write.external", may) ? "acts outside" : "writes inside";
}
