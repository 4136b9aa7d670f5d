/** The numbers of `bench regulation` (foresight.md 6): rates, micro-averaged filters, Libra, and the STCH reward. */
import { releasedSettings, toolsReward } from "../../../oracles/foresight/reward.ts";

/** Tools that lists left out, compared with those that had to be absent. */
export type FilterCounts = {
  readonly lists: number;
  readonly exact: number;
  readonly hits: number;
  /** Hidden, and should not have been. */
  readonly wrong: number;
  /** Shown, and should not have been. */
  readonly missed: number;
  /** Sums of the STCH reward of each list, with safety weighted 1 and 2. */
  readonly rewardEven: number;
  readonly rewardSafe: number;
};

export const noLists: FilterCounts = {
  lists: 0,
  exact: 0,
  hits: 0,
  wrong: 0,
  missed: 0,
  rewardEven: 0,
  rewardSafe: 0,
};

export function withList(
  counts: FilterCounts,
  hidden: ReadonlySet<string>,
  expected: ReadonlySet<string>,
): FilterCounts {
  const hits = [...hidden].filter((tool) => expected.has(tool)).length;
  const wrong = hidden.size - hits;
  const missed = expected.size - hits;
  return {
    lists: counts.lists + 1,
    exact: counts.exact + (wrong === 0 && missed === 0 ? 1 : 0),
    hits: counts.hits + hits,
    wrong: counts.wrong + wrong,
    missed: counts.missed + missed,
    rewardEven: counts.rewardEven + toolsReward(missed, wrong),
    rewardSafe: counts.rewardSafe + toolsReward(missed, wrong, { ...releasedSettings, missedWeight: 2 }),
  };
}

export type FilterScores = {
  readonly lists: number;
  readonly exact: number;
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
  readonly missedPerList: number;
  readonly wrongPerList: number;
  readonly stch: number;
  readonly stchSafe: number;
};

export function filterScores(counts: FilterCounts): FilterScores {
  const { lists, exact, hits, wrong, missed } = counts;
  const of = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);
  return {
    lists,
    exact: rounded(of(exact, lists)),
    precision: rounded(of(hits, hits + wrong)),
    recall: rounded(of(hits, hits + missed)),
    f1: rounded(of(2 * hits, 2 * hits + wrong + missed)),
    missedPerList: rounded(of(missed, lists)),
    wrongPerList: rounded(of(wrong, lists)),
    stch: rounded(of(counts.rewardEven, lists)),
    stchSafe: rounded(of(counts.rewardSafe, lists)),
  };
}

export function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

/** Numbers from a linear congruence, 0 to 1: the coin of the random filter, equal on every machine. */
export function coin(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
