/**
 * When a pattern holds for a move, over any Boolean algebra.
 *
 * Uncertainty has two ends. At `hi` everything that restricts is assumed to apply (effects the tool *may* have, upper
 * label bounds) and nothing that unlocks, unless it is certain; at `lo` it is the other way round. Safety is decided
 * at `hi`; `lo` only chooses between asking and refusing (formal.md 4.2).
 */
import type { ArgumentRole, ToolContract } from "../../core/contract.ts";
import { type Effect, type EffectRange, mayCover, mustCover, covers } from "../../core/effect.ts";
import { type Algebra, type Vector, every, gated, hasAll, hasAny, joinVectors, some, vectorOf } from "../ir/algebra.ts";
import type { DataAtom, Ir, LabelAtom, Pattern, StoreAtom, ToolSelector } from "../ir/ir.ts";

export type End = "lo" | "hi";

/** `restrict`: the pattern arms, counts or forbids. `permit`: it unlocks, discharges or allows. */
export type Polarity = "restrict" | "permit";

export type MoveArgument<B> = {
  readonly name: string;
  readonly contract: ToolContract["rest"];
  readonly label: Vector<B>;
  /** Whether the call has the argument at all; undefined means that it has. */
  readonly present?: B;
};

/** A dispatch as seen at one end. `contract` has the case of its class applied. */
export type Move<B> = {
  readonly contract: ToolContract;
  readonly truths: ReadonlyMap<number, boolean>;
  readonly arguments: readonly MoveArgument<B>[];
  /** No control argument carries a text or a number; undefined means that one does. */
  readonly bare?: B;
};

export type StoreState<B> = {
  readonly label: Vector<B>;
  /** One element per group of the lattice. */
  readonly audience: Vector<B>;
  /** Groups for which a channel was opened: they read on without asking again. */
  readonly open: Vector<B>;
};

/** The state that patterns may read: stores, and the labels held by the agent or in flight (formal.md 4.1). */
export type Surroundings<B> = {
  readonly stores: readonly StoreState<B>[];
  readonly held: readonly { readonly present: B; readonly label: Vector<B> }[];
};

/** A dispatch and the state around it. */
export type PatternScene<B> = { readonly move: Move<B>; readonly around: Surroundings<B> };

/** Everything that the semantics of one end needs. */
export type Context<B> = { readonly algebra: Algebra<B>; readonly ir: Ir; readonly end: End };

/** Join of everything the agent holds. */
export function contextVector<B>(context: Context<B>, around: Surroundings<B>): Vector<B> {
  const { algebra, ir } = context;
  const start = vectorOf(algebra, 0, ir.lattice.bitCount);
  return around.held.reduce((all, one) => joinVectors(algebra, all, gated(algebra, one.present, one.label)), start);
}

export function atomHolds<B>(algebra: Algebra<B>, atom: LabelAtom, label: Vector<B>): B {
  switch (atom.kind) {
    case "atLeast":
      return hasAll(algebra, label, atom.bits);
    case "atMost":
      return algebra.not(hasAny(algebra, label, atom.forbidden));
  }
}

/** Join of the labels of the arguments that an atom speaks of; of all arguments where it names none. */
export function dataVector<B>(context: Context<B>, atom: Omit<DataAtom, "atom">, move: Move<B>): Vector<B> {
  const { algebra, ir } = context;
  let all = vectorOf(algebra, 0, ir.lattice.bitCount);
  for (const argument of move.arguments) {
    if (atom.names !== undefined && !atom.names.includes(argument.name)) continue;
    if (!concernsRole(atom.roles, argument.contract.role)) continue;
    if (atom.audience !== undefined && (argument.contract.audience & atom.audience) === 0) continue;
    all = joinVectors(algebra, all, argument.label);
  }
  return all;
}

/**
 * Whether an atom speaks of arguments of this role. Of one that is in doubt every atom does: the more data it joins, the more
 * an atom that restricts holds, and the less one that permits.
 */
export function concernsRole(roles: DataAtom["roles"], role: ArgumentRole): boolean {
  return roles === undefined || role === "unsure" || roles.includes(role);
}

/** A name pattern in which `*` stands for any characters. Linear: two pointers, one remembered star. */
export function nameMatches(pattern: string, name: string): boolean {
  let at = 0;
  let pat = 0;
  let star = -1;
  let resume = 0;
  while (at < name.length) {
    if (pattern[pat] === "*") {
      star = pat;
      pat += 1;
      resume = at;
    } else if (pattern[pat] === name[at]) {
      pat += 1;
      at += 1;
    } else if (star >= 0) {
      pat = star + 1;
      resume += 1;
      at = resume;
    } else return false;
  }
  while (pattern[pat] === "*") pat += 1;
  return pat === pattern.length;
}

export function selects(selector: ToolSelector, contract: ToolContract): boolean {
  return nameMatches(selector.server, contract.server) && nameMatches(selector.tool, contract.tool);
}

