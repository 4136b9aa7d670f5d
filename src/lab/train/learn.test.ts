// Arithmetic of training and measuring, on examples small enough to check by hand.
import { describe, expect, test } from "vitest";
import { judged } from "../../oracles/foresight/embedded/weights.ts";
import { calibrate, learn } from "./learn.ts";
import { type Answer, type Truth, auc, qualityOf } from "./quality.ts";
import { makeRandom } from "./random.ts";

const settings = { bits: 4, epochs: 20, rate: 0.2, decay: 0, seed: 3 };
// Yes exactly if feature 1 is there; feature 2 is noise.
const samples = Array.from({ length: 60 }, (_, index) => ({
  features: Int32Array.from([0, ...(index % 2 === 0 ? [1] : []), ...(index % 3 === 0 ? [2] : [])]),
  yes: index % 2 === 0,
}));

describe("learning", () => {
  test("finds the feature that decides, and the same bits each time", () => {
    const table = learn(samples, settings);
    expect(learn(samples, settings)).toEqual(table);
    expect(table[1]).toBeGreaterThan(1);
    expect(Math.abs(table[2] ?? 9)).toBeLessThan(0.5 * (table[1] ?? 0));
    expect(learn(samples, { ...settings, seed: 4 })).not.toEqual(table);
  });

  test("calibration makes probabilities out of scores", () => {
    const head = calibrate(learn(samples, settings), 4, samples);
    expect(judged(head, [0, 1])).toBeGreaterThan(0.9);
    expect(judged(head, [0])).toBeLessThan(0.1);
  });

  test("a score that says nothing is calibrated to the share of yes", () => {
    const mixed = samples.map(({ yes }, index) => ({ features: Int32Array.of(5), yes: yes && index % 4 === 0 }));
    const head = calibrate(new Float32Array(16), 4, mixed);
    expect(judged(head, [5])).toBeCloseTo(0.25, 1);
  });

  test("a head without examples stays finite", () => {
    const head = calibrate(learn([], settings), 4, []);
    expect(judged(head, [1])).toBeGreaterThan(0);
    expect(judged(head, [1])).toBeLessThan(1);
  });
});

describe("quality", () => {
  const pair = (safety: Truth["safety"], said: Answer["safety"], score = 0, filtered: readonly string[] = []) => ({
    truth: { safety, filtered: ["a", "b"], isCall: true },
    answer: { safety: said, score, filtered: new Set(filtered) },
  });

  test("by hand", () => {
    const quality = qualityOf([
      pair("unsafe", "unsafe", 0.9, ["a"]),
      pair("unsafe", "safe", 0.2, ["a", "c"]),
      pair("safe", "unsafe", 0.6, []),
      pair("safe", "safe", 0.1, ["a", "b"]),
    ]);
    expect(quality).toMatchObject({ n: 4, accuracy: 0.5, unsafePrecision: 0.5, unsafeRecall: 0.5, unsafeF1: 0.5 });
    expect(quality.auc).toBe(0.75);
    expect(quality).toMatchObject({ filterPrecision: 0.8, filterRecall: 0.5 });
    expect(quality.filterF1).toBeCloseTo(8 / 13, 12);
    // Nobody was critical and nobody was said to be.
    expect(quality.macroF1).toBeCloseTo((0.5 + 1 + 0.5) / 3, 12);
  });

  test("ties count half, and one kind alone says nothing", () => {
    const scored = (...list: readonly (readonly [boolean, number])[]) =>
      auc(list.map(([yes, score]) => ({ yes, score })));
    expect(scored([true, 1], [false, 1])).toBe(0.5);
    expect(scored([true, 1], [false, 0], [false, 1])).toBe(0.75);
    expect(scored([true, 1])).toBe(0.5);
    expect(qualityOf([]).accuracy).toBe(0);
  });
});

test("random numbers follow from the seed, and cover their range", () => {
  const draw = (seed: number): readonly number[] => {
    const random = makeRandom(seed);
    return Array.from({ length: 400 }, () => random.below(10));
  };
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
  expect(new Set(draw(7)).size).toBe(10);
  const random = makeRandom(5);
  expect([...random.some(["a", "b", "c"], 9)].sort()).toEqual(["a", "b", "c"]);
  const hits = Array.from({ length: 1_000 }, () => random.chance(25)).filter(Boolean).length;
  expect(hits).toBeGreaterThan(180);
  expect(hits).toBeLessThan(320);
});
