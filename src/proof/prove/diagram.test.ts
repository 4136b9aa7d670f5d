// Decision diagrams against truth tables: every operation is what its definition says, and equal functions are equal.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Node, Diagram } from "./diagram.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const width = 6;

/** A function of six variables as its truth table: bit n is its value where the variables are the bits of n. */
type Table = bigint;
const all: Table = (1n << 64n) - 1n;
const rows = Array.from({ length: 64 }, (_, row) => row);
const tableOf = (value: (row: number) => boolean): Table =>
  rows.reduce((table, row) => (value(row) ? table | (1n << BigInt(row)) : table), 0n);
const at = (table: Table, row: number): boolean => ((table >> BigInt(row)) & 1n) === 1n;
const bit = (row: number, level: number): boolean => ((row >> level) & 1) === 1;
const variableTable = (level: number): Table => tableOf((row) => bit(row, level));

type Formula =
  | { readonly kind: "constant"; readonly value: boolean }
  | { readonly kind: "variable"; readonly level: number }
  | { readonly kind: "not"; readonly of: Formula }
  | { readonly kind: "and" | "or"; readonly left: Formula; readonly right: Formula }
  | { readonly kind: "ite"; readonly condition: Formula; readonly left: Formula; readonly right: Formula };

const { formula } = fc.letrec<{ formula: Formula }>((tie) => ({
  formula: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.record({ kind: fc.constant("variable" as const), level: fc.nat({ max: width - 1 }) }),
    fc.record({ kind: fc.constant("constant" as const), value: fc.boolean() }),
    fc.record({ kind: fc.constant("not" as const), of: tie("formula") }),
    fc.record({ kind: fc.constantFrom("and" as const, "or" as const), left: tie("formula"), right: tie("formula") }),
    fc.record({
      kind: fc.constant("ite" as const),
      condition: tie("formula"),
      left: tie("formula"),
      right: tie("formula"),
    }),
  ),
}));

function table(of: Formula): Table {
  switch (of.kind) {
    case "constant":
      return of.value ? all : 0n;
    case "variable":
      return variableTable(of.level);
    case "not":
      return ~table(of.of) & all;
    case "and":
      return table(of.left) & table(of.right);
    case "or":
      return table(of.left) | table(of.right);
    case "ite": {
      const condition = table(of.condition);
      return (condition & table(of.left)) | (~condition & all & table(of.right));
    }
  }
}

function node(diagram: Diagram, of: Formula): Node {
  switch (of.kind) {
    case "constant":
      return diagram.constant(of.value);
    case "variable":
      return diagram.variable(of.level);
    case "not":
      return diagram.not(node(diagram, of.of));
    case "and":
      return diagram.and(node(diagram, of.left), node(diagram, of.right));
    case "or":
      return diagram.or(node(diagram, of.left), node(diagram, of.right));
    case "ite":
      return diagram.ite(node(diagram, of.condition), node(diagram, of.left), node(diagram, of.right));
  }
}

const read = (diagram: Diagram, of: Node): Table => tableOf((row) => diagram.evaluate(of, (level) => bit(row, level)));

const law = (name: string, check: (diagram: Diagram, left: Formula, right: Formula) => void): void =>
  it(`law: ${name}`, () => {
    fc.assert(
      fc.property(formula, formula, (left, right) => check(new Diagram(100_000), left, right)),
      { numRuns: runs },
    );
  });

