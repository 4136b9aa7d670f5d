import fc from "fast-check";
import { expect, it } from "vitest";
import type { Prediction } from "../../core/questions/prediction.ts";
import { stricterPrediction } from "./merge.ts";

const words = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"));
const prediction: fc.Arbitrary<Prediction> = fc.record({
  model: fc.constant("m"),
  nextState: fc.record({ labels: words, effects: words, text: fc.constantFrom("", "x") }, { requiredKeys: ["text"] }),
  safety: fc.constantFrom("safe", "critical", "unsafe"),
  pUnsafe: fc.double({ min: 0, max: 1, noNaN: true }),
  filteredTools: words,
  reasons: words,
  invented: fc.nat({ max: 3 }),
  unanswered: words,
  latencyMs: fc.nat({ max: 100 }),
});
const rank = { safe: 0, critical: 1, unsafe: 2 };

it("two predictions together are at least as strict as each", () => {
  fc.assert(
    fc.property(prediction, prediction, (left, right) => {
      const both = stricterPrediction(left, right);
      for (const one of [left, right]) {
        expect(rank[both.safety]).toBeGreaterThanOrEqual(rank[one.safety]);
        expect(both.pUnsafe).toBeGreaterThanOrEqual(one.pUnsafe);
        expect(both.filteredTools).toEqual(expect.arrayContaining([...one.filteredTools]));
        expect(both.nextState.effects).toEqual(expect.arrayContaining([...(one.nextState.effects ?? [])]));
        expect(both.nextState.labels).toEqual(expect.arrayContaining([...(one.nextState.labels ?? [])]));
      }
    }),
  );
});
