/**
 * The meaning of a policy, written once over a Boolean algebra: `fires`, `bad`, `defaultConfirm`, `guard` decide a
 * dispatch; `dispatched`, `succeeded`, `released` are the moves (formal.md 4.1, 4.4). The gateway runs it over the
 * booleans; the prover substitutes decision diagrams into the same functions.
 *
 * `guard` orders tiers: block > unmet must > confirm > allow > default. Hazards are not part of it: a hazard speaks of
 * what must never happen, rules of how it is kept from happening.
 */
import { processStore } from "../../core/contract.ts";
import { type EffectRange, mayCover, mustCover } from "../../core/effect.ts";
import { type Vector, hasAny, joinVectors, some, vectorOf } from "../ir/algebra.ts";
import { type Hazard, type Rule, workspacePredicate } from "../ir/ir.ts";
import { type Slot, monitorDispatched, monitorFires, monitorSucceeded } from "./monitors.ts";
import {
  type Context,
  type Move,
  type PatternScene,
  type StoreState,
  type Surroundings,
  atomHolds,
  contextVector,
  controlTrusted,
  dataVector,
  matches,
  withinBounds,
} from "./patterns.ts";

/** A state: what patterns look at, and the bits of every automaton (for one key where the rule is keyed). */
export type State<B> = Surroundings<B> & { readonly monitors: readonly Vector<B>[] };

/** The verdict of `guard` as conditions: `deny`, else `confirm`, else allow. */
export type Guard<B> = { readonly deny: B; readonly confirm: B };

/** A plain rule applies to this dispatch. An allow rule must apply for certain, every other rule if it may. */
export function ruleFires<B>(context: Context<B>, rule: Rule & { kind: "plain" }, scene: PatternScene<B>): B {
  return matches(context, rule.when, rule.tier === "allow" ? "permit" : "restrict", scene);
}

/** The dispatch itself is a bad move of a flow or call hazard. Temporal hazards fire through their automaton. */
export function bad<B>(context: Context<B>, hazard: Hazard, scene: PatternScene<B>): B {
  const { algebra } = context;
  switch (hazard.kind) {
    case "flow": {
      const reaches = matches(context, hazard.to, "restrict", scene);
      return algebra.and(reaches, atomHolds(algebra, hazard.from.atom, dataVector(context, hazard.from, scene.move)));
    }
    case "call":
      return matches(context, hazard.call, "restrict", scene);
    case "temporal":
      return algebra.constant(false);
  }
}

const asked = [
  "read.external.send",
  "write.external",
  "write.local.delete",
  "write.local.pay",
  "write.local.grant",
  "write.local.credential",
  "write.local.config",
  "write.local.actuate",
] as const;

/** Whether the default looks at the labels of a call with these effects. */
export function asksForTrust(effects: EffectRange): boolean {
  return mayCover("read.external", effects.may) || asked.some((pattern) => mayCover(pattern, effects.may));
}

/** Why the default asks; the parts of `defaultConfirm` by name, for explanations. */
export type DefaultParts<B> = {
  /** Execution outside a projection without network. */
  readonly execute: B;
  /** A local write with a path outside the workspace. */
  readonly outside: B;
  /** A call that acts outside, or reads at a place that the agent chose, with an untrusted control argument. */
  readonly untrusted: B;
  /** The same with content above the bound of its sink. */
  readonly bound: B;
  /** A call that acts, of which no control argument carries anything, while something untrusted is held. */
  readonly untraced: B;
};

/** The default of policy.md 1 when no rule speaks, in its parts. */
export function defaultParts<B>(context: Context<B>, { move, around }: PatternScene<B>): DefaultParts<B> {
  const { algebra, end, ir } = context;
  const effects = end === "hi" ? move.contract.effects.may : move.contract.effects.must;
  const has = (pattern: string): boolean => (end === "hi" ? mayCover(pattern, effects) : mustCover(pattern, effects));
  const constant = (value: boolean): B => algebra.constant(value);
  const surely = asked.some(has) || move.contract.flags.irreversible;
  const acts = surely || !has("read.external") ? constant(surely) : placeChosen(context, move);
  const inside = move.truths.get(workspacePredicate) === true;
  // What a process without a way out runs or writes stays in its projection, and reaches the workspace at most.
  const enclosed = move.contract.process !== undefined;
  return {
    execute: constant(has("execute") && ir.execute === "confirm" && !enclosed),
    outside: constant(has("write.local") && !inside && !enclosed),
    untrusted: algebra.and(acts, algebra.not(controlTrusted(context, move))),
    bound: algebra.and(acts, algebra.not(withinBounds(context, move))),
    untraced:
      surely && move.contract.answers !== true && ir.flow !== "none"
        ? untraced(context, move, around)
        : constant(false),
  };
}

/**
 * Labels of values say whether untrusted data chose a call; a call without values has none to say it. So once the agent
 * holds anything untrusted, such a call may be the idea of an author of that (docs/semantics.md 6).
 */
function untraced<B>(context: Context<B>, { bare }: Move<B>, around: Surroundings<B>): B {
  const { algebra, ir } = context;
  if (bare === undefined) return algebra.constant(false);
  return algebra.and(bare, hasAny(algebra, contextVector(context, around), ir.lattice.untrustedBit));
}

