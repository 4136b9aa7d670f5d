/**
 * The abstract state of a run as the gateway holds it: q = (g, r) of formal.md 4.1, with both ends of every uncertain
 * part. `viewAt` turns it into a state over the booleans, which is all that the semantics ever sees.
 */
import type { Grant } from "../../core/event.ts";
import type { JsonObject } from "../../core/json.ts";
import {
  type Label,
  type LabelRange,
  exactly,
  join,
  joinAllRanges,
  joinRanges,
  unknownRange,
} from "../../core/label.ts";
import { heldLabelsMax } from "../../core/limits.ts";
import type { CallOption } from "../../core/moment.ts";
import type { ModelState } from "../../core/run.ts";
import { type Vector, booleans, vectorOf } from "../ir/algebra.ts";
import { type Ir, contractFor } from "../ir/ir.ts";
import { type Slot, monitorWidth } from "./monitors.ts";
import type { End } from "./patterns.ts";
import type { State } from "./semantics.ts";

/** A store as all runs share it. Audience and open channels are groups as bits. */
export type StoreCell = {
  readonly label: LabelRange;
  readonly audience: number;
  readonly open: number;
  /** Range of the data from runs and opened channels since the policy declared the store: part of the label. */
  readonly added: LabelRange;
};

/** One automaton for one key. `since` and `times` are monotonic ms; a budget has as many `amounts` as `times`. */
export type MonitorCell = {
  readonly bits: Vector<boolean>;
  /** Start of its time: when the call that last armed a lock had its answer, or when a permission was last given. */
  readonly since: number;
  /** When each counted call was dispatched, for windows; amounts for budgets. */
  readonly times: readonly number[];
  readonly amounts: readonly string[];
  /** Of a rule that holds calls: number of the newest dispatch of `by` that has succeeded; absent before the first. */
  readonly metBy?: number;
};

/** By slot, then by canonical key; unkeyed automata use `globalKey`. */
export type Monitors = readonly ReadonlyMap<string, MonitorCell>[];

/** An automaton and the keys for which a call locks it, or does not unlock it; a lock without keys is for any. */
export type Lock = { readonly slot: number; readonly keys: readonly string[] };

export type InFlight = {
  readonly option: CallOption;
  /** When it was dispatched: what it counted is found again by that. */
  readonly at: number;
  /** The number of its dispatch among those that rules with `hold` count (`Q.dispatches`). */
  readonly number: number;
  readonly settled: boolean;
  /** The locks of its dispatch, and those that its success does not open since overlapping calls hold them. */
  readonly locks: readonly Lock[];
  readonly overtakenBy: readonly Lock[];
  /** Range that the call could bring at dispatch: a result that brings more is not a move of the model. */
  readonly brings: LabelRange;
  /** It is the very call that would compensate another one, of this id. */
  readonly pays?: string;
};

/** A call that a rule compensates unless what it owes comes (`compensation.ts`). */
export type Owing = {
  readonly slot: number;
  /** Id of the call that owes. */
  readonly call: string;
  /** The dispatches counted when it was dispatched: only a later one meets it. */
  readonly since: number;
  /** Keys for which nothing has met it yet. */
  readonly left: readonly string[];
  /** Arguments of the compensating call; undefined where they cannot be written. */
  readonly arguments: JsonObject | undefined;
};

/** A state with its parts. It is a `ModelState`, so it is given away as it is; `stateOf` is the way back. */
export type Q = ModelState & {
  /** g, shared by all runs. */
  readonly stores: readonly StoreCell[];
  /** K: labels of what the agent may hold. */
  readonly held: readonly LabelRange[];
  readonly monitors: { readonly lo: Monitors; readonly hi: Monitors };
  /** E and A: the grants of the run's approvers. */
  readonly grants: readonly Grant[];
  readonly inFlight: ReadonlyMap<string, InFlight>;
  /** Dispatches so far that could let a held call go: with it the order of holds and dispatches is known. */
  readonly dispatches: number;
  /** Calls for which the gateway itself makes another one at the end of the run, oldest first. */
  readonly owing: readonly Owing[];
  readonly ended: boolean;
  /** The history of the run was lost: every lock may be closed, every counter full, every debt open. */
  readonly lost: boolean;
};

/**
 * The parts of an opaque state. The cast is sound: a `ModelState` has its start in `initialState`, and every later one is
 * a copy of it with other parts.
 */
