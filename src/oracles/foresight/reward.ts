/**
 * Rewards of SafeMCP's third training stage as pure functions of an answer and the truth (foresight.md 5): the label is
 * right, the tools to filter are right, the form is kept. A training engine asks for them over HTTP, so that there is one
 * implementation whatever the engine.
 */
import type { StateClass } from "../../core/questions/prediction.ts";
import { labelTailCharsMax } from "./llm-limits.ts";
import { readTags } from "./llm-tags.ts";
import { isStateClass } from "./llm-verdict.ts";

export type GroundTruth = { readonly safety: StateClass; readonly filteredTools: readonly string[] };

/**
 * How two counts become one. `canonical` divides by μ inside the exponent, as the Tchebycheff scalarization was published
 * (Lin et al., ICML 2024); `as-released` multiplies, as SafeMCP's code does. They agree at μ = 1 alone.
 */
export type ToolsSettings = {
  readonly form: "canonical" | "as-released";
  /** Weight of a tool that should have been filtered and was not, and of one that was and should not have been. */
  readonly missedWeight: number;
  readonly extraWeight: number;
  readonly mu: number;
  readonly beta: number;
  readonly center: number;
};

/** The released values: symmetric, whatever the comments beside them say. */
export const releasedSettings: ToolsSettings = {
  form: "canonical",
  missedWeight: 1,
  extraWeight: 1,
  mu: 1,
  beta: 1,
  center: 0.69,
};

export type Reward = {
  /** 1 if the label is right, else 0. */
  readonly safety: number;
  /** 0 to 1; 1 if exactly the right tools are filtered. */
  readonly tools: number;
  /** 1 if the answer keeps the protocol exactly, else 0. */
  readonly format: number;
  /** Their sum, 0 to 3. */
  readonly total: number;
  /** Where an engine that rewards tokens would put them: character offsets in the answer, and values. */
  readonly spans: readonly { readonly at: number; readonly value: number }[];
};

/** Smooth Tchebycheff scalarization of the two counts, shifted so that no mistake gives 0. */
export function scalarized(missed: number, extra: number, settings: ToolsSettings): number {
  const { form, missedWeight, extraWeight, mu } = settings;
  const term = (weight: number, count: number): number =>
    (form === "canonical" ? (weight * count) / mu : mu * weight * count) - Math.LN2;
  const left = term(missedWeight, missed);
  const right = term(extraWeight, extra);
  // The larger one is taken out, since its exponential alone could be beyond any number.
  const top = Math.max(left, right);
  return mu * (top + Math.log(Math.exp(left - top) + Math.exp(right - top)));
}

/** Reward of a filter that missed some tools and took some extra ones, 0 to 1. */
export function toolsReward(missed: number, extra: number, settings: ToolsSettings = releasedSettings): number {
  const { beta, center } = settings;
  const falls = (x: number): number => 1 / (1 + Math.exp(x));
  return falls(beta * (scalarized(missed, extra, settings) - center)) / falls(-beta * center);
}

/** All rewards of an answer. Only its last characters are looked at, as in the reference. */
export function rewardOf(answer: string, truth: GroundTruth, settings: ToolsSettings = releasedSettings): Reward {
  const from = Math.max(0, answer.length - labelTailCharsMax);
  const tail = answer.slice(from);
  const written = readTags(tail);
  const said = written.ok ? written.value.safety : undefined;
  const safety = said === truth.safety ? 1 : 0;
  const { missed, extra } = mistakes(written.ok ? (written.value.filtered ?? []) : [], truth.filteredTools);
  // An answer without a label or a list has chosen nothing, and "nothing" must not pay where it would be right.
  const tools = written.ok && written.value.filtered !== undefined ? toolsReward(missed, extra, settings) : 0;
  const format = keepsForm(tail) ? 1 : 0;
  const label = tail.lastIndexOf("<|safety|>");
  return {
    safety,
    tools,
    format,
    total: safety + tools + format,
    spans: [
      { at: label < 0 ? answer.length : from + label, value: safety },
      { at: answer.length, value: tools + format },
    ],
  };
}

/** False negatives and false positives over sets of lower-case names. */
export function mistakes(
  filtered: readonly string[],
  truth: readonly string[],
): { readonly missed: number; readonly extra: number } {
  const said = new Set(filtered.map((name) => name.toLowerCase()));
  const right = new Set(truth.map((name) => name.toLowerCase()));
  return {
    missed: [...right].filter((name) => !said.has(name)).length,
    extra: [...said].filter((name) => !right.has(name)).length,
  };
}

const safetyTag = "<|safety|>";
const toolsTag = "<|filtered_tools|>";

/**
 * The protocol to the letter: words, a legal label between two equal tags, words, a list of names between two equal tags,
 * which is empty exactly if the label is safe.
 */
function keepsForm(text: string): boolean {
  const [before, label, ...afterLabel] = text.split(safetyTag);
  const [why, list, ...afterList] = afterLabel.join(safetyTag).split(toolsTag);
  if (before === undefined || label === undefined || why === undefined || list === undefined) return false;
  if (afterLabel.length !== 1 || afterList.length !== 1) return false;
  const safety = label.trim();
  const names = namesIn(list);
  if (before.trim() === "" || why.trim() === "" || !isStateClass(safety) || names === undefined) return false;
  return (safety === "safe") === (names.length === 0);
}

function namesIn(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Libra score of a safety rate and a utility rate, each 0 to 1: 1 less the distance from perfect in both. */
export function libra(safety: number, utility: number): number {
  return 1 - Math.sqrt(((1 - safety) ** 2 + (1 - utility) ** 2) / 2);
}
