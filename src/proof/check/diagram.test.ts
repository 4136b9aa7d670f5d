import fc from "fast-check";
import { expect, it } from "vitest";
import { type Diagram, diagramWithin } from "./diagram.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const enough = { diagramNodesMax: 100_000, diagramStepsMax: 1_000_000, cacheSlots: 1024 };

type Formula =
  | { readonly kind: "level"; readonly level: number }
  | { readonly kind: "not"; readonly of: Formula }
  | { readonly kind: "and" | "or"; readonly left: Formula; readonly right: Formula };

const levels = 5;
const { formula } = fc.letrec<{ formula: Formula }>((tie) => ({
  formula: fc.oneof(
    { maxDepth: 5 },
    fc.nat({ max: levels - 1 }).map((level) => ({ kind: "level" as const, level })),
    tie("formula").map((of) => ({ kind: "not" as const, of })),
    fc
      .tuple(fc.constantFrom("and" as const, "or" as const), tie("formula"), tie("formula"))
      .map(([kind, left, right]) => ({ kind, left, right })),
  ),
}));

function truthOf(one: Formula, truth: (level: number) => boolean): boolean {
  if (one.kind === "level") return truth(one.level);
  if (one.kind === "not") return !truthOf(one.of, truth);
  const [left, right] = [truthOf(one.left, truth), truthOf(one.right, truth)];
  return one.kind === "and" ? left && right : left || right;
}
function nodeOf(one: Formula, diagram: Diagram): number {
  if (one.kind === "level") return diagram.variable(one.level);
  if (one.kind === "not") return diagram.not(nodeOf(one.of, diagram));
  return diagram[one.kind](nodeOf(one.left, diagram), nodeOf(one.right, diagram));
}
const assignments = Array.from(
  { length: 2 ** levels },
  (_, all) =>
    (level: number): boolean =>
      ((all >> level) & 1) === 1,
);

it("law: a diagram says what its formula says, and equal functions are equal nodes", () => {
  fc.assert(
    fc.property(formula, formula, (one, other) => {
      const diagram = diagramWithin(enough);
      const [a, b] = [nodeOf(one, diagram), nodeOf(other, diagram)];
      const table = (of: Formula): string => assignments.map((truth) => Number(truthOf(of, truth))).join("");
      expect(assignments.map((truth) => diagram.holds(a, truth))).toEqual(
        assignments.map((truth) => truthOf(one, truth)),
      );
      expect(a === b).toBe(table(one) === table(other));
    }),
    { numRuns: runs },
  );
});

it("law: levels are replaced all at once", () => {
  fc.assert(
    fc.property(formula, formula, formula, (one, first, second) => {
      const diagram = diagramWithin(enough);
      const by = new Map([
        [0, nodeOf(first, diagram)],
        [3, nodeOf(second, diagram)],
      ]);
      const replaced = diagram.replace(nodeOf(one, diagram), by);
      for (const truth of assignments) {
        const after = (level: number): boolean =>
          level === 0 ? truthOf(first, truth) : level === 3 ? truthOf(second, truth) : truth(level);
        expect(diagram.holds(replaced, truth)).toBe(truthOf(one, after));
      }
    }),
    { numRuns: runs },
  );
});

it("past a limit it is said that nothing said is worth anything", () => {
  for (const limits of [
    { ...enough, diagramNodesMax: 40 },
    { ...enough, diagramStepsMax: 40 },
  ]) {
    const diagram = diagramWithin(limits);
    void Array.from({ length: 20 }, (_, level) => diagram.variable(level)).reduce((a, b) =>
      diagram.choose(a, diagram.not(b), b),
    );
    expect(diagram.exhausted()).toBe(true);
  }
  expect(diagramWithin(enough).exhausted()).toBe(false);
});

it("as many levels as a certificate may have do not exhaust the stack", () => {
  const diagram = diagramWithin({ diagramNodesMax: 1_000_000, diagramStepsMax: 10_000_000, cacheSlots: 65_536 });
  let chain = 1;
  for (let level = 4096; level > 0; level -= 1) chain = diagram.node(level, 0, chain);
  const other = diagram.not(chain);
  expect(diagram.and(chain, other)).toBe(0);
  expect(diagram.replace(chain, new Map([[4096, 0]]))).toBe(0);
});

it("law: what the cache forgets changes nothing", () => {
  fc.assert(
    fc.property(formula, (one) => {
      const [forgetful, mindful] = [diagramWithin({ ...enough, cacheSlots: 1 }), diagramWithin(enough)];
      const [a, b] = [nodeOf(one, forgetful), nodeOf(one, mindful)];
      for (const truth of assignments) expect(forgetful.holds(a, truth)).toBe(mindful.holds(b, truth));
    }),
    { numRuns: runs },
  );
});
