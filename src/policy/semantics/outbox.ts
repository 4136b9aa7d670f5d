/**
 * Calls that wait in the outbox (formal.md 4.3, M4 `hold`). Each call of the agent that `after` matches waits until `by`
 * has succeeded in a call that was dispatched after it was asked for: an earlier success meets nothing, and one success
 * meets every call that waits then. Which came first is told by numbers, since two events may share an instant: dispatches
 * that could let a call go are counted, and a call that waits remembers the count at which it began to.
 */
import type { CallOption } from "../../core/moment.ts";
import { type Temporal, contractFor } from "../ir/ir.ts";
import type { Slot } from "./monitors.ts";
import { type Context, type PatternScene, matches, staticMatch } from "./patterns.ts";
import { type MonitorCell, type Q, keysOf } from "./state.ts";

/** A rule that keeps calls in the outbox. */
export type Holding = Extract<Temporal, { kind: "by-end" }> & { readonly action: "hold" };

export function holds(temporal: Temporal): temporal is Holding {
  return temporal.kind === "by-end" && temporal.action === "hold";
}

type Seen = { readonly context: Context<boolean>; readonly scene: PatternScene<boolean> };

/** Whether the success of a call could meet debts of calls, as far as its tool tells: its dispatch is numbered. */
export function mayMeet(slots: readonly Slot[], { contract, class: { truths } }: CallOption): boolean {
  return slots.some(
    ({ temporal }) =>
      temporal.kind === "by-end" &&
      temporal.action !== "report" &&
      staticMatch(temporal.by, contractFor(contract, truths), "permit", "hi"),
  );
}

/** The automaton of a key after the success of a call, of which `number` is that of its dispatch. */
export function lettingGo(
  { temporal }: Slot,
  cell: MonitorCell,
  number: number,
  { context, scene }: Seen,
): MonitorCell {
  if (!holds(temporal)) return cell;
  if (number <= (cell.metBy ?? 0) || !matches(context, temporal.by, "permit", scene)) return cell;
  return { ...cell, metBy: number };
}

/** A call that a rule keeps in the outbox: where in the history it began to wait. Undefined for one that it lets pass. */
export function holdOf(
  slot: Slot,
  { q, option, heldSince }: { readonly q: Q; readonly option: CallOption; readonly heldSince: number | undefined },
  { context, scene }: Seen,
): { readonly since: number } | undefined {
  const { temporal } = slot;
  if (!holds(temporal)) return undefined;
  if (!matches(context, temporal.after, "restrict", scene)) return undefined;
  const since = heldSince ?? q.dispatches;
  const keys = keysOf(slot, option);
  // A count beyond that of the run is of a history that was lost meanwhile: every success that is known came after it.
  const from = since > q.dispatches ? 0 : since;
  const isMet = (key: string): boolean => (q.monitors.hi[slot.index]?.get(key)?.metBy ?? 0) > from;
  const met = heldSince !== undefined && keys.length > 0 && keys.every(isMet);
  return met ? undefined : { since };
}
