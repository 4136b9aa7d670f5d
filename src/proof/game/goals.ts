/** Debts and firm keeps at run time: tests whether each can still be met from a state, given the accepted risks. */
import { BoundedMap } from "../../core/bounded-map.ts";
import type { ToolContract } from "../../core/contract.ts";
import { type Result, ok } from "../../core/result.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import type { ToolSelector } from "../../policy/ir/ir.ts";
import type { Slot } from "../../policy/semantics/monitors.ts";
import type { Node } from "../prove/diagram.ts";
import { type Cost, freshCost } from "../prove/fixpoint.ts";
import { goalArena } from "./goal-arena.ts";
import { type Look, type Lookup, makeLookup } from "./lookup.ts";
import { solve } from "./solve.ts";

/** Goals that are out of reach; `consentable` if only hazards with `consent: may` prevent them. */
export type Lost = { readonly names: readonly string[]; readonly consentable: boolean };

export type GoalGame = {
  /** Empty where every goal can still be met. */
  readonly lost: (look: Look, accepted: ReadonlySet<string>) => readonly Lost[];
};

export type GoalsRequest = {
  readonly policy: CompiledPolicy;
  readonly slots: readonly Slot[];
  readonly contracts: readonly ToolContract[];
  readonly keeps: readonly ToolSelector[];
  /** Budget of one solution; by default the limits of a proof. */
  readonly cost?: () => Cost;
};

type Solved = {
  readonly names: readonly string[];
  readonly lookup: Lookup;
  readonly all: Node;
  readonly never: Node;
};

/** Cached solutions, one for each set of accepted risks; users accept few. */
const acceptedSetsMax = 64;

/** The game for debts and firm keeps of a policy; undefined where it has neither. The error names a limit. */
export function makeGoals(request: GoalsRequest): Result<GoalGame | undefined, string> {
  const owes = request.policy.ir.rules.some(
    (rule) => rule.mode === "enforce" && rule.kind === "temporal" && rule.temporal.kind === "owed",
  );
  if (request.policy.policy.mode === "observe" || (!owes && request.keeps.length === 0)) return ok(undefined);
  const first = solvedFor(request, new Set());
  if (!first.ok) return first;
  const known = new BoundedMap<string, Solved | undefined>(acceptedSetsMax);
  const solvedWith = (accepted: ReadonlySet<string>): Solved | undefined => {
    if (accepted.size === 0) return first.value;
    const key = [...accepted].toSorted().join("\n");
    const solved = known.has(key) ? known.get(key) : later(request, accepted);
    // Evicts the least recently used solution: solving again at every call would stop the gateway.
    known.set(key, solved);
    return solved;
  };
  return ok({
    lost: (look, accepted) => {
      const solved = solvedWith(accepted);
      // A goal without a solution counts as lost, so no call is permitted on a guess.
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
