import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FilterMode } from "../../../policy/sections/regulation.ts";
import {
  type Filtered,
  filterAfter,
  filteredToolsMax,
  filterReason,
  isFiltered,
  nextReturn,
  nothingFiltered,
} from "./filter.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const names = ["a", "b", "c", "d"];
const lease: FilterMode = { kind: "lease", ttlMs: 100 };
const accumulate: FilterMode = { kind: "accumulate" };
const set = (...tools: readonly string[]): ReadonlySet<string> => new Set(tools);

it("replace: nothing stays away longer than the game says", () => {
  const memory = filterAfter({ kind: "replace" }, nothingFiltered, set("a"), 5);
  expect(isFiltered(memory, "a", 5)).toBe(false);
  expect(filterReason(memory, "a", 5)).toBeUndefined();
});

it("accumulate: what was hidden once stays hidden to the end of the run", () => {
  const memory = filterAfter(accumulate, filterAfter(accumulate, nothingFiltered, set("a"), 5), set("b"), 6);
  expect(names.filter((name) => isFiltered(memory, name, 1e12))).toEqual(["a", "b"]);
  expect(nextReturn(memory, 7)).toBeUndefined();
  expect(filterReason(memory, "a", 7)).toEqual({
    mechanism: "regulate",
    code: "SG-FILTERED",
    verdict: "deny",
    facts: {},
    way: "use another tool, or start a new run",
  });
});

describe("lease", () => {
  it("begins when the game lets the tool go, and ends exactly when it is over", () => {
    const hidden = filterAfter(lease, nothingFiltered, set("a"), 5);
    expect(isFiltered(hidden, "a", 1e12)).toBe(true);
    const freed = filterAfter(lease, hidden, set(), 50);
    expect(nextReturn(freed, 50)).toBe(150);
    expect(filterReason(freed, "a", 149.5)?.facts).toEqual({ waitMs: 1 });
    expect(filterReason(freed, "a", 149)?.way).toBe("wait, or use another tool");
    expect(isFiltered(freed, "a", 150)).toBe(false);
    expect(filterAfter(lease, freed, set(), 150).until.size).toBe(0);
  });

  it("is not begun again by an update in between, and is by a new hiding", () => {
    const freed = filterAfter(lease, filterAfter(lease, nothingFiltered, set("a", "b"), 0), set("b"), 10);
    const later = filterAfter(lease, freed, set(), 60);
    expect([...later.until]).toEqual([
      ["a", 110],
      ["b", 160],
    ]);
    expect(nextReturn(later, 60)).toBe(110);
    expect(nextReturn(later, 110)).toBe(160);
    const again = filterAfter(lease, filterAfter(lease, later, set("a"), 70), set(), 80);
    expect(again.until.get("a")).toBe(180);
  });
});

it("a memory that is full keeps everything else away, rather than forget", () => {
  const many = new Set(Array.from({ length: filteredToolsMax }, (_, index) => `t${index}`));
  const memory = filterAfter(accumulate, nothingFiltered, many, 0);
  expect(isFiltered(memory, "other", 1)).toBe(false);
  const full = filterAfter(accumulate, memory, set("t1", "more"), 1);
  expect(full.until.size).toBe(filteredToolsMax);
  expect(filterReason(full, "other", 2)?.facts).toEqual({});
});

const history = fc.array(fc.tuple(fc.integer({ min: 0, max: 60 }), fc.subarray(names)), { maxLength: 12 });
const modes = fc.constantFrom<FilterMode>({ kind: "replace" }, accumulate, lease);

describe("laws", () => {
  it("accumulate only shrinks the list", () => {
    fc.assert(
      fc.property(history, (steps) => {
        let memory: Filtered = nothingFiltered;
        let at = 0;
        for (const [wait, hidden] of steps) {
          at += wait;
          const next = filterAfter(accumulate, memory, new Set(hidden), at);
          for (const name of names) expect(isFiltered(memory, name, at) && !isFiltered(next, name, at)).toBe(false);
          memory = next;
        }
      }),
      { numRuns: runs },
    );
  });

  it("a stricter mode hides at least as much: replace, lease, accumulate", () => {
    const order: readonly FilterMode[] = [{ kind: "replace" }, lease, accumulate];
    fc.assert(
      fc.property(history, fc.constantFrom(...names), (steps, name) => {
        const memories = order.map(() => nothingFiltered);
        let at = 0;
        for (const [wait, hidden] of steps) {
          at += wait;
          const away = order.map((mode, index) => {
            memories[index] = filterAfter(mode, memories[index] ?? nothingFiltered, new Set(hidden), at);
            return hidden.includes(name) || isFiltered(memories[index], name, at);
          });
          expect(away).toEqual(away.toSorted((left, right) => Number(left) - Number(right)));
        }
      }),
      { numRuns: runs },
    );
  });

  it("what the game hides at an update is never remembered as free then", () => {
    fc.assert(
      fc.property(modes, history, (mode, steps) => {
        let memory: Filtered = nothingFiltered;
        let at = 0;
        for (const [wait, hidden] of steps) {
          at += wait;
          memory = filterAfter(mode, memory, new Set(hidden), at);
          if (mode.kind !== "replace") for (const name of hidden) expect(isFiltered(memory, name, at)).toBe(true);
        }
      }),
      { numRuns: runs },
    );
  });
});

it.each([
  [[], undefined],
  [[7, 5, 9], 5],
  [[5, 7], 5],
  [[4, 3, Number.POSITIVE_INFINITY, 6], 6],
  [[4, Number.POSITIVE_INFINITY], undefined],
])("of %j at 4 the first to come back is that at %j", (ends, wanted) => {
  const until = new Map(ends.map((end, index) => [`s.t${index}`, end]));
  expect(nextReturn({ until, full: false }, 4)).toBe(wanted);
});
