/**
 * The states from which a bad move can be reached, as the least fixpoint backward from the bad moves (formal.md 4.4).
 * All updates are functions, so a step backward is a substitution; layers keep the distance, so a path to the nearest
 * bad move is a shortest one.
 */
import { type Result, err, ok } from "../../core/result.ts";
import { type ModelClass, makeClasses } from "./classes.ts";
import { monitorWidth } from "../../policy/semantics/monitors.ts";
import { Diagram, type Effort, type Node } from "./diagram.ts";
import { otherDispatch, ownDispatch, type Step } from "./dispatch.ts";
import { type EnvironmentMove, environment } from "./environment.ts";
import { diagramNodesMax, diagramStepsMax, layersMax, stateVariablesMax } from "./limits.ts";
import { type Space, makeSpace, otherView, ownView } from "./space.ts";
import type { Question } from "./subject.ts";
import type { Variants } from "./variants.ts";

/** The moves of the model, in the order in which a counterexample prefers them. */
export type ModelMove =
  | { readonly kind: "dispatch"; readonly class: ModelClass; readonly step: Step }
  | EnvironmentMove
  | { readonly kind: "other"; readonly class: ModelClass; readonly step: Step };

export type Model = { readonly space: Space; readonly moves: readonly ModelMove[] };

export type Explored = {
  readonly model: Model;
  /** layers[n]: states from which a bad move can happen within n + 1 moves. */
  readonly layers: readonly Node[];
  /** Moves to the nearest bad one from the start, itself included; undefined if none can be reached. */
  readonly distance: number | undefined;
};

/** Budget of all models of one hazard together: nodes of a diagram, and steps. */
export type Cost = { readonly nodesMax: number; readonly effort: Effort };

export function freshCost(): Cost {
  return { nodesMax: diagramNodesMax, effort: { left: diagramStepsMax } };
}

export function makeModel(question: Question, variants: Variants, cost: Cost = freshCost()): Result<Model, string> {
  const wide = stateWidth(question);
  if (wide > stateVariablesMax) {
    return err(
      `hazard \`${question.hazard.id}\` and its rules count to more than the limit of ${stateVariablesMax} bits of state: use smaller numbers`,
    );
  }
  const space = makeSpace(question, variants.outputs, new Diagram(cost.nodesMax, cost.effort));
  const classes = makeClasses(space, variants);
  if (!classes.ok) return classes;
  const own = ownView(space);
  const dispatches = classes.value.map((one): ModelMove => ({
    kind: "dispatch",
    class: one,
    step: ownDispatch(space, own, one),
  }));
  const acting = classes.value.filter(
    ({ variant: { contract } }) => contract.writes.length + contract.opens.length > 0,
  );
  const other = acting.length === 0 ? own : otherView(space);
  const others = acting
    .map((one): ModelMove => ({ kind: "other", class: one, step: otherDispatch(space, other, one) }))
    .filter(({ step }) => step.next.size > 0);
  const moves = [...dispatches, ...environment(space, own), ...others].filter(({ step }) => step.permitted !== 0);
  return space.diagram.exhausted ? tooLarge(question) : ok({ space, moves });
}

/** Bits of all automata at all ends; labels and stores are few. */
export function stateWidth({ automata, ends }: Question): number {
  return ends.length * automata.reduce((sum, { temporal }) => sum + monitorWidth(temporal), 0);
}

/** The refusal of a question that needs more than a diagram may have. */
export function tooLarge(question: Question): Result<never, string> {
  return err(
    `hazard \`${question.hazard.id}\` needs more than the limit of ${diagramNodesMax} nodes or ${diagramStepsMax} steps of a decision diagram: split the policy, or drop categories, stores or counters`,
  );
}

/** Explores until the start is reached or nothing is left. */
export function explore(model: Model): Result<Explored, string> {
  const { space, moves } = model;
  const { diagram, question } = space;
  const stateCount = space.variables.length;
  const forget = (node: Node): Node => diagram.existsFrom(node, stateCount);
  const start = (level: number): boolean => space.variables[level]?.initial === true;
  let reached = moves.reduce((all, { step }) => diagram.or(all, forget(step.bad)), 0);
  const layers = [reached];
  const stepping = distinctSteps(moves);
  while (!diagram.evaluate(reached, start)) {
    const before = reached;
    for (const step of stepping) {
      if (diagram.exhausted) break;
      reached = diagram.or(reached, predecessors(space, step, before));
    }
    if (diagram.exhausted || layers.length >= layersMax) return tooLarge(question);
    if (reached === before) return ok({ model, layers, distance: undefined });
    layers.push(reached);
  }
  return diagram.exhausted ? tooLarge(question) : ok({ model, layers, distance: layers.length });
}

/** States from which the step can lead into the target. */
export function predecessors(space: Space, step: Step, target: Node): Node {
  const { diagram } = space;
  const support = diagram.support(target);
  // A step that changes no variable of the target leads into it only from within.
  if (![...step.next.keys()].some((level) => support.has(level))) return 0;
  return diagram.existsFrom(diagram.and(step.permitted, diagram.compose(target, step.next)), space.variables.length);
}

function distinctSteps(moves: readonly ModelMove[]): readonly Step[] {
  const found = new Map<string, Step>();
  for (const { step } of moves) {
    if (step.next.size === 0) continue;
    found.set(`${step.permitted} ${[...step.next].flat().join(" ")}`, step);
  }
  return [...found.values()];
}