export function stateOf(q: ModelState): Q {
  return q as Q;
}

/** q₀ over the shared part of another state, or over the policy's own stores. */
export function initialState(ir: Ir, slots: readonly Slot[], shared: Q | undefined): Q {
  const empty: Monitors = slots.map(() => new Map());
  const added = exactly(ir.lattice.bottom);
  const declared = ir.stores.map(({ initial, audience }) => ({ label: initial, audience, open: 0, added }));
  const parts: Omit<Q, keyof ModelState> = {
    stores: shared?.stores.length === declared.length ? shared.stores : declared,
    held: [],
    monitors: { lo: empty, hi: empty },
    grants: [],
    inFlight: new Map(),
    dispatches: 0,
    owing: [],
    ended: false,
    lost: false,
  };
  return parts as Q; // the mark of a `ModelState` is of its type only
}

/** Adds a label to K. Beyond the cap the two labels that lose least by it become one; holding it means holding both. */
export function hold(held: readonly LabelRange[], label: LabelRange): readonly LabelRange[] {
  for (const other of held) if (other.lo === label.lo && other.hi === label.hi) return held;
  const all = [...held, label];
  return all.length <= heldLabelsMax ? all : mergeNearest(all);
}

function mergeNearest(all: readonly LabelRange[]): readonly LabelRange[] {
  let best: { readonly left: LabelRange; readonly right: LabelRange; readonly cost: number } | undefined;
  for (const left of all) {
    for (const right of all) {
      if (left === right) continue;
      const cost = bitCount(left.hi ^ right.hi) + bitCount(left.lo ^ right.lo);
      if (best === undefined || cost < best.cost) best = { left, right, cost };
    }
  }
  if (best === undefined) return all;
  const { left, right } = best;
  // INVARIANT: `lo` must stay a lower bound of both, or a certain denial could come from a merge alone.
  const merged: LabelRange = { lo: meet(left.lo, right.lo), hi: join(left.hi, right.hi) };
  return [...all.filter((one) => one !== left && one !== right), merged];
}

function meet(left: Label, right: Label): Label {
  return (left & right) as Label; // an intersection of two labels of one lattice is a label of it
}

function bitCount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/** ⊔K at both ends, with what the host may have read by itself. */
export function contextOf(ir: Ir, q: Q): LabelRange {
  return joinAllRanges(hostHeld(ir, q), joinAllRanges(q.held, exactly(ir.lattice.bottom)));
}

/** Labels of what the host reads unmediated. Whether it has is never known: nothing of it is certain. */
export function hostHeld(ir: Ir, q: Q): readonly LabelRange[] {
  const { read } = ir.host;
  if (read === "gated") return [];
  if (read === "everything") return [unknownRange(ir.lattice)];
  return read.flatMap((index) => {
    const cell = q.stores[index];
    return cell === undefined ? [] : [{ lo: ir.lattice.bottom, hi: cell.label.hi }];
  });
}

/**
 * The range that the agent may hold without a release: data that the host reads by itself, and everything once the
 * history of the run is lost. A release with the same label explains none of it.
 */
export function unmediated(ir: Ir, q: Q): LabelRange {
  const start = q.lost ? unknownRange(ir.lattice) : exactly(ir.lattice.bottom);
  return joinAllRanges(hostHeld(ir, q), start);
}

/**
 * K together with what the host may have read and what calls in flight may still bring: the state in which everything
 * is decided (formal.md 4.1).
 */
export function reservedHeld(ir: Ir, q: Q): readonly LabelRange[] {
  const known = reserved.get(q);
  if (known?.ir === ir) return known.held;
  let held = hostHeld(ir, q).reduce(hold, q.held);
  for (const { option, brings } of q.inFlight.values()) {
    // Only what a call reads can have changed since it was dispatched.
    held = hold(held, option.contract.reads.length === 0 ? brings : resultRange(ir, q, option));
  }
  reserved.set(q, { ir, held });
  return held;
}

/** Every mechanism asks it of the same state, and with hundreds of calls in flight it is what a decision costs. */
const reserved = new WeakMap<Q, { readonly ir: Ir; readonly held: readonly LabelRange[] }>();

