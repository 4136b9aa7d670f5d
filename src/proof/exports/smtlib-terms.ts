/** Terms of SMT-LIB 2 from decision diagrams: shared nodes become names bound by `let`, one group for each variable. */
import type { Diagram, Node } from "../prove/diagram.ts";
import { commentText } from "./names.ts";
import { type GraphNode, type Reference, byLevel, makeSharedGraph } from "./shared-graph.ts";

export type Terms = {
  /** The term for a node: its bound name, or a term that is as short. */
  readonly of: (root: Node) => string;
  /** The body inside the bindings of all requested nodes. */
  readonly around: (body: string) => string;
};

/** Terms over one shared graph. `variable` gives the symbol of a level. */
export function makeTerms(diagram: Diagram, variable: (level: number) => string): Terms {
  const graph = makeSharedGraph(diagram);
  const term = (reference: Reference): string => {
    const node = graph.nodes[reference - 2];
    if (node === undefined) return reference === 1 ? "true" : "false";
    return isVariable(node) ? variable(node.level) : `n${reference}`;
  };
  const around = (body: string): string => {
    const groups = byLevel(graph.nodes).flatMap((group) => {
      const named = group.filter(([, node]) => !isVariable(node));
      return named.length === 0 ? [] : [named];
    });
    const lines = groups.map((group) => {
      const bindings = group.map(([reference, { level, low, high }]) => {
        const decided = decision(variable(level), { low: term(low), high: term(high) });
        // A name of ours is never quoted and starts with n and a digit, so it hides none of the policy.
        return `(n${reference} ${decided})`;
      });
      return `  (let (${bindings.join(" ")})`;
    });
    return [...lines, body + ")".repeat(groups.length)].join("\n");
  };
  return { of: (root) => term(graph.add(root)), around };
}

function isVariable({ low, high }: GraphNode): boolean {
  return low === 0 && high === 1;
}

/** If-then-else, shorter where a branch is a constant. */
function decision(variable: string, { low, high }: { readonly low: string; readonly high: string }): string {
  if (high === "false") return low === "true" ? `(not ${variable})` : `(and (not ${variable}) ${low})`;
  if (low === "false") return `(and ${variable} ${high})`;
  if (high === "true") return `(or ${variable} ${low})`;
  if (low === "true") return `(=> ${variable} ${high})`;
  return `(ite ${variable} ${high} ${low})`;
}

export function conjunction(terms: readonly string[]): string {
  return terms.length === 0 ? "true" : terms.length === 1 ? (terms[0] ?? "true") : `(and ${terms.join(" ")})`;
}

/** Alternatives, each below a line that describes it. */
export function alternatives(parts: readonly { readonly title: string; readonly term: string }[]): string {
  const lines = parts.flatMap(({ title, term }) => [comment(title, "   "), `   ${term}`]);
  const [first] = parts;
  if (first === undefined) return "   false";
  return parts.length === 1 ? lines.join("\n") : ["  (or", ...lines, "  )"].join("\n");
}

export function comment(text: string, indent = ""): string {
  return `${indent}; ${commentText(text)}`;
}