/** The effects of a tool without the certain ones that only its server claims. */
export function vouched(effects: EffectRange, claimed: readonly Effect[]): EffectRange {
  return { must: effects.must.filter((effect) => !claimed.includes(effect)), may: effects.may };
}

/** The part of a pattern that does not depend on state or labels, at one end and polarity. */
export function staticMatch(pattern: Pattern, contract: ToolContract, polarity: Polarity, end: End): boolean {
  if (pattern.tools !== undefined && !pattern.tools.some((selector) => selects(selector, contract))) return false;
  if (pattern.flags?.irreversible === true && !contract.flags.irreversible) return false;
  if (pattern.flags?.openWorld === true && !contract.flags.openWorld) return false;
  if (pattern.effects === undefined) return true;
  const generous = (polarity === "restrict") === (end === "hi");
  const { claimed, effects } = contract;
  const { may, must } = claimed === undefined || polarity === "restrict" ? effects : vouched(effects, claimed);
  return pattern.effects.some((effect) => (generous ? mayCover(effect, may) : mustCover(effect, must)));
}

/** True for a move that the pattern describes, with uncertainty resolved by polarity and end. */
export function matches<B>(
  context: Context<B>,
  pattern: Pattern,
  polarity: Polarity,
  { move, around }: PatternScene<B>,
): B {
  const { algebra, end } = context;
  if (!staticMatch(pattern, move.contract, polarity, end)) return algebra.constant(false);
  for (const { index, holds } of pattern.predicates) {
    const truth = move.truths.get(index);
    // A predicate that was not evaluated is unknown: it counts for a restriction and not for a permission.
    if (truth === undefined ? polarity === "permit" : truth !== holds) return algebra.constant(false);
  }
  const parts: B[] = pattern.data.map((atom) => atomHolds(algebra, atom.atom, dataVector(context, atom, move)));
  if (pattern.held !== undefined) parts.push(atomHolds(algebra, pattern.held, contextVector(context, around)));
  for (const atom of pattern.stores) parts.push(storeHolds(context, atom, around));
  return every(algebra, parts);
}

function storeHolds<B>(context: Context<B>, atom: StoreAtom, around: Surroundings<B>): B {
  const { algebra } = context;
  const store = around.stores[atom.store];
  if (store === undefined) return algebra.constant(false);
  const parts: B[] = [];
  if (atom.label !== undefined) parts.push(atomHolds(algebra, atom.label, store.label));
  if (atom.audience !== undefined) parts.push(hasAny(algebra, store.audience, atom.audience));
  return every(algebra, parts);
}

/** Every label of a sink argument stays within its bound. */
export function withinBounds<B>(context: Context<B>, move: Move<B>): B {
  const { algebra } = context;
  return algebra.not(
    some(
      algebra,
      move.arguments
        .filter((argument) => argument.contract.sink)
        .map((argument) => hasAny(algebra, argument.label, argument.contract.forbidden)),
    ),
  );
}

/** Every control argument is trusted. */
export function controlTrusted<B>(context: Context<B>, move: Move<B>): B {
  const { algebra, ir } = context;
  const untrusted = move.arguments
    .filter((argument) => argument.contract.role !== "content")
    .map((argument) => hasAny(algebra, argument.label, ir.lattice.untrustedBit));
  return algebra.not(some(algebra, untrusted));
}

/** Everything that `inner` matches, `outer` matches too, as far as their forms tell. */
export function implies(inner: Pattern, outer: Pattern): boolean {
  const has = (list: readonly unknown[], item: unknown): boolean => {
    const text = JSON.stringify(item);
    return list.some((each) => JSON.stringify(each) === text);
  };
  const tools =
    outer.tools === undefined ||
    (inner.tools?.every((each) =>
      outer.tools?.some((wide) => nameMatches(wide.server, each.server) && nameMatches(wide.tool, each.tool)),
    ) ??
      false);
  const effects =
    outer.effects === undefined ||
    (inner.effects?.every((each) => outer.effects?.some((wide) => covers(wide, each))) ?? false);
  const flags =
    (outer.flags?.irreversible !== true || inner.flags?.irreversible === true) &&
    (outer.flags?.openWorld !== true || inner.flags?.openWorld === true);
  return (
    tools &&
    effects &&
    flags &&
    outer.predicates.every((each) => has(inner.predicates, each)) &&
    outer.data.every((each) => has(inner.data, each)) &&
    outer.stores.every((each) => has(inner.stores, each)) &&
    (outer.held === undefined || JSON.stringify(outer.held) === JSON.stringify(inner.held))
  );
}

/** No condition beyond names, effects and flags. */
export function isBare(pattern: Pattern): boolean {
  return (
    pattern.predicates.length === 0 &&
    pattern.data.length === 0 &&
    pattern.stores.length === 0 &&
    pattern.held === undefined
  );
}

/** Conditions that exclude each other: nothing matches it. */
export function contradicts(pattern: Pattern): boolean {
  const held = new Map<number, boolean>();
  for (const { index, holds } of pattern.predicates) {
    if (held.get(index) === !holds) return true;
    held.set(index, holds);
  }
  return false;
}
