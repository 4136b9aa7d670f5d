/** The fast path: one word, and how likely each of the three was. The rest of the answer is asked for only in doubt. */
import type { StateClass } from "../../core/prediction.ts";
import type { TokenChance } from "../../gateway/model-port.ts";
import { labelShareMin, sureSafeBelow, sureUnsafeAbove } from "./llm-limits.ts";

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
