/**
 * The dangers of a policy: for each hazard and each uncontrollable move, the states from which that move cannot cause
 * the hazard. For hazards alone the winning set of the game is the intersection of these, so an accepted risk is a
 * danger that is left out (formal.md 4.5).
 */
import { type Result, err, ok } from "../../core/result.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import type { Hazard } from "../../policy/ir/ir.ts";
import type { Slot } from "../../policy/semantics/monitors.ts";
import type { Node } from "../prove/diagram.ts";
import { type Cost, freshCost } from "../prove/fixpoint.ts";
import { type Lookup, makeLookup } from "./lookup.ts";
import { safetyArena } from "./safety-arena.ts";
import { solve } from "./solve.ts";

export type Danger = {
  readonly hazard: Hazard;
  /** `fire STORE GROUP`, `host.send` or `host.execute`. */
  readonly move: string;
  /** States from which the move cannot cause the hazard, now or after other uncontrollable moves. */
  readonly winning: Node;
};

/** One hazard that an uncontrollable move can cause. */
export type Watch = {
  readonly hazard: Hazard;
  readonly dangers: readonly Danger[];
  readonly lookup: Lookup;
  /** Whether it depends on the held labels; if not, a plain read cannot matter. */
  readonly looksAtHeld: boolean;
};

/** Watches of all hazards that are enforced and not accepted; none for those that only a call could cause. */
export function watchesOf(
  policy: CompiledPolicy,
  slots: readonly Slot[],
  cost: () => Cost = freshCost,
): Result<readonly Watch[], string> {
  const watches: Watch[] = [];
  for (const hazard of policy.ir.hazards) {
    if (!inGame(policy, hazard)) continue;
    const { space, arena } = safetyArena(policy, hazard, cost());
    const dangers: Danger[] = [];
    const harmful = arena.uncontrollable.filter(({ bad }) => bad.never !== 0 || bad.may !== 0);
    for (const one of harmful) {
      const others = arena.uncontrollable.map((move) => (move === one ? move : { ...move, bad: { never: 0, may: 0 } }));
      const solved = solve({ ...arena, uncontrollable: others }, "all");
      if (!solved.ok) return err(`hazard \`${hazard.id}\`: ${solved.error}`);
      const { winning } = solved.value;
      if (winning !== 1) dangers.push({ hazard, move: one.name, winning });
    }
    if (dangers.length === 0) continue;
    const levels = new Set(dangers.flatMap(({ winning }) => [...space.diagram.support(winning)]));
    const looksAtHeld = space.heldLevels.some((level) => levels.has(level));
    watches.push({ hazard, dangers, lookup: makeLookup(space, slots), looksAtHeld });
  }
  return ok(watches);
}

/** A hazard in observe mode restricts nothing, and one in `accepts` is not part of the game. */
export function inGame(policy: CompiledPolicy, { id, mode }: Hazard): boolean {
  return mode === "enforce" && policy.policy.mode !== "observe" && !policy.policy.accepts.includes(id);
}
