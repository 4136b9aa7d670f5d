/**
 * The two forms of an answer. JSON, with nothing but listed tools in its list; and as a fast path one word with the
 * chances of the three labels, where the whole answer is asked for only in doubt.
 */
import { type Json, type JsonObject, isArray, member, stringMember } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { objectIn } from "../judges/json-answer.ts";
import type { ShownTool } from "./llm-prompt.ts";
import { type Written, isStateClass } from "./llm-verdict.ts";
import type { StateClass } from "../../core/questions/prediction.ts";
import type { TokenChance } from "../../gateway/ports/model.ts";
import { labelShareMin, sureSafeBelow, sureUnsafeAbove } from "./llm-limits.ts";

/** Schema of an answer. Only keywords that every server with structured output knows. */
export function answerSchema(tools: readonly ShownTool[]): JsonObject {
  const names = tools.map((tool) => tool.shown);
  const item = names.length === 0 ? { type: "string" } : { type: "string", enum: names };
  return {
    type: "object",
    properties: {
      next_state: { type: "string" },
      reasoning: { type: "string" },
      safety: { type: "string", enum: ["safe", "critical", "unsafe"] },
      filtered_tools: { type: "array", items: item },
    },
    required: ["next_state", "reasoning", "safety", "filtered_tools"],
    additionalProperties: false,
  };
}

/** Reads an answer in JSON, alone or inside prose. A name that appears twice could say two things: it is refused. */
export function readJson(text: string): Result<Written, string> {
  const found = objectIn(text);
  if (!found.ok) return found;
  const { value } = found;
  const safety = stringMember(value, "safety")?.trim().toLowerCase();
  if (!isStateClass(safety)) return err("its answer has no label");
  return ok({
    nextState: stringMember(value, "next_state") ?? "",
    reasoning: stringMember(value, "reasoning") ?? "",
    safety,
    filtered: namesOf(member(value, "filtered_tools")),
  });
}

function namesOf(value: Json | undefined): readonly string[] | undefined {
  if (!isArray(value)) return undefined;
  // A value other than text names no tool; it still shows that the list was not meant to be empty.
  return value.map((each) => (typeof each === "string" ? each : ""));
}

/** Probabilities of the labels, renormalised over the three; they add up to 1. */
export type LabelChances = Readonly<Record<StateClass, number>>;

const labels = ["safe", "critical", "unsafe"] as const;

/**
 * Chances of the labels from the candidates for the first token, which may be a label's beginning (`un`). Undefined
 * where the labels have too small a share of it: then the model was about to write something else.
 */
export function labelChances(first: readonly TokenChance[] | undefined): LabelChances | undefined {
  if (first === undefined) return undefined;
  const mass = { safe: 0, critical: 0, unsafe: 0 };
  let total = 0;
  for (const { token, logProbability } of first) {
    const chance = Math.exp(logProbability);
    total += chance;
    const word = token.toLowerCase().replace(/^[\s"'`*\u0120\u2581]+|[\s"'`*.]+$/g, "");
    const label = word === "" ? undefined : labels.find((each) => each.startsWith(word));
    if (label !== undefined) mass[label] += chance;
  }
  const sum = mass.safe + mass.critical + mass.unsafe;
  if (!(sum > 0) || sum < labelShareMin * Math.max(total, 1 - 1e-9)) return undefined;
  return { safe: mass.safe / sum, critical: mass.critical / sum, unsafe: mass.unsafe / sum };
}

/** What one word is enough for; `doubt` asks for the whole answer. A list is only ever excused, never refused, by it. */
export function sureOf(chances: LabelChances, pending: boolean): "safe" | "unsafe" | "doubt" {
  if (1 - chances.safe < sureSafeBelow) return "safe";
  return pending && chances.unsafe > sureUnsafeAbove ? "unsafe" : "doubt";
}
