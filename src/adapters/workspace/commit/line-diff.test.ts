import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffEditsMax } from "../workspace-limits.ts";
import { diffLines, unified } from "./line-diff.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const text = fc
  .array(fc.constantFrom("a", "b", "c", ""), { maxLength: 30 })
  .map((all) => all.map((one) => `${one}\n`).join(""));

describe("the difference of two texts", () => {
  it("gives both texts back, without more lines than needed", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before, after) ?? [];
        const side = (not: string): string =>
          lines
            .filter((line) => line.kind !== not)
            .map((line) => `${line.text}\n`)
            .join("");
        expect(side("added")).toBe(before);
        expect(side("removed")).toBe(after);
        expect(lines.filter((line) => line.kind === "same").length).toBe(common(before.split("\n"), after.split("\n")));
      }),
      { numRuns: runs },
    );
  });

  it("shows changed lines with three around them, and where they are", () => {
    const numbers = Array.from({ length: 20 }, (_, index) => `${index}`);
    const changed = numbers.with(10, "ten");
    const lines = diffLines(numbers.join("\n"), changed.join("\n")) ?? [];
    expect(unified(lines)).toEqual(["@@ -8,7 +8,7 @@", " 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13"]);
  });

  it("counts from 0 where one side has nothing", () => {
    expect(unified(diffLines("", "a\nb\n") ?? [])).toEqual(["@@ -0,0 +1,2 @@", "+a", "+b"]);
  });

  it("gives up on texts that have nothing in common and are long", () => {
    const lines = (letter: string): string => `${letter}\n`.repeat(diffEditsMax);
    expect(diffLines(lines("a"), lines("b"))).toBeUndefined();
  });
});

/** Length of the longest common subsequence, by the table that everyone can check; without the end after the last line. */
function common(one: readonly string[], other: readonly string[]): number {
  let row: readonly number[] = other.map(() => 0);
  for (const left of one.slice(0, -1)) {
    const next: number[] = [];
    for (const [at, right] of other.slice(0, -1).entries()) {
      next.push(left === right ? (row[at - 1] ?? 0) + 1 : Math.max(row[at] ?? 0, next[at - 1] ?? 0));
    }
    row = next;
  }
  return row.at(other.length - 2) ?? 0;
}