describe("a decision diagram is its truth table", () => {
  law("not, and, or and ite mean what they say", (diagram, left) => {
    expect(read(diagram, node(diagram, left))).toBe(table(left));
  });

  law("equal functions are equal numbers, and different ones are not", (diagram, left, right) => {
    expect(node(diagram, left) === node(diagram, right)).toBe(table(left) === table(right));
    const twice = diagram.or(node(diagram, left), node(diagram, left));
    expect(twice).toBe(node(diagram, left));
  });

  law("compose replaces variables by functions all at once", (diagram, left, right) => {
    const substitutes = new Map([
      [0, node(diagram, right)],
      [3, diagram.variable(0)],
      [4, diagram.not(diagram.variable(4))],
    ]);
    const replaced = table(right);
    const expected = tableOf((row) => {
      const moved = [at(replaced, row), bit(row, 1), bit(row, 2), bit(row, 0), !bit(row, 4), bit(row, 5)];
      return at(
        table(left),
        moved.reduce((sum, value, level) => sum + (value ? 1 << level : 0), 0),
      );
    });
    expect(read(diagram, diagram.compose(node(diagram, left), substitutes))).toBe(expected);
  });

  law("existsFrom forgets every variable from a level on", (diagram, left) => {
    for (const level of [0, 2, 5, width]) {
      const expected = tableOf((row) =>
        rows.some((other) => other % 2 ** level === row % 2 ** level && at(table(left), other)),
      );
      expect(read(diagram, diagram.existsFrom(node(diagram, left), level))).toBe(expected);
    }
  });

  law("support is the variables on which the value depends", (diagram, left) => {
    const levels = Array.from({ length: width }, (_, level) => level);
    const depends = levels.filter((level) =>
      rows.some((row) => at(table(left), row) !== at(table(left), row ^ (1 << level))),
    );
    expect(diagram.support(node(diagram, left))).toEqual(new Set(depends));
  });

  law("satisfy makes it true, and finds nothing only where nothing is", (diagram, left) => {
    const found = diagram.satisfy(node(diagram, left));
    expect(found === undefined).toBe(table(left) === 0n);
    if (found === undefined) return;
    expect(
      at(
        table(left),
        [...found].reduce((sum, level) => sum + (1 << level), 0),
      ),
    ).toBe(true);
  });

  law("the exported graph is the same function, ordered, reduced, children first", (diagram, left) => {
    const { nodes, root } = diagram.graph(node(diagram, left));
    const valueOf = (number: number, row: number): boolean => {
      if (number < 2) return number === 1;
      const [level = 0, low = 0, high = 0] = nodes[number - 2] ?? [];
      return valueOf(bit(row, level) ? high : low, row);
    };
    expect(tableOf((row) => valueOf(root, row))).toBe(table(left));
    nodes.forEach(([level, low, high], index) => {
      expect(low).not.toBe(high);
      for (const child of [low, high]) {
        expect(child).toBeLessThan(index + 2);
        if (child > 1) expect(nodes[child - 2]?.[0]).toBeGreaterThan(level);
      }
    });
    expect(new Set(nodes.map(String)).size).toBe(nodes.length);
  });
});

describe("growth and its end", () => {
  it("grows beyond its first tables without losing a node", () => {
    const diagram = new Diagram(100_000);
    // Pairs far apart in the order: a diagram that doubles with each pair.
    const pairs = Array.from({ length: 12 }, (_, n) => diagram.and(diagram.variable(n), diagram.variable(n + 12)));
    const some = pairs.reduce((left, right) => diagram.or(left, right), 0);
    expect(diagram.size).toBeGreaterThan(5_000);
    expect(diagram.exhausted).toBe(false);
    expect(diagram.evaluate(some, (level) => level === 5 || level === 17)).toBe(true);
    expect(diagram.evaluate(some, (level) => level === 5 || level === 18)).toBe(false);
    const again = pairs.reduceRight((left, right) => diagram.or(right, left), 0);
    expect(again).toBe(some);
  });

  it("says that it is exhausted instead of growing or hanging", () => {
    const diagram = new Diagram(50);
    const pairs = Array.from({ length: 20 }, (_, n) => diagram.and(diagram.variable(n), diagram.variable(n + 20)));
    pairs.reduce((left, right) => diagram.or(left, right), 0);
    expect(diagram.exhausted).toBe(true);
    expect(diagram.size).toBe(50);
  });

  it("law: an answer is only wrong where it is exhausted", () => {
    fc.assert(
      fc.property(formula, fc.integer({ min: 2, max: 20 }), (of, nodesMax) => {
        const diagram = new Diagram(nodesMax);
        const found = node(diagram, of);
        expect(diagram.exhausted || read(diagram, found) === table(of)).toBe(true);
        expect(diagram.size).toBeLessThanOrEqual(nodesMax);
      }),
      { numRuns: runs },
    );
  });
});
