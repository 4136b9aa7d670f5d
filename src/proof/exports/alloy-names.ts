/** Names in an Alloy specification, made from names in the policy: readable, and never more than an identifier. */
import type { ModelClass } from "../prove/classes.ts";
import type { ModelMove } from "../prove/fixpoint.ts";
import type { Space } from "../prove/space.ts";
import { identifiers } from "./names.ts";
import type { TransitionSystem } from "./transition-system.ts";

export type AlloyNames = {
  /** By level. `held` are the variables of held labels. */
  readonly facts: ReadonlyMap<number, { readonly name: string; readonly words: string; readonly held: boolean }>;
  readonly choices: ReadonlyMap<number, { readonly name: string; readonly words: string }>;
  /** Of the moves, in their order. */
  readonly moves: readonly string[];
};

export function alloyNames({ explored, states, choices, moves }: TransitionSystem): AlloyNames {
  const { space } = explored.model;
  const take = identifiers();
  const held = new Set(space.heldLevels);
  return {
    facts: new Map(
      states.map(({ words }, level) => [level, { name: take("Is", words), words, held: held.has(level) }] as const),
    ),
    choices: new Map(
      [...choices].map(([level, { name, words }]) => [
        level,
        { name: take("Chose", name.replace("choose", "")), words },
      ]),
    ),
    moves: moves.map(({ move }) => moveName(space, move, take)),
  };
}

function moveName(space: Space, move: ModelMove, take: (prefix: string, text: string) => string): string {
  switch (move.kind) {
    case "dispatch":
      return take("call", called(move.class));
    case "other":
      return take("other_run_calls", called(move.class));
    case "late":
    case "tick":
      return take(move.kind === "late" ? "late_success" : "time_passes", move.automaton.id);
    case "fire": {
      const { lattice, stores } = space.question.subject.policy.ir;
      return take("reads_on", `${lattice.groups[move.group] ?? ""} ${stores[move.store]?.name ?? ""}`);
    }
    case "host-read":
    case "host-send":
    case "host-execute":
      return take("client", move.kind.slice("host-".length));
    case "speak":
      return take("server", "speaks");
  }
}

function called({ variant: { contract } }: ModelClass): string {
  return `${contract.server} ${contract.tool}`;
}
