/**
 * Temporal rules as automata of a few bits, over any Boolean algebra (formal.md 4.3).
 *
 * Moves that restrict (arming, counting, debts) happen at dispatch, moves that unlock (success, discharge) at
 * settlement, so that calls which overlap see the stricter of the two worlds. One automaton follows one key; time
 * enters as a tick outside of this file, which may take a permission away or end a lock.
 */
import { type Vector, some } from "../ir/algebra.ts";
import type { Ir, Pattern, Temporal } from "../ir/ir.ts";
import type { Tier } from "../document/shapes-rules.ts";
import { type Context, type PatternScene, matches } from "./patterns.ts";

/** One automaton of the policy: a temporal rule, or a temporal hazard. */
export type Slot = {
  readonly id: string;
  /** Its place in every state. */
  readonly index: number;
  readonly temporal: Temporal;
  readonly owner: "rule" | "hazard";
  readonly tier: Tier;
  readonly mode: "enforce" | "observe";
};

/** All automata in a fixed order: rules first, then hazards. */
export function slotsOf(ir: Ir): readonly Slot[] {
  const slots: Slot[] = [];
  for (const rule of ir.rules) {
    if (rule.kind !== "temporal") continue;
    const { id, temporal, tier, mode } = rule;
    slots.push({ id, index: slots.length, temporal, owner: "rule", tier, mode });
  }
  for (const hazard of ir.hazards) {
    if (hazard.kind !== "temporal") continue;
    const { id, temporal, mode } = hazard;
    slots.push({ id, index: slots.length, temporal, owner: "hazard", tier: "block", mode });
  }
  return slots;
}

/** Every pattern of a temporal rule: what it arms on, forbids, needs. */
export function patternsOf(temporal: Temporal): readonly Pattern[] {
  switch (temporal.kind) {
    case "gate":
      return [temporal.before, temporal.need, ...(temporal.relock === undefined ? [] : [temporal.relock])];
    case "absence":
      return [temporal.after, temporal.never, ...(temporal.until === undefined ? [] : [temporal.until])];
    case "at-most":
    case "budget":
      return [temporal.of];
    case "immediately":
      return [temporal.before, temporal.need];
    case "owed":
      return [temporal.after, temporal.owe, ...(temporal.before === undefined ? [] : [temporal.before])];
    case "inject":
      return [temporal.before];
    case "by-end":
      return [temporal.after, temporal.by];
  }
}

/** The call after which a temporal rule no longer refuses, or no longer demands; undefined where there is none. */
export function unlockingOf(temporal: Temporal): Pattern | undefined {
  switch (temporal.kind) {
    case "gate":
    case "immediately":
      return temporal.need;
    case "absence":
      return temporal.until;
    case "owed":
      return temporal.owe;
    case "by-end":
      return temporal.by;
    case "at-most":
    case "budget":
    case "inject":
      return undefined;
  }
}

/** Bits of an automaton. Counters are thermometers: bit i = "at least i+1". */
export function monitorWidth(temporal: Temporal): number {
  switch (temporal.kind) {
    case "gate":
    case "absence":
    case "immediately":
      return 1;
    case "by-end":
      return 2;
    case "at-most":
      return temporal.count;
    case "owed":
      return 1 + Math.max(0, (temporal.within ?? 1) - 1);
    case "budget":
    case "inject":
      return 0;
  }
}

const bit = <B>(context: Context<B>, bits: Vector<B>, index: number): B =>
  bits[index] ?? context.algebra.constant(false);

/** The automaton refuses (or asks about) this dispatch. `fits` is what a budget's exact sum says at run time. */
export function monitorFires<B>(
  context: Context<B>,
  temporal: Temporal,
  bits: Vector<B>,
  scene: PatternScene<B> & { readonly fits: B },
): B {
  const { algebra } = context;
  const restricts = (pattern: Parameters<typeof matches>[1]): B => matches(context, pattern, "restrict", scene);
  switch (temporal.kind) {
    case "gate":
    case "immediately":
      return algebra.and(restricts(temporal.before), algebra.not(bit(context, bits, 0)));
    case "absence":
      return algebra.and(restricts(temporal.never), bit(context, bits, 0));
    case "at-most":
      // A count of nothing has no bit that could be full: it refuses the first call.
      return algebra.and(
        restricts(temporal.of),
        temporal.count === 0 ? algebra.constant(true) : bit(context, bits, temporal.count - 1),
      );
    case "budget":
      return algebra.and(restricts(temporal.of), algebra.not(scene.fits));
    case "owed": {
      const exempt = matches(context, temporal.owe, "permit", scene);
      const other = algebra.and(algebra.constant(scene.move.contract.consequential), algebra.not(exempt));
      const used = temporal.within === undefined ? algebra.constant(false) : lastUsed(context, temporal.within, bits);
      const sink = temporal.before === undefined ? algebra.constant(false) : restricts(temporal.before);
      return algebra.and(bit(context, bits, 0), algebra.and(other, algebra.or(used, sink)));
    }
    case "inject":
    case "by-end":
      return algebra.constant(false);
  }
}

