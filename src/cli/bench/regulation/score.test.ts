import { describe, expect, it } from "vitest";
import { coin, filterScores, libra, noLists, setReward, withList } from "./score.ts";

const names = (...all: readonly string[]): ReadonlySet<string> => new Set(all);

describe("the reward of a filter", () => {
  it("has the values of the published weights", () => {
    const golden: readonly (readonly [number, number, number])[] = [
      [0, 0, 1],
      [1, 0, 0.777],
      [0, 1, 0.777],
      [1, 1, 0.6353],
      [2, 0, 0.4838],
      [2, 1, 0.4248],
      [2, 2, 0.3191],
      [3, 0, 0.2388],
    ];
    for (const [missed, wrong, reward] of golden) expect(setReward(missed, wrong, 1)).toBeCloseTo(reward, 3);
    expect(setReward(1, 0, 2)).toBeCloseTo(0.484, 3);
    expect(setReward(0, 1, 2)).toBeCloseTo(0.777, 3);
    expect(setReward(2, 0, 2)).toBeCloseTo(0.1, 3);
  });
});

describe("micro-averages", () => {
  it("count tools over all lists, not lists", () => {
    const first = withList(noLists, names("a", "b"), names("a", "c", "d"));
    const scores = filterScores(withList(first, names(), names()));
    expect(scores).toMatchObject({ lists: 2, exact: 0.5, precision: 0.5, recall: 0.3333, f1: 0.4 });
    expect(scores).toMatchObject({ missedPerList: 1, wrongPerList: 0.5 });
  });

  it("are 0 where nothing was hidden or nothing counted", () => {
    expect(filterScores(withList(noLists, names(), names("a")))).toMatchObject({ precision: 0, recall: 0, f1: 0 });
    expect(filterScores(noLists)).toMatchObject({ lists: 0, f1: 0, stch: 0 });
  });
});

describe("Libra", () => {
  it("is 1 for perfect, 0 for useless, and punishes being good at one thing only", () => {
    expect(libra(1, 1)).toBe(1);
    expect(libra(0, 0)).toBe(0);
    expect(libra(1, 0)).toBeCloseTo(0.2929, 4);
    expect(libra(0.99, 0.22)).toBeCloseTo(0.44, 1);
  });
});

describe("the coin", () => {
  it("falls alike for one seed, otherwise for another, and is fair enough", () => {
    const falls = (seed: number): readonly boolean[] => {
      const flip = coin(seed);
      return Array.from({ length: 1_000 }, () => flip() < 0.5);
    };
    expect(falls(1)).toEqual(falls(1));
    expect(falls(1)).not.toEqual(falls(2));
    const heads = falls(3).filter(Boolean).length;
    expect(heads).toBeGreaterThan(420);
    expect(heads).toBeLessThan(580);
  });
});