/** Range of the result of a call: its output and fields joined with its arguments and the stores it reads. */
export function resultRange(ir: Ir, q: Q, option: CallOption): LabelRange {
  const contract = contractFor(option.contract, option.class.truths);
  let range = contract.output.label;
  // Fields included: one of them may be more restricted than the rest of the result.
  for (const field of contract.output.fields) range = joinRanges(range, field.label);
  for (const argument of option.arguments.values()) range = joinRanges(range, argument.range);
  for (const name of contract.reads) {
    const label = storeRange(ir, q, name);
    if (label !== undefined) range = joinRanges(range, label);
  }
  return range;
}

/** The cell of a key at an instant: expired locks are open, expired permissions are gone, old counts have left. */
export function cellAt(slot: Slot, cells: ReadonlyMap<string, MonitorCell>, key: string, at: number): MonitorCell {
  const { temporal } = slot;
  const found = cells.get(key) ?? freshCell(slot);
  const windowMs = "withinMs" in temporal ? temporal.withinMs : undefined;
  if (windowMs === undefined) return found;
  if (temporal.kind === "gate" || temporal.kind === "absence") {
    return at - found.since < windowMs ? found : { ...found, bits: found.bits.map(() => false) };
  }
  const live = found.times.map((time) => at - time < windowMs);
  const times = found.times.filter((_, index) => live[index] === true);
  const amounts = found.amounts.filter((_, index) => live[index] === true);
  const bits = found.bits.map((_, index) => index < times.length);
  return { ...found, times, amounts, bits };
}

export function freshCell(slot: Slot): MonitorCell {
  const bits = Array.from({ length: monitorWidth(slot.temporal) }, () => false);
  return { bits, since: 0, times: [], amounts: [] };
}

/**
 * The key under which calls count and locks arm that have no readable key of their own (formal.md annex 8). No canonical
 * key is empty, so no value can be mistaken for it; the automata of rules without a key live under it, too.
 */
export const globalKey = "";

export function isKeyed({ temporal }: Slot): boolean {
  return "key" in temporal && temporal.key !== undefined;
}

/** Keys of a call for a slot: `globalKey` where the rule is not keyed; an empty list where the key cannot be read. */
export function keysOf(slot: Slot, option: CallOption): readonly string[] {
  return isKeyed(slot) ? (option.class.keys.get(slot.id) ?? []) : [globalKey];
}

/** q at one end and instant as a state over the booleans, with the automaton of slot `s` at key `keyAt(s)`. */
export function viewAt(
  ir: Ir,
  slots: readonly Slot[],
  q: Q,
  lens: {
    readonly end: End;
    readonly at: number;
    readonly key: (slot: number) => string;
    readonly held?: readonly LabelRange[];
  },
): State<boolean> {
  const width = ir.lattice.bitCount;
  const groups = ir.lattice.groups.length;
  return {
    stores: q.stores.map((store) => ({
      label: vectorOf(booleans, store.label[lens.end], width),
      audience: vectorOf(booleans, store.audience, groups),
      open: vectorOf(booleans, store.open, groups),
    })),
    held: (lens.held ?? q.held).map((range) => ({ present: true, label: vectorOf(booleans, range[lens.end], width) })),
    monitors: slots.map((slot, index) => {
      const cells = q.monitors[lens.end][index];
      return cells === undefined ? [] : cellAt(slot, cells, lens.key(index), lens.at).bits;
    }),
  };
}

/** Range of the data that reached the named stores since the policy declared them. */
export function addedRange(ir: Ir, q: Q, names: readonly string[]): LabelRange {
  const nothing = exactly(ir.lattice.bottom);
  if (names.length === 0) return nothing;
  return q.stores.reduce(
    (all, store, index) => (names.includes(ir.stores[index]?.name ?? "") ? joinRanges(all, store.added) : all),
    nothing,
  );
}

/** A store in the shared part, by the policy's index. */
export function storeRange(ir: Ir, q: Q, name: string): LabelRange | undefined {
  const index = ir.stores.findIndex((store) => store.name === name);
  return q.stores[index]?.label;
}

/** Two shared parts joined: what the larger of both worlds forbids. */
export function joinStores(left: readonly StoreCell[], right: readonly StoreCell[]): readonly StoreCell[] {
  return left.map((store, index) => {
    const other = right[index];
    if (other === undefined) return store;
    return {
      label: joinRanges(store.label, other.label),
      audience: store.audience | other.audience,
      added: joinRanges(store.added, other.added),
      open: store.open | other.open,
    };
  });
}
