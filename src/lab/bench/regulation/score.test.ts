import { describe, expect, it } from "vitest";
import { coin, filterScores, noLists, withList } from "./score.ts";

const names = (...all: readonly string[]): ReadonlySet<string> => new Set(all);

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
