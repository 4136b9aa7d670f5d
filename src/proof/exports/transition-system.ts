/**
 * The explored model as a plain transition system with descriptions, independent of the engine. It is the only input of
 * the exports.
 */
import type { Node } from "../prove/diagram.ts";
import type { Explored, ModelMove } from "../prove/fixpoint.ts";
import { choiceWords, moveWords, rulesOf, stateWords } from "./words.ts";

export type SystemVariable = { readonly name: string; readonly words: string };

export type SystemMove = {
  /** Descriptions, one for each kind of call that is the same step. */
  readonly words: readonly string[];
  /** Rules of the core that match one of them. */
  readonly rules: readonly string[];
  readonly kind: ModelMove["kind"];
  /** The first of them, for its name. */
  readonly move: ModelMove;
  readonly permitted: Node;
  readonly bad: Node;
  /** New values of the state variables that change, by level. */
  readonly next: ReadonlyMap<number, Node>;
};

export type TransitionSystem = {
  readonly explored: Explored;
  readonly hazard: string;
  /** Heading of the file: policy, hazard, core. */
  readonly about: readonly string[];
  readonly states: readonly (SystemVariable & { readonly initial: boolean })[];
  /** By level minus the number of state variables; only those that moves depend on. */
  readonly choices: ReadonlyMap<number, SystemVariable>;
  readonly moves: readonly SystemMove[];
  /** States from which a bad move can be reached, the complement of the invariant; undefined for a refuted model. */
  readonly unsafe: Node | undefined;
};

export function transitionSystem(explored: Explored): TransitionSystem {
  const { space, moves } = explored.model;
  const { diagram, question } = space;
  const words = stateWords(space);
  const unsafe = explored.layers.at(-1);
  const merged = mergedMoves(explored);
  const levels = new Set<number>();
  for (const { permitted, bad: wrong, next } of merged) {
    for (const node of [permitted, wrong, ...next.values()]) {
      for (const level of diagram.support(node)) if (level >= space.variables.length) levels.add(level);
    }
  }
  const choices = new Map<number, SystemVariable>();
  for (const level of [...levels].toSorted((left, right) => left - right)) {
    const name = space.choiceName(level) ?? String(level);
    choices.set(level, { name: `choose ${name}`, words: choiceWords(space, name) });
  }
  const { policy } = question.subject;
  const core = [...question.core].toSorted();
  return {
    explored,
    hazard: question.hazard.id,
    about: [
      `Hazard ${question.hazard.id} of the policy with digest ${policy.digest}.`,
      `Rules that restrict: ${core.length === 0 ? "none" : core.join(", ")}.`,
      question.ends.length === 1
        ? "Labels are upper bounds; a call that would need confirmation does not happen."
        : "Labels have two ends; every question is answered with yes.",
      `${moves.length} moves, of which ${merged.length} differ; ${space.variables.length} state variables.`,
    ],
    states: distinct(space.variables.map(({ name }) => name)).map((name, level) => ({
      name,
      initial: space.variables[level]?.initial === true,
      words: words[level] ?? name,
    })),
    choices,
    moves: merged,
    unsafe: explored.distance === undefined ? unsafe : undefined,
  };
}

/** With two ends of labels, variables may share a name, since names only show the upper ends. */
function distinct(names: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let found = name;
    // Each round is another name, and the names taken are finitely many.
    for (let count = 2; taken.has(found); count += 1) found = `${name} (${count})`;
    taken.add(found);
    return found;
  });
}

/** Moves that are the same step, as one. */
function mergedMoves({ model: { space, moves } }: Explored): readonly SystemMove[] {
  const found = new Map<string, SystemMove>();
  for (const move of moves) {
    const { permitted, bad, next } = move.step;
    const changes = [...next].toSorted(([left], [right]) => left - right);
    const key = [permitted, bad, ...changes.flat()].join(" ");
    const known = found.get(key);
    found.set(key, {
      words: [...new Set([...(known?.words ?? []), moveWords(space, move)])],
      rules: [...new Set([...(known?.rules ?? []), ...rulesOf(space.question, move)])],
      kind: known?.kind ?? move.kind,
      move: known?.move ?? move,
      permitted,
      bad,
      next: new Map(changes),
    });
  }
  return [...found.values()];
}

/** Words of a merged move on one line: its first kinds and how many more there are. */
export function moveTitle({ words, rules }: SystemMove): string {
  const shown = words.slice(0, titleWordsMax);
  const more = words.length > shown.length ? ` (or ${words.length - shown.length} more)` : "";
  return `${shown.join("; or ")}${more}${rules.length === 0 ? "" : `. Rules: ${rules.join(", ")}`}`;
}

const titleWordsMax = 2;
