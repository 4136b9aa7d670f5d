/** A shortest path from the start to a bad move, read back from the layers of the fixpoint: moves and their choices. */
import type { Node } from "./diagram.ts";
import type { Explored, Model, ModelMove } from "./fixpoint.ts";

/** One move of a path, with its choices by name. */
export type Chosen = { readonly move: ModelMove; readonly choices: ReadonlySet<string> };

type State = readonly boolean[];

/** The moves of a shortest path; the last one is bad. Undefined where no bad move can be reached. */
export function shortestPath({ model, layers, distance }: Explored): readonly Chosen[] | undefined {
  if (distance === undefined) return undefined;
  let state: State = model.space.variables.map((variable) => variable.initial);
  const path: Chosen[] = [];
  for (let layer = distance - 2; layer >= 0; layer -= 1) {
    const chosen = moveInto(model, state, layers[layer] ?? 0);
    if (chosen === undefined) return undefined;
    path.push(chosen.chosen);
    state = chosen.after;
  }
  const last = firstChoice(model, state, (move) => move.step.bad);
  return last === undefined ? undefined : [...path, last];
}

function moveInto(
  model: Model,
  state: State,
  target: Node,
): { readonly chosen: Chosen; readonly after: State } | undefined {
  const { diagram } = model.space;
  const chosen = firstChoice(model, state, ({ step }) =>
    diagram.and(step.permitted, diagram.compose(target, step.next)),
  );
  if (chosen === undefined) return undefined;
  const { choices } = chosen;
  const { step } = chosen.move;
  const value = (level: number): boolean => {
    const name = model.space.choiceName(level);
    return name === undefined ? state[level] === true : choices.has(name);
  };
  return { chosen, after: state.map((before, level) => next(model, step.next.get(level), before, value)) };
}

function next(model: Model, node: Node | undefined, before: boolean, value: (level: number) => boolean): boolean {
  return node === undefined ? before : model.space.diagram.evaluate(node, value);
}

/** The first move, in their order, whose condition holds in the state for some choices; as few of them as possible. */
function firstChoice(model: Model, state: State, condition: (move: ModelMove) => Node): Chosen | undefined {
  const { diagram, choiceName } = model.space;
  const fixed = new Map(state.map((value, level) => [level, diagram.constant(value)]));
  for (const move of model.moves) {
    const possible = diagram.satisfy(diagram.compose(condition(move), fixed));
    if (possible === undefined) continue;
    return { move, choices: new Set([...possible].flatMap((level) => choiceName(level) ?? [])) };
  }
  return undefined;
}
