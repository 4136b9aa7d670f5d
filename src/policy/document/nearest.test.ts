import fc from "fast-check";
import { expect, test } from "vitest";
import { editDistance, nearestWord, suggestion } from "./nearest.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

test("distance counts insertions, deletions, replacements and swaps", () => {
  expect(editDistance("", "abc")).toBe(3);
  expect(editDistance("block", "blok")).toBe(1);
  expect(editDistance("tier", "teir")).toBe(1);
  expect(editDistance("kitten", "sitting")).toBe(3);
});

test("law: distance is symmetric and zero exactly for equal words", () => {
  const word = fc.string({ maxLength: 8 });
  fc.assert(
    fc.property(word, word, (left, right) => {
      expect(editDistance(left, right)).toBe(editDistance(right, left));
      expect(editDistance(left, right) === 0).toBe(left === right);
    }),
    { numRuns: runs },
  );
});

test("a word too far from all others gets the list instead", () => {
  expect(nearestWord("confrim", ["block", "confirm"])).toBe("confirm");
  expect(nearestWord("xyzzy", ["block", "confirm"])).toBeUndefined();
  expect(nearestWord("", ["block"])).toBeUndefined();
  expect(suggestion("xyzzy", ["block", "confirm"])).toBe("use `block`, `confirm`");
  expect(suggestion("x", [])).toBe("remove it");
  expect(
    suggestion(
      "x",
      Array.from({ length: 20 }, (_, index) => `word${index}`),
    ),
  ).toMatch(/\.\.\.$/);
  expect(nearestWord("a", ["b".repeat(65), "a"])).toBe("a");
});
