/**
 * The explored model as an Alloy 6 specification: facts that change over time, one predicate for each move, and the
 * assertion that no bad move ever happens (docs/exports.md). It is the same transition system as in the SMT-LIB export,
 * but Alloy searches it forward from the start and does not use the invariant.
 */
import type { Node } from "../prove/diagram.ts";
import type { Explored } from "../prove/fixpoint.ts";
import { alloyNames, type AlloyNames } from "./alloy-names.ts";
import { commentText } from "./names.ts";
import { type GraphNode, type Reference, type SharedGraph, makeSharedGraph } from "./shared-graph.ts";
import { type SystemMove, type TransitionSystem, moveTitle, transitionSystem } from "./transition-system.ts";

type Model = { readonly system: TransitionSystem; readonly names: AlloyNames; readonly graph: SharedGraph };

export function alloyOf(explored: Explored): string {
  const system = transitionSystem(explored);
  const names = alloyNames(system);
  const model: Model = { system, names, graph: makeSharedGraph(explored.model.space.diagram) };
  // Moves first: they put the nodes that they need into the graph.
  const moves = system.moves.flatMap((move, index) => moveLines(model, move, names.moves[index] ?? ""));
  const claims = claimLines(model);
  return [
    ...system.about.map((line) => comment(line)),
    "",
    ...signatures("Fact", "True", "What is true between two moves.", [...names.facts.values()]),
    ...signatures("Choice", "Chosen", "What an agent, a server or time settles in one move.", [
      ...names.choices.values(),
    ]),
    comment("Decisions that moves share."),
    ...model.graph.nodes.map((node, index) => `pred n${index + 2} { ${decision(model, node)} }`),
    "",
    ...moves,
    ...claims,
    "",
  ].join("\n");
}

function comment(text: string): string {
  return `// ${commentText(text)}`;
}

type Named = { readonly name: string; readonly words: string };

/** One constant for each variable, and the set of those that hold now. */
function signatures(kind: string, set: string, what: string, named: readonly Named[]): readonly string[] {
  return [
    comment(what),
    `abstract sig ${kind} {}`,
    ...named.map(({ name, words }) => `one sig ${name} extends ${kind} {} ${comment(words)}`),
    `var sig ${set} in ${kind} {}`,
    "",
  ];
}

function term({ system, names, graph }: Model, reference: Reference): string {
  const node = graph.nodes[reference - 2];
  if (node === undefined) return reference === 1 ? "no none" : "some none";
  return node.low === 0 && node.high === 1 ? asked({ system, names }, node.level) : `n${reference}`;
}

function asked({ system, names }: Pick<Model, "system" | "names">, level: number): string {
  const fact = level < system.states.length;
  return fact ? `${names.facts.get(level)?.name ?? ""} in True` : `${names.choices.get(level)?.name ?? ""} in Chosen`;
}

/** If-then-else, shorter where a branch is a constant. */
function decision(model: Model, { level, low, high }: GraphNode): string {
  const condition = asked(model, level);
  const [whenTrue, whenFalse] = [term(model, high), term(model, low)];
  if (low === 0) return high === 1 ? condition : `${condition} and ${whenTrue}`;
  if (high === 1) return `${condition} or ${whenFalse}`;
  if (high === 0) return low === 1 ? `not (${condition})` : `not (${condition}) and ${whenFalse}`;
  if (low === 1) return `${condition} implies ${whenTrue}`;
  return `(${condition} and ${whenTrue}) or (not (${condition}) and ${whenFalse})`;
}

function moveLines(model: Model, move: SystemMove, name: string): readonly string[] {
  const { names, graph } = model;
  const at = (node: Node): string => term(model, graph.add(node));
  const changed = [...move.next.keys()].map((level) => names.facts.get(level)?.name ?? "");
  const rest = changed.length === 0 ? "" : ` - (${changed.join(" + ")})`;
  const values = [...move.next].map(
    ([level, node]) => `${names.facts.get(level)?.name ?? ""} in True' iff (${at(node)})`,
  );
  const lines = [...(move.permitted === 1 ? [] : [at(move.permitted)]), ...values, `True'${rest} = True${rest}`];
  return [comment(moveTitle(move)), `pred ${name} {`, ...lines.map((line) => `  ${line}`), "}", ""];
}

function claimLines(model: Model): readonly string[] {
  const { system, names, graph } = model;
  const { explored, states, moves } = system;
  const initial = states.flatMap(({ initial: holds }, level) => (holds ? (names.facts.get(level)?.name ?? "") : []));
  const wrong = moves.filter(({ bad }) => bad !== 0).map(({ bad }) => `(${term(model, graph.add(bad))})`);
  const calls = names.moves.filter((_, index) => moves[index]?.kind === "dispatch");
  const held = [...names.facts.values()].filter(({ held: holding }) => holding).map(({ name }) => name);
  const proved = explored.distance === undefined;
  const steps = Math.max(stepsMin, explored.distance ?? 0);
  return [
    comment("The start of a run."),
    `fact Start { ${initial.length === 0 ? "no True" : `True = ${initial.join(" + ")}`} }`,
    "",
    comment("Something moves, or nothing does: time goes on after the last move, too."),
    "fact Traces {",
    `  always (${[...names.moves, "True' = True"].join(" or\n    ")})`,
    "}",
    "",
    comment(`Moves that are permitted and bring about ${system.hazard}.`),
    `pred Bad { ${disjunction(wrong)} }`,
    "",
    "assert NeverBad { always not Bad }",
    comment(
      "For traces of any length, leave out the second number and choose one of the model checkers as the solver.",
    ),
    `check NeverBad for 1 but 1..${steps} steps expect ${proved ? 0 : 1}`,
    "",
    comment(
      "Usefulness: what is not forbidden can still be done; shows a run that holds something and calls something.",
    ),
    `pred Useful { eventually (${held.length === 0 ? "" : `some (True & (${held.join(" + ")})) and `}(${disjunction(calls)})) }`,
    `run Useful for 1 but 1..${steps} steps`,
  ];
}

/** States of a trace that Alloy tries at least; shortest counterexamples of real policies have two or three. */
const stepsMin = 10;

function disjunction(terms: readonly string[]): string {
  return terms.length === 0 ? "some none" : terms.join(" or ");
}