/** The call says where outside to read: an argument that steers it is seen there. */
function placeChosen<B>({ algebra }: Context<B>, move: Move<B>): B {
  const places = move.arguments.filter(({ contract }) => contract.sink && contract.role !== "content");
  return some(
    algebra,
    places.map(({ present }) => present ?? algebra.constant(true)),
  );
}

export function defaultConfirm<B>(context: Context<B>, scene: PatternScene<B>): B {
  const parts = defaultParts(context, scene);
  return some(context.algebra, [parts.execute, parts.outside, parts.untrusted, parts.bound, parts.untraced]);
}

/** guard(q, x) of formal.md 4.1 at one end. `fits` gives each budget's answer by slot index. */
export function guard<B>(
  context: Context<B>,
  slots: readonly Slot[],
  state: State<B>,
  scene: { readonly move: Move<B>; readonly fits: (slot: number) => B },
): Guard<B> {
  const { algebra, ir } = context;
  const fired: Record<Rule["tier"], B[]> = { block: [], must: [], confirm: [], allow: [] };
  for (const rule of ir.rules) {
    if (rule.mode === "observe" || rule.kind !== "plain") continue;
    fired[rule.tier].push(ruleFires(context, rule, { move: scene.move, around: state }));
  }
  slots.forEach((slot, index) => {
    // An observed rule prevents nothing, so no analysis may rely on it.
    if (slot.owner !== "rule" || slot.mode === "observe") return;
    const bits = state.monitors[index] ?? [];
    const fires = monitorFires(context, slot.temporal, bits, {
      move: scene.move,
      around: state,
      fits: scene.fits(index),
    });
    fired[slot.tier === "allow" ? "confirm" : slot.tier].push(fires);
  });
  const deny = some(algebra, [...fired.block, ...fired.must]);
  const asks = algebra.and(
    algebra.not(some(algebra, fired.allow)),
    defaultConfirm(context, { move: scene.move, around: state }),
  );
  const confirm = algebra.and(algebra.not(deny), algebra.or(some(algebra, fired.confirm), asks));
  return { deny, confirm };
}

/** dispatch: stores, audiences and channels take what the call writes and opens; automata arm and count. */
export function dispatched<B>(context: Context<B>, slots: readonly Slot[], state: State<B>, move: Move<B>): State<B> {
  const around: Surroundings<B> = state;
  return {
    held: state.held,
    stores: written(context, state.stores, move),
    monitors: state.monitors.map((bits, index) => {
      const slot = slots[index];
      return slot === undefined ? bits : monitorDispatched(context, slot.temporal, bits, { move, around });
    }),
  };
}

/**
 * Stores after a dispatch: labels join, audiences and open channels grow, nothing ever shrinks. A party other than the
 * run's user that gets a channel into a store may put data there at any later time, unmediated: from the moment it is
 * opened the store may hold untrusted data, which is possible and never certain, so it counts at `hi` alone.
 */
export function written<B>(
  context: Context<B>,
  stores: readonly StoreState<B>[],
  move: Move<B>,
): readonly StoreState<B>[] {
  const { algebra, ir } = context;
  if (move.contract.writes.length === 0 && move.contract.opens.length === 0) return stores;
  const all = dataVector(context, {}, move);
  return stores.map((store, index) => {
    const name = ir.stores[index]?.name ?? "";
    const opened = move.contract.opens.filter((open) => open.store === name).flatMap((open) => open.audience);
    const groups = vectorOf(algebra, groupBits(ir.lattice.groups, opened), ir.lattice.groups.length);
    const brought = context.end === "hi" && opened.some((group) => group !== "me") ? ir.lattice.untrustedBit : 0;
    const label = joinVectors(algebra, store.label, vectorOf(algebra, brought, ir.lattice.bitCount));
    const filled = context.end === "hi" && fillsMemory(move.contract, name);
    const given = filled ? vectorOf(algebra, ir.lattice.top, ir.lattice.bitCount) : all;
    return {
      label: move.contract.writes.includes(name) ? joinVectors(algebra, label, given) : label,
      audience: joinVectors(algebra, store.audience, groups),
      open: joinVectors(algebra, store.open, groups),
    };
  });
}

/** settle(o) with o ≠ failed: automata unlock and debts are met. */
export function succeeded<B>(context: Context<B>, slots: readonly Slot[], state: State<B>, move: Move<B>): State<B> {
  return {
    ...state,
    monitors: state.monitors.map((bits, index) => {
      const slot = slots[index];
      return slot === undefined ? bits : monitorSucceeded(context, slot.temporal, bits, { move, around: state });
    }),
  };
}

/**
 * Whether a call lets everything into the store: that of its server's own process, where the process is not enclosed. It
 * may read anything then, and keep it for a later time when it is.
 */
function fillsMemory({ server, process }: Move<unknown>["contract"], store: string): boolean {
  return process === undefined && store === processStore(server);
}

/** Groups as bits, in the order of the lattice. */
export function groupBits(groups: readonly string[], names: readonly string[]): number {
  let bits = 0;
  groups.forEach((group, index) => {
    if (names.includes(group)) bits |= 1 << index;
  });
  return bits;
}

export type { Context, Move };
