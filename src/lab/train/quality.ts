/** How good predictions are, beside baselines that know nothing (foresight.md 6: trivial baselines always beside). */
import type { StateClass } from "../../core/questions/prediction.ts";

/** The prediction of a variant for one example. `score` orders examples by danger. */
export type Answer = {
  readonly safety: StateClass;
  readonly score: number;
  readonly filtered: ReadonlySet<string>;
};

export type Truth = {
  readonly safety: StateClass;
  readonly filtered: readonly string[];
  readonly isCall: boolean;
};

export type Quality = {
  readonly n: number;
  readonly accuracy: number;
  readonly macroF1: number;
  /** Of calls only, for a list has no unsafe class. */
  readonly unsafePrecision: number;
  readonly unsafeRecall: number;
  readonly unsafeF1: number;
  readonly auc: number;
  /** Over all pairs of example and tool. */
  readonly filterPrecision: number;
  readonly filterRecall: number;
  readonly filterF1: number;
};

type Pair = { readonly truth: Truth; readonly answer: Answer };

const classes = ["safe", "critical", "unsafe"] as const;

export function qualityOf(pairs: readonly Pair[]): Quality {
  const calls = pairs.filter(({ truth }) => truth.isCall);
  const unsafe = ofClass(calls, "unsafe");
  const filter = ofFilters(pairs);
  const macro = classes.map((name) => ofClass(pairs, name).f1);
  return {
    n: pairs.length,
    accuracy: share(pairs.filter(({ truth, answer }) => truth.safety === answer.safety).length, pairs.length),
    macroF1: macro.reduce((sum, one) => sum + one, 0) / classes.length,
    unsafePrecision: unsafe.precision,
    unsafeRecall: unsafe.recall,
    unsafeF1: unsafe.f1,
    auc: auc(calls.map(({ truth, answer }) => ({ yes: truth.safety === "unsafe", score: answer.score }))),
    filterPrecision: filter.precision,
    filterRecall: filter.recall,
    filterF1: filter.f1,
  };
}

type Rates = { readonly precision: number; readonly recall: number; readonly f1: number };

function ofClass(pairs: readonly Pair[], name: StateClass): Rates {
  const truly = pairs.filter(({ truth }) => truth.safety === name);
  const said = pairs.filter(({ answer }) => answer.safety === name);
  return rates(truly.filter(({ answer }) => answer.safety === name).length, said.length, truly.length);
}

function ofFilters(pairs: readonly Pair[]): Rates {
  let [both, said, truly] = [0, 0, 0];
  for (const { truth, answer } of pairs) {
    both += truth.filtered.filter((name) => answer.filtered.has(name)).length;
    said += answer.filtered.size;
    truly += truth.filtered.length;
  }
  return rates(both, said, truly);
}

/** Nothing found where nothing was to be found counts as perfect; nothing found otherwise as zero. */
function rates(both: number, said: number, truly: number): Rates {
  const precision = share(both, said);
  const recall = share(both, truly);
  return { precision, recall, f1: said + truly === 0 ? 1 : (2 * both) / (said + truly) };
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

/** Chance that a random yes is scored above a random no, ties counting half. One half where a kind is missing. */
export function auc(scored: readonly { readonly yes: boolean; readonly score: number }[]): number {
  const sorted = [...scored].sort((left, right) => left.score - right.score);
  const positives = sorted.filter(({ yes }) => yes).length;
  const negatives = sorted.length - positives;
  if (positives === 0 || negatives === 0) return 0.5;
  let ranks = 0;
  for (let from = 0; from < sorted.length;) {
    let to = from;
    while (to < sorted.length && sorted[to]?.score === sorted[from]?.score) to += 1;
    // All that are tied share the mean of their ranks, which count from 1.
    const rank = (from + 1 + to) / 2;
    for (let at = from; at < to; at += 1) if (sorted[at]?.yes === true) ranks += rank;
    from = to;
  }
  return (ranks - (positives * (positives + 1)) / 2) / (positives * negatives);
}
