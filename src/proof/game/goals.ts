/** Debts and firm keeps at run time: whether each can still be met from a state, whatever a person has accepted. */
import type { ToolContract } from "../../core/contract.ts";
import type { Result } from "../../core/result.ts";
import { ok } from "../../core/result.ts";
import type { CompiledPolicy } from "../../policy/compile.ts";
import type { ToolSelector } from "../../policy/ir.ts";
import type { Slot } from "../../policy/monitors.ts";
import type { Node } from "../diagram.ts";
import type { Cost } from "../fixpoint.ts";
import { freshCost } from "../fixpoint.ts";
import { goalArena } from "./goal-arena.ts";
import type { Look, Lookup } from "./lookup.ts";
import { makeLookup } from "./lookup.ts";
import { solve } from "./solve.ts";

/** Goals that are out of reach; `consentable` if only what a person may consent to stands in the way. */
export type Lost = { readonly names: readonly string[]; readonly consentable: boolean };

export type GoalGame = {
  /** Empty where everything can still be met. */
  readonly lost: (look: Look, accepted: ReadonlySet<string>) => readonly Lost[];
};

export type GoalsRequest = {
  readonly policy: CompiledPolicy;
  readonly slots: readonly Slot[];
  readonly contracts: readonly ToolContract[];
  readonly keeps: readonly ToolSelector[];
  /** What one solution may cost; the limits of a proof unless said otherwise. */
  readonly cost?: () => Cost;
};

type Solved = {
  readonly names: readonly string[];
  readonly lookup: Lookup;
  readonly all: Node;
  readonly never: Node;
};

/** Sets of accepted risks whose solutions are kept; a person accepts a few at most. */
const acceptedSetsMax = 64;

/** The game for what the policy owes and keeps; undefined where it has neither. The error names a limit. */
export function makeGoals(request: GoalsRequest): Result<GoalGame | undefined, string> {
  const owes = request.policy.ir.rules.some(
    (rule) => rule.mode === "enforce" && rule.kind === "temporal" && rule.temporal.kind === "owed",
  );
  if (request.policy.policy.mode === "observe" || (!owes && request.keeps.length === 0)) return ok(undefined);
  const first = solvedFor(request, new Set());
  if (!first.ok) return first;
  const known = new Map<string, Solved | undefined>();
  const solvedWith = (accepted: ReadonlySet<string>): Solved | undefined => {
    if (accepted.size === 0) return first.value;
    const key = [...accepted].toSorted().join("\n");
    const solved = known.has(key) ? known.get(key) : later(request, accepted);
    // The one that nobody has asked for longest goes: solving anew at every call would stop the gateway.
    known.delete(key);
    known.set(key, solved);
    const oldest = known.size > acceptedSetsMax ? known.keys().next() : undefined;
    if (oldest?.done === false) known.delete(oldest.value);
    return solved;
  };
  return ok({
    lost: (look, accepted) => {
      const solved = solvedWith(accepted);
      // What cannot be solved any more counts as lost: nothing is permitted on a guess.
      if (solved === undefined) return [{ names: first.value.names, consentable: false }];
      if (solved.lookup(solved.all, look)) return [];
      return [{ names: solved.names, consentable: solved.lookup(solved.never, look) }];
    },
  });
}

function later(request: GoalsRequest, accepted: ReadonlySet<string>): Solved | undefined {
  const found = solvedFor(request, accepted);
  return found.ok ? found.value : undefined;
}

function solvedFor(
  { policy, slots, contracts, keeps, cost = freshCost }: GoalsRequest,
  accepted: ReadonlySet<string>,
): Result<Solved, string> {
  const made = goalArena({ policy, contracts, keeps, accepted, cost: cost() });
  if (!made.ok) return made;
  const { space, arena } = made.value;
  const all = solve(arena, "all");
  if (!all.ok) return all;
  const never = solve(arena, "never");
  if (!never.ok) return never;
  return ok({
    names: arena.goals.map(({ name }) => name),
    lookup: makeLookup(space, slots),
    all: all.value.winning,
    never: never.value.winning,
  });
}
