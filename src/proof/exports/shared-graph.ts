/** Several decision diagrams as one graph with shared nodes, for an export. */
import type { Diagram, Node } from "../prove/diagram.ts";

/** A node of the graph: 0 is false, 1 is true, n is `nodes[n - 2]`. Children come before their parents. */
export type Reference = number;

export type GraphNode = { readonly level: number; readonly low: Reference; readonly high: Reference };

export type SharedGraph = {
  readonly nodes: readonly GraphNode[];
  /** Adds the graph below a node of the diagram to this one. */
  readonly add: (root: Node) => Reference;
};

export function makeSharedGraph(diagram: Diagram): SharedGraph {
  const nodes: GraphNode[] = [];
  const roots = new Map<Node, Reference>();
  const unique = new Map<string, Reference>();
  const intern = (level: number, low: Reference, high: Reference): Reference => {
    const key = `${level} ${low} ${high}`;
    const known = unique.get(key) ?? nodes.push({ level, low, high }) + 1;
    unique.set(key, known);
    return known;
  };
  const add = (root: Node): Reference => {
    const known = roots.get(root);
    if (known !== undefined) return known;
    const graph = diagram.graph(root);
    const references = [0, 1];
    for (const [level, low, high] of graph.nodes) {
      references.push(intern(level, references[low] ?? 0, references[high] ?? 0));
    }
    const found = references[graph.root] ?? 0;
    roots.set(root, found);
    return found;
  };
  return { nodes, add };
}

/** The nodes grouped by level, last level first: nodes of one group never refer to each other. */
export function byLevel(nodes: readonly GraphNode[]): readonly (readonly (readonly [Reference, GraphNode])[])[] {
  const groups = new Map<number, [Reference, GraphNode][]>();
  nodes.forEach((node, index) => {
    const group = groups.get(node.level) ?? [];
    groups.set(node.level, group);
    group.push([index + 2, node]);
  });
  return [...groups].toSorted(([left], [right]) => right - left).map(([, group]) => group);
}
