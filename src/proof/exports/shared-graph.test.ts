import { expect, it } from "vitest";
import { Diagram } from "../prove/diagram.ts";
import { byLevel, makeSharedGraph } from "./shared-graph.ts";

it("what two diagrams have in common stands once, children before parents", () => {
  const diagram = new Diagram(1_000);
  const [a, b, c] = [0, 1, 2].map((level) => diagram.variable(level));
  const both = diagram.and(b ?? 0, c ?? 0);
  const graph = makeSharedGraph(diagram);
  expect([graph.add(0), graph.add(1)]).toEqual([0, 1]);
  expect(graph.add(both)).toBe(3);
  expect(graph.add(diagram.or(a ?? 0, both))).toBe(4);
  expect(graph.add(both)).toBe(3);
  expect(graph.nodes).toEqual([
    { level: 2, low: 0, high: 1 },
    { level: 1, low: 0, high: 2 },
    { level: 0, low: 3, high: 1 },
  ]);
  expect(byLevel(graph.nodes).map((group) => group.map(([reference]) => reference))).toEqual([[2], [3], [4]]);
});
