/**
 * One store as a game for the project's solver (formal.md 4.5): its data, its readers, and whether a job works from it.
 * The gateway has no move here, because every call can be refused; the others have three. An unattended job that a
 * stranger's text reaches does anything with the store, so it may open it first and be read later.
 */
import { held } from "../../oracles/foresight/embedded/held.ts";
import { Diagram } from "../../proof/prove/diagram.ts";
import type { Arena, Uncontrollable } from "../../proof/game/arena.ts";
import { solve } from "../../proof/game/solve.ts";

export type Store = {
  readonly content: number;
  /** Its other readers: none, one that the instruction named, or everyone. */
  readonly open: "nobody" | "named" | "everybody";
  readonly job: boolean;
};

/** Variables of the game, and where a store has them. */
const bits: readonly ((store: Store) => boolean)[] = [
  ({ content }) => (content & held.private) !== 0,
  ({ content }) => (content & held.secret) !== 0,
  ({ content }) => (content & held.untrusted) !== 0,
  ({ open }) => open !== "nobody",
  ({ open }) => open === "everybody",
  ({ job }) => job,
];

const nodesMax = 10_000;

/** The arena: everyone reads, the named reader reads, the job runs. */
function storeArena(diagram: Diagram): Arena {
  const isPrivate = diagram.variable(0);
  const secret = diagram.variable(1);
  const untrusted = diagram.variable(2);
  const named = diagram.variable(3);
  const everybody = diagram.variable(4);
  const job = diagram.variable(5);
  const steered = diagram.and(job, untrusted);
  const move = (name: string, possible: number, bad: number, next: ReadonlyMap<number, number>): Uncontrollable => ({
    name,
    possible,
    bad: { never: bad, may: 0 },
    next,
  });
  return {
    diagram,
    stateCount: bits.length,
    rounds: [],
    uncontrollable: [
      move("everybody reads", everybody, diagram.or(isPrivate, secret), new Map()),
      move("the named reader reads", named, secret, new Map()),
      // A controlled job does harm even with an empty store: it acts in the user's name.
      move("the job runs", job, untrusted, new Map([[4, diagram.or(everybody, steered)]])),
    ],
    goals: [],
    domain: 1,
  };
}

let solved: { readonly diagram: Diagram; readonly winning: number } | undefined;

/** True iff no uncontrollable move can do harm through this store, now or later. */
export function storeIsSafe(store: Store): boolean {
  solved ??= solveOnce();
  return solved.diagram.evaluate(solved.winning, (level) => bits[level]?.(store) ?? false);
}

function solveOnce(): { readonly diagram: Diagram; readonly winning: number } {
  const diagram = new Diagram(nodesMax);
  const solution = solve(storeArena(diagram), "all");
  if (!solution.ok) throw new Error(solution.error);
  return { diagram, winning: solution.value.winning };
}
