/** Arbitrary traces: calls that overlap, fail, get lost, are answered late; speech that nobody asked for; time. */
import fc from "fast-check";
import type { Operation } from "./operations.ts";
import type { Recipe } from "./planted.ts";

const place = fc.nat({ max: 20 });
const recipe: fc.Arbitrary<Recipe> = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom("v", "w").map((word) => ({ kind: "plain" as const, word })) },
  { weight: 2, arbitrary: place.map((of) => ({ kind: "copy" as const, of })) },
  { weight: 2, arbitrary: place.map((of) => ({ kind: "token" as const, of })) },
  { weight: 1, arbitrary: fc.tuple(place, place).map(([of, and]) => ({ kind: "join" as const, of, and })) },
  { weight: 1, arbitrary: place.map((of) => ({ kind: "half" as const, of })) },
  { weight: 1, arbitrary: place.map((of) => ({ kind: "encode" as const, of })) },
);

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("call" as const),
      run: fc.nat({ max: 1 }),
      tool: fc.nat({ max: 3 }),
      given: fc.record({ x: fc.option(recipe, { nil: undefined }), y: fc.option(recipe, { nil: undefined, freq: 2 }) }),
      ending: fc.constantFrom("succeeded", "succeeded", "succeeded", "failed", "no-effect", "lost", "late"),
      atOnce: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: place.map((which) => ({ kind: "advance" as const, which })) },
  { weight: 1, arbitrary: fc.nat({ max: 1 }).map((run) => ({ kind: "say" as const, run })) },
  { weight: 1, arbitrary: fc.constantFrom(70_000, 700_000).map((ms) => ({ kind: "wait" as const, ms })) },
);

/** What happens in two runs, in any order. */
export const traces: fc.Arbitrary<readonly Operation[]> = fc.array(operation, {
  minLength: 1,
  maxLength: 14,
  size: "max",
});
