/**
 * The dangers of a policy: for each hazard and each move that nobody decides, the states from which that move cannot bring
 * the hazard about. For hazards alone the winning set of the game is the intersection of these, so a risk that a person
 * accepts is simply a danger that is left out (formal.md 4.5).
 */
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import type { CompiledPolicy } from "../../policy/compile.ts";
import type { Hazard } from "../../policy/ir.ts";
import type { Slot } from "../../policy/monitors.ts";
import type { Node } from "../diagram.ts";
import type { Cost } from "../fixpoint.ts";
import { freshCost } from "../fixpoint.ts";
import type { Lookup } from "./lookup.ts";
import { makeLookup } from "./lookup.ts";
import { safetyArena } from "./safety-arena.ts";
import { solve } from "./solve.ts";

export type Danger = {
  readonly hazard: Hazard;
  /** `fire STORE GROUP`, `host.send` or `host.execute`. */
  readonly move: string;
  /** States from which the move cannot bring the hazard about, now or after others that nobody decides. */
  readonly winning: Node;
};

/** One hazard that something uncontrollable can bring about. */
export type Watch = {
  readonly hazard: Hazard;
  readonly dangers: readonly Danger[];
  readonly lookup: Lookup;
  /** Whether what a run holds matters to it; if not, a plain read cannot. */
  readonly looksAtHeld: boolean;
};

/** Watches of all hazards that are enforced and not accepted; none for those that only a call could bring about. */
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

/** A hazard that is only observed restricts nothing, and one that the operator accepts has left the game. */
export function inGame(policy: CompiledPolicy, { id, mode }: Hazard): boolean {
  return mode === "enforce" && policy.policy.mode !== "observe" && !policy.policy.accepts.includes(id);
}