function lastUsed<B>(context: Context<B>, within: number, bits: Vector<B>): B {
  return within <= 1 ? context.algebra.constant(true) : bit(context, bits, within - 1);
}

/** The automaton after a dispatch was permitted: it arms, counts, relocks, goes into debt. */
export function monitorDispatched<B>(
  context: Context<B>,
  temporal: Temporal,
  bits: Vector<B>,
  scene: PatternScene<B>,
): Vector<B> {
  const { algebra } = context;
  const restricts = (pattern: Parameters<typeof matches>[1]): B => matches(context, pattern, "restrict", scene);
  switch (temporal.kind) {
    case "gate": {
      if (temporal.relock === undefined) return bits;
      return [algebra.and(bit(context, bits, 0), algebra.not(restricts(temporal.relock)))];
    }
    case "absence":
      return [algebra.or(bit(context, bits, 0), restricts(temporal.after))];
    case "by-end": {
      // Bit 0: `by` is owed. Bit 1: `by` has succeeded in this run, for the rules to which that is enough for good.
      const met = bit(context, bits, 1);
      return [algebra.or(bit(context, bits, 0), algebra.and(restricts(temporal.after), algebra.not(met))), met];
    }
    case "immediately":
      // Any other call comes in between; success of `need` sets it again when that call settles.
      return [algebra.constant(false)];
    case "at-most":
      return counted(context, bits, restricts(temporal.of));
    case "owed": {
      const exempt = matches(context, temporal.owe, "permit", scene);
      const owed = bit(context, bits, 0);
      const consequential = algebra.constant(scene.move.contract.consequential);
      const other = algebra.and(owed, algebra.and(consequential, algebra.not(exempt)));
      return [algebra.or(owed, restricts(temporal.after)), ...counted(context, bits.slice(1), other)];
    }
    case "budget":
    case "inject":
      return bits;
  }
}

/** A thermometer one higher where `hit` holds. */
function counted<B>(context: Context<B>, bits: Vector<B>, hit: B): Vector<B> {
  const { algebra } = context;
  return bits.map((value, index) => {
    const below = index === 0 ? algebra.constant(true) : bit(context, bits, index - 1);
    return algebra.or(value, algebra.and(hit, below));
  });
}

/** The automaton after a call has surely succeeded: it unlocks, or a debt is met. */
export function monitorSucceeded<B>(
  context: Context<B>,
  temporal: Temporal,
  bits: Vector<B>,
  scene: PatternScene<B>,
): Vector<B> {
  const { algebra } = context;
  const permits = (pattern: Parameters<typeof matches>[1]): B => matches(context, pattern, "permit", scene);
  switch (temporal.kind) {
    case "gate":
    case "immediately":
      return [algebra.or(bit(context, bits, 0), permits(temporal.need))];
    case "absence": {
      if (temporal.until === undefined) return bits;
      return [algebra.and(bit(context, bits, 0), algebra.not(permits(temporal.until)))];
    }
    case "by-end": {
      const met = permits(temporal.by);
      const stays = algebra.and(algebra.constant(staysMet(temporal)), met);
      return [algebra.and(bit(context, bits, 0), algebra.not(met)), algebra.or(bit(context, bits, 1), stays)];
    }
    case "owed": {
      const met = permits(temporal.owe);
      return bits.map((value) => algebra.and(value, algebra.not(met)));
    }
    case "at-most":
    case "budget":
    case "inject":
      return bits;
  }
}

type ByEnd = Extract<Temporal, { kind: "by-end" }>;

/**
 * A success of `by` meets later debts, too. With `hold` the debt is made when the agent asks for the call, and the outbox
 * keeps it (`outbox.ts`): a call that has left the outbox owes nothing more.
 */
export function staysMet({ action, once }: ByEnd): boolean {
  return action === "hold" || once === true;
}

/** Something is still owed, for the end of a run. */
export function monitorOwes<B>(context: Context<B>, temporal: Temporal, bits: Vector<B>): B {
  const { algebra } = context;
  const open = temporal.kind === "owed" || temporal.kind === "by-end";
  return open ? some(algebra, [bit(context, bits, 0)]) : algebra.constant(false);
}
