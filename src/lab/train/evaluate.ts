/** Quality on tool families that were left out of training, beside baselines (tool-disjoint folds). */
import { scoreEmbedded } from "../../oracles/foresight/embedded.ts";
import { deed, deedsOf } from "../../oracles/foresight/embedded/deeds.ts";
import { foldCount } from "./catalogue.ts";
import { type Prepared, fit } from "./fit.ts";
import { type Answer, type Quality, type Truth, qualityOf } from "./quality.ts";
import type { Example } from "./scenario.ts";

export type QualityRow = { readonly variant: string; readonly part: string; readonly quality: Quality };

type Variant = { readonly name: string; readonly answer: (example: Example) => Answer };

/**
 * One row for each fold of families with a model that has seen no tool of it, one over all folds, and the baselines over
 * all examples.
 */
export function evaluateFolds(prepared: readonly Prepared[]): readonly QualityRow[] {
  const examples = prepared.map(({ example }) => example);
  const rows: QualityRow[] = [];
  const all: { readonly truth: Truth; readonly answer: Answer }[] = [];
  for (let fold = 1; fold <= foldCount; fold += 1) {
    const weights = fit(prepared.filter(({ example }) => example.fold !== fold));
    const left = examples.filter((example) => example.fold === fold);
    const pairs = left.map((example) => ({ truth: truthOf(example), answer: embeddedAnswer(example, weights) }));
    all.push(...pairs);
    const families = [...new Set(left.map(({ family }) => family))].sort();
    rows.push({ variant: "embedded", part: families.join("+"), quality: qualityOf(pairs) });
  }
  rows.unshift({ variant: "embedded", part: "all families, each left out", quality: qualityOf(all) });
  for (const { name, answer } of baselines(examples)) {
    const pairs = examples.map((example) => ({ truth: truthOf(example), answer: answer(example) }));
    rows.push({ variant: name, part: "all families", quality: qualityOf(pairs) });
  }
  return rows;
}

function embeddedAnswer(example: Example, weights: Parameters<typeof scoreEmbedded>[0]): Answer {
  const { prediction } = scoreEmbedded(weights, example.context);
  return { safety: prediction.safety, score: prediction.pUnsafe, filtered: new Set(prediction.filteredTools) };
}

function truthOf({ context, label, filtered }: Example): Truth {
  return { safety: label, filtered, isCall: context.pending !== undefined };
}

const none: ReadonlySet<string> = new Set();

/** Trivial baselines: they use no state, or no input at all. */
function baselines(examples: readonly Example[]): readonly Variant[] {
  const names = (example: Example): ReadonlySet<string> => new Set(example.context.tools.map(({ name }) => name));
  const cut = bestLength(examples);
  return [
    { name: "majority", answer: () => ({ safety: "critical", score: 0, filtered: none }) },
    {
      name: "effect rule",
      answer: ({ context }) => {
        const acts = context.pending !== undefined && hasSideEffect(context.pending.effects);
        const filtered = context.tools.filter(({ effects }) => hasSideEffect(effects)).map(({ name }) => name);
        return { safety: acts ? "unsafe" : "safe", score: acts ? 1 : 0, filtered: new Set(filtered) };
      },
    },
    {
      name: "length",
      answer: (example) => {
        const length = lengthOf(example);
        return { safety: length >= cut ? "unsafe" : "safe", score: length, filtered: none };
      },
    },
    { name: "filter-none", answer: () => ({ safety: "safe", score: 0, filtered: none }) },
    { name: "filter-all", answer: (example) => ({ safety: "critical", score: 0, filtered: names(example) }) },
  ];
}

/** Any effect other than reading; an unknown effect counts. */
function hasSideEffect(effects: readonly string[]): boolean {
  return (deedsOf(effects).bits & ~deed.reads) !== 0;
}

function lengthOf({ context }: Example): number {
  return JSON.stringify(context).length;
}

/** The length that separates unsafe calls from others best, chosen on the tested examples: the baseline at its best. */
function bestLength(examples: readonly Example[]): number {
  const calls = examples.filter(({ context }) => context.pending !== undefined);
  const sorted = calls.map((one) => ({ length: lengthOf(one), unsafe: one.label === "unsafe" }));
  sorted.sort((left, right) => right.length - left.length);
  const total = sorted.filter(({ unsafe }) => unsafe).length;
  let [found, best, cut] = [0, 0, 0];
  for (const [index, { length, unsafe }] of sorted.entries()) {
    if (unsafe) found += 1;
    const f1 = (2 * found) / (index + 1 + total);
    if (f1 > best) [best, cut] = [f1, length];
  }
  return cut;
}
