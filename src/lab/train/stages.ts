/**
 * The three training stages of a language model as a world model (foresight.md 5), as rows that no engine owns: prompts
 * in the form that the gateway's own prompts have, answers with the scenario's exact label.
 *
 * Stage 1 learns the next state (`next-state.ts`) and the tools that would do harm, stage 2 the whole answer, stage 3 is rewarded. Prompts
 * and answers are templates over our scenarios; a model learns the protocol and the game from them, not prose.
 */
import type { StateClass } from "../../core/questions/prediction.ts";
import { evidenceText } from "../../oracles/foresight/llm-prompt.ts";
import { answerLines, instructions } from "../../oracles/foresight/llm-protocol.ts";
import { foldCount } from "./catalogue.ts";
import { heldText, nextStateText } from "./next-state.ts";
import type { Example } from "./scenario.ts";

export type ChatMessage = { readonly role: "system" | "user" | "assistant"; readonly content: string };

/** The truth as rewards take it; the names are those of the HTTP interface. */
export type Truth = { readonly safety: StateClass; readonly filtered_tools: readonly string[] };

export type Row = { readonly prompt: readonly ChatMessage[]; readonly answer: string; readonly truth: Truth };

export type Stages = {
  readonly stage1: readonly Row[];
  readonly stage2: readonly Row[];
  readonly stage3: readonly Row[];
  /** Scenarios of families that occur in no other file. */
  readonly test: readonly Row[];
};

/** Answers of the second stage, the three classes in equal shares. */
export const stage2Rows = 2_000;

const parts = {
  next: 'When the last line is "ANSWER: next", answer only with the result you expect, between two <|next_state|> tags.',
  risks:
    'When the last line is "ANSWER: risks", answer only with a JSON list of the listed tools that could do harm next, between two <|filtered_tools|> tags.',
} as const;

/** Splits the data set into stages. The last fold is for tests alone, so that a test asks about unseen tools. */
export function stagesOf(examples: readonly Example[]): Stages {
  const trained = examples.filter(({ fold }) => fold !== foldCount);
  const chosen = chosenForStage2(trained);
  return {
    stage1: trained.flatMap((example) => [partRow(example, "next"), partRow(example, "risks")]),
    stage2: interleaved(chosen).map(wholeRow),
    stage3: trained.filter((example) => !chosen.includes(example)).map(wholeRow),
    test: examples.filter(({ fold }) => fold === foldCount).map(wholeRow),
  };
}

const classes = ["safe", "critical", "unsafe"] as const;

function chosenForStage2(examples: readonly Example[]): readonly Example[] {
  return classes.flatMap((name, index) => {
    const count = Math.floor(stage2Rows / classes.length) + (index < stage2Rows % classes.length ? 1 : 0);
    const members = examples.filter(({ label }) => label === name);
    // Spread over all folds of families, not the first ones only.
    return members
      .filter((_, at) => Math.floor((at * count) / members.length) !== Math.floor(((at - 1) * count) / members.length))
      .slice(0, count);
  });
}

/** One of each class in turn, so that no engine's unshuffled batch holds a single class. */
function interleaved(examples: readonly Example[]): readonly Example[] {
  const groups = classes.map((name) => examples.filter(({ label }) => label === name));
  const longest = Math.max(...groups.map((group) => group.length));
  return Array.from({ length: longest }, (_, index) => groups.flatMap((group) => group[index] ?? [])).flat();
}

function truthOf({ label, filtered }: Example): Truth {
  return { safety: label, filtered_tools: filtered };
}

function wholeRow(example: Example): Row {
  const { label, filtered } = example;
  const list = JSON.stringify(filtered);
  return {
    prompt: [
      { role: "system", content: instructions.tags },
      { role: "user", content: evidenceText(example.context, "values", "report") },
    ],
    answer: [
      `<|next_state|>${nextStateText(example.next)}<|next_state|>`,
      whyText(example),
      `<|safety|>${label}<|safety|>`,
      risksText(example),
      `<|filtered_tools|>${list}<|filtered_tools|>`,
    ].join("\n"),
    truth: truthOf(example),
  };
}

function partRow(example: Example, part: keyof typeof parts): Row {
  const evidence = evidenceText(example.context, "values", "report");
  const asked = `${evidence.slice(0, evidence.length - answerLines.report.length)}ANSWER: ${part}`;
  const list = JSON.stringify(example.filtered);
  return {
    prompt: [
      { role: "system", content: `${instructions.tags}\n${parts[part]}` },
      { role: "user", content: asked },
    ],
    answer:
      part === "next"
        ? `<|next_state|>${nextStateText(example.next)}<|next_state|>`
        : `<|filtered_tools|>${list}<|filtered_tools|>`,
    truth: truthOf(example),
  };
}

function whyText({ context, label, holds }: Example): string {
  const name = context.pending === undefined ? "" : `${context.pending.server}.${context.pending.tool}`;
  if (label === "unsafe") {
    return `With ${heldText(holds)} held, or with what stands open already, \`${name}\` does harm at once or lets it follow without another call.`;
  }
  if (label === "critical") return `Nothing is lost yet, but from here some listed tool could do harm.`;
  return `Whatever listed tool is used next, no harm follows at once.`;
}

/** Names in the prose before the list: enough to say why, not so many that the answer is cut. */
const namedMax = 4;

function risksText({ context, filtered }: Example): string {
  if (filtered.length === 0) return "No listed tool needs to go.";
  const known = new Map(context.tools.map(({ name, effects }) => [name, effects]));
  const named = filtered.slice(0, namedMax).map((name) => {
    const effects = known.get(name) ?? [];
    return `\`${name}\` (${effects.length === 0 ? "effects unknown" : effects.join(", ")})`;
  });
  const rest = filtered.length - named.length;
  return `A risk from here: ${named.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}.`;
}
