/**
 * `next`: maps each event of a run to a move of the model, over the booleans (formal.md 4.1, annex 6). An event without
 * a move is an error; the gateway then denies, so the running system cannot leave the model (R3).
 */
import type { Grant, RunEvent } from "../../core/event.ts";
import { type LabelRange, joinRanges } from "../../core/label.ts";
import { callsInFlightMax, ruleKeysMax } from "../../core/limits.ts";
import type { CallOption } from "../../core/moment.ts";
import type { ReadValue } from "../../core/reading.ts";
import { type Result, err, ok } from "../../core/result.ts";
import { bitsOf, booleans, vectorOf } from "../ir/algebra.ts";
import { type Ir, type Temporal, contractFor } from "../ir/ir.ts";
import { type Slot, monitorDispatched, monitorSucceeded, patternsOf } from "./monitors.ts";
import { begun, isOvertaken, locksOf, notBegun, overtaken, timedLock, underWay } from "./overlap.ts";
import { type Context, type End, type Move, type PatternScene, matches } from "./patterns.ts";
import { written } from "./semantics.ts";
import { compensates, owingMax, paidBy, withDebts, withoutMet } from "./compensation.ts";
import { lettingGo, mayMeet } from "./outbox.ts";
import {
  type InFlight,
  type MonitorCell,
  type Monitors,
  type Q,
  cellAt,
  contextOf,
  globalKey,
  hold,
  keysOf,
  reservedHeld,
  resultRange,
  viewAt,
} from "./state.ts";
import { VersionedMap } from "./versioned-map.ts";

/** The constant part of the semantics while a policy is loaded. */
export type Frame = {
  readonly ir: Ir;
  readonly slots: readonly Slot[];
  /** Reader of arguments; absent, no value is known to only read. */
  readonly read?: ReadValue;
};

export function contextAt(frame: Frame, end: End): Context<boolean> {
  return { algebra: booleans, ir: frame.ir, end };
}

/** A call's option as a move at one end, with the case of its class applied. */
export function moveAt(frame: Frame, option: CallOption, end: End): Move<boolean> {
  const contract = contractFor(option.contract, option.class.truths);
  return {
    contract,
    truths: option.class.truths,
    arguments: [...option.arguments].map(([name, label]) => ({
      name,
      contract: contract.arguments.get(name) ?? contract.rest,
      label: vectorOf(booleans, label.range[end], frame.ir.lattice.bitCount),
    })),
    bare: option.class.bare === true,
  };
}

export function next(frame: Frame, q: Q, event: RunEvent): Result<Q, string> {
  if (q.ended && event.kind !== "released") return err(`the run has ended, \`${event.kind}\` is not a move of it`);
  switch (event.kind) {
    case "begun":
    case "registered":
    case "refused":
    case "foreseen":
      return ok(q);
    case "dispatched":
      return dispatched(frame, q, event);
    case "succeeded":
      return settledWith(q, event.call, (sent, rest) => ({
        monitors: succeededMonitors(frame, rest, sent, event.at),
        owing: metBy(frame, rest, sent, event.at),
      }));
    case "failed":
      return settledWith(q, event.call, (sent, rest) => (event.noEffect ? undone(frame, rest, sent, event.call) : {}));
    case "unknown":
      return ok(left(frame, q, event.call, event.at));
    case "released":
      return released(frame, q, event);
    case "granted":
      return ok({ ...q, grants: withGrant(q.grants, event.grant, event.at) });
    case "ended":
      return ok({ ...q, ended: true, inFlight: new Map() });
  }
}

function dispatched(frame: Frame, q: Q, event: RunEvent & { kind: "dispatched" }): Result<Q, string> {
  const { call, option, at } = event;
  if (q.inFlight.has(call)) return err(`call ${call} was dispatched twice`);
  if (q.inFlight.size >= callsInFlightMax) return err(`more than ${callsInFlightMax} calls are in flight`);
  const monitors = atBothEnds(frame, q, { move: "dispatch", option, at }, (seen) => dispatchedMonitors(frame, q, seen));
  const stores = writtenStores(frame, q, option);
  const after = monitors === q.monitors && stores === q.stores ? q : { ...q, monitors, stores };
  const brings = resultRange(frame.ir, after, option);
  const locks =
    frame.slots.length === 0 ? [] : locksOf(frame.slots, seenAt(frame, q, { move: "dispatch", option, at }, "hi"));
  const overtakenBy = underWay(frame.slots, q.inFlight, option);
  const dispatches = q.dispatches + (mayMeet(frame.slots, option) ? 1 : 0);
  const owing = frame.slots.some(({ temporal }) => compensates(temporal))
    ? withDebts(frame.slots, q, event, seenAt(frame, q, { move: "dispatch", option, at }, "hi"))
    : q.owing;
  if (owing.length > owingMax) return err(`more than ${owingMax} calls wait for what they owe`);
  const pays = q.owing.length === 0 ? undefined : paidBy(frame.slots, q, event);
  const paying = pays === undefined ? {} : { pays };
  const sent = { option, at, number: dispatches, settled: false, locks, overtakenBy, brings, ...paying };
  return ok({
    ...after,
    dispatches,
    owing,
    inFlight: VersionedMap.of(overtaken(frame.slots, q.inFlight, locks)).with(call, sent),
  });
}

function writtenStores(frame: Frame, q: Q, option: CallOption): Q["stores"] {
  if (option.contract.writes.length === 0 && option.contract.opens.length === 0) return q.stores;
  // Over stores that hold nothing: what is left is what this very call brings.
  const nothing = vectorOf(booleans, frame.ir.lattice.bottom, frame.ir.lattice.bitCount);
  const at = (end: End) => {
    const view = viewAt(frame.ir, [], q, { end, at: 0, key: () => "" });
    const empty = view.stores.map((store) => ({ ...store, label: nothing }));
    return written(contextAt(frame, end), empty, moveAt(frame, option, end));
  };
  const lo = at("lo");
  const hi = at("hi");
  return q.stores.map((store, index) => {
    const low = lo[index];
    const high = hi[index];
    if (low === undefined || high === undefined) return store;
    // Bits come back from vectors that were made of labels of this lattice, so they are labels of it.
    const brought = { lo: bitsOf(low.label), hi: bitsOf(high.label) } as LabelRange;
    return {
      label: joinRanges(store.label, brought),
      audience: bitsOf(high.audience),
      open: bitsOf(high.open),
      added: joinRanges(store.added, brought),
    };
  });
}

/** A call as the automata see it at one end and instant. It looks at every argument and store, so it is made once. */
type Seen = {
  readonly move: "dispatch" | "success" | "return";
  readonly option: CallOption;
  readonly end: End;
  readonly at: number;
  readonly context: Context<boolean>;
  readonly scene: PatternScene<boolean>;
};

type Event = Pick<Seen, "move" | "option" | "at">;

/** `q` is the state without the effects of the event, whose own result is not out. */
function seenAt(frame: Frame, q: Q, { move, option, at }: Event, end: End): Seen {
  // INVARIANT: what decides and what arms look at one state. A result that is in flight may be held by the time the
  // call acts, so at `hi` it arms and locks as it refuses; that it will be held is not certain, so not at `lo`.
  const held = end === "hi" ? reservedHeld(frame.ir, q) : q.held;
  const around = viewAt(frame.ir, [], q, { end, at, key: () => "", held });
  const scene = { move: moveAt(frame, option, end), around };
  return { move, option, end, at, context: contextAt(frame, end), scene };
}

/** Steps the automata at both ends. */
function atBothEnds(frame: Frame, q: Q, event: Event, step: (seen: Seen) => Monitors): Q["monitors"] {
  if (frame.slots.length === 0) return q.monitors;
  return { lo: step(seenAt(frame, q, event, "lo")), hi: step(seenAt(frame, q, event, "hi")) };
}

/** Steps every automaton that the call touches, for each of the call's keys. */
function stepped(
  frame: Frame,
  q: Q,
  seen: Seen,
  change: (slot: Slot, cell: MonitorCell, by: { readonly key: string; readonly counted: boolean }) => MonitorCell,
): Monitors {
  const { move, option, end, at, context, scene } = seen;
  return frame.slots.map((slot) => {
    const cells = q.monitors[end][slot.index] ?? new Map<string, MonitorCell>();
    const { temporal } = slot;
    const counts = temporal.kind === "at-most" || temporal.kind === "budget";
    const counted = counts && matches(context, temporal.of, "restrict", scene);
    const keys = keysOf(slot, option);
    let result: Map<string, MonitorCell> | undefined;
    for (const key of keys.length > 0 ? keys : keysForAny(slot, seen, cells, counted)) {
      const known = cells.has(key) || cells.size < ruleKeysMax;
      // A success for one key must not unlock the cell of all keys without a cell of their own.
      if (!known && move === "success") continue;
      const before = cellAt(slot, cells, known ? key : globalKey, at);
      const after = change(slot, before, { key, counted });
      if (after === before) continue;
      result ??= new Map(cells);
      result.set(known ? key : globalKey, after);
    }
    return result ?? cells;
  });
}

/**
 * Keys to step where the call's own cannot be read: it may be any. A counter counts and a lock arms on the key that
 * stands for all, a permission is taken back from every key, and nothing is unlocked (formal.md annex 8). Which key it
 * was is not certain, so that at `lo` only counters move.
 */
function keysForAny(
  { temporal }: Slot,
  { move, end }: Seen,
  cells: ReadonlyMap<string, MonitorCell>,
  counted: boolean,
): readonly string[] {
  if (counted) return [globalKey];
  if (move !== "dispatch" || end === "lo") return [];
  if (temporal.kind === "absence" || temporal.kind === "by-end") return [globalKey];
  return temporal.kind === "gate" ? [...cells.keys()] : [];
}

function dispatchedMonitors(frame: Frame, q: Q, seen: Seen): Monitors {
  const { option, at, context, scene } = seen;
  return stepped(frame, q, seen, (slot, cell, { counted }) => {
    const bits = monitorDispatched(context, slot.temporal, cell.bits, scene);
    const amount = counted ? amountOf(slot, option) : undefined;
    const times = counted ? timesWith(slot.temporal, cell.times, at) : cell.times;
    const amounts = amount === undefined ? cell.amounts : [...cell.amounts, amount];
    const armed = restarts(slot, context, scene);
    return changed(cell, { bits, times, amounts }, armed ? startOf(slot, at) : undefined);
  });
}

/**
 * The times of the counted calls. A counter keeps them beyond its count, too: a call that was let through all the same,
 * by consent or because nothing is enforced, may still be given back, and must not take an earlier one with it.
 */
function timesWith(temporal: Temporal, times: readonly number[], at: number): readonly number[] {
  return temporal.kind === "at-most" ? [...times, at].slice(-(temporal.count + callsInFlightMax)) : [...times, at];
}

/**
 * The amount that a call adds to a budget. An unreadable or negative amount fits no budget; where the call was let
 * through all the same it adds nothing, but has its place, so that the amounts of others stay with their own times.
 */
function amountOf(slot: Slot, option: CallOption): string | undefined {
  if (slot.temporal.kind !== "budget") return undefined;
  const amount = option.class.amounts.get(slot.id);
  // Canonical decimals, so that the sign tells. A refund does not permit spending it again.
  return amount === undefined || amount.startsWith("-") ? "0" : amount;
}

/** A timed lock starts anew each time it is armed again, not only the first time. */
function restarts(slot: Slot, context: Context<boolean>, scene: PatternScene<boolean>): boolean {
  return slot.temporal.kind === "absence" && matches(context, slot.temporal.after, "restrict", scene);
}

/** When the time begins of what a dispatch arms. */
function startOf({ temporal }: Slot, at: number): number {
  return timedLock(temporal) === undefined ? at : notBegun;
}

function succeededMonitors(frame: Frame, q: Q, sent: InFlight, at: number): Q["monitors"] {
  return atBothEnds(frame, q, { move: "success", option: sent.option, at }, (seen) =>
    stepped(frame, q, seen, (slot, cell, { key }) => {
      const { context, scene } = seen;
      if (context.end === "hi" && isOvertaken(sent, slot, key)) return cell;
      const bits = monitorSucceeded(context, slot.temporal, cell.bits, scene);
      const renewed = slot.temporal.kind === "gate" && matches(context, slot.temporal.need, "permit", scene);
      const after = changed(cell, { bits, times: cell.times, amounts: cell.amounts }, renewed ? at : undefined);
      return lettingGo(slot, after, sent.number, { context, scene });
    }),
  );
}

/** A bit that rose was armed or given anew, so a cell's time starts with `restart` alone. */
function changed(
  cell: MonitorCell,
  to: Pick<MonitorCell, "bits" | "times" | "amounts">,
  restart: number | undefined,
): MonitorCell {
  const same = restart === undefined && to.times === cell.times;
  if (same && to.bits.every((bit, index) => bit === cell.bits[index])) return cell;
  return { ...cell, ...to, since: restart ?? cell.since };
}

/**
 * A failure that surely had no effect gives back what counters reserved for it (gateway.md 3): its own time and amount,
 * and not the last ones, or a server that fails a small call would free what a large one spends.
 */
function givenBack(frame: Frame, q: Q, { option, at: sentAt }: InFlight): Q["monitors"] {
  return atBothEnds(frame, q, { move: "return", option, at: Number.NEGATIVE_INFINITY }, (seen) =>
    stepped(frame, q, seen, (slot, cell, { counted }) => {
      if (!counted || (seen.end === "hi" && looksAtState(slot.temporal))) return cell;
      const amount = amountOf(slot, option);
      const own = cell.times.findLastIndex((time, index) => time === sentAt && cell.amounts[index] === amount);
      if (own < 0) return cell;
      const times = cell.times.toSpliced(own, 1);
      const bits = cell.bits.map((_, index) => index < times.length);
      return { ...cell, bits, times, amounts: cell.amounts.toSpliced(own, 1) };
    }),
  );
}

/** The state has moved on since the dispatch, so that a call may match now that was not counted then: its count stays. */
function looksAtState(temporal: Temporal): boolean {
  return patternsOf(temporal).some((pattern) => pattern.held !== undefined || pattern.stores.length > 0);
}

/** `change` gets the state without the call: it has no result to reserve for itself, only the others have. */
function settledWith(q: Q, call: string, change: (sent: InFlight, rest: Q) => Settling): Result<Q, string> {
  const found = q.inFlight.get(call);
  if (found === undefined) return err(`call ${call} settled without having been allowed`);
  if (found.settled) return err(`call ${call} settled twice`);
  // Without automata there is nothing to step, and no state to make for it.
  const changes = q.monitors.lo.length === 0 ? {} : change(found, withoutCall(q, call));
  const inFlight = VersionedMap.of(q.inFlight).with(call, { ...found, settled: true });
  return ok({ ...q, ...changes, inFlight });
}

type Settling = Partial<Pick<Q, "monitors" | "owing">>;

function metBy(frame: Frame, rest: Q, sent: InFlight, at: number): Q["owing"] {
  if (rest.owing.length === 0) return rest.owing;
  const seen = seenAt(frame, rest, { move: "success", option: sent.option, at }, "hi");
  return withoutMet(frame.slots, rest.owing, sent, seen);
}

/** Counters get back what a call without any effect took, and there is nothing to make up for. */
function undone(frame: Frame, rest: Q, sent: InFlight, call: string): Settling {
  return { monitors: givenBack(frame, rest, sent), owing: rest.owing.filter((debt) => debt.call !== call) };
}

/** The state once a call has its answer, or never will have. */
function left(frame: Frame, q: Q, call: string | undefined, at: number): Q {
  // Before the call leaves the state: to look at an older version of a map costs a step back and a step forth.
  const sent = call === undefined ? undefined : q.inFlight.get(call);
  const rest = withoutCall(q, call);
  if (sent === undefined) return rest;
  const monitors = begun(frame.slots, rest, sent, at);
  return monitors === rest.monitors ? rest : { ...rest, monitors };
}

function withoutCall(q: Q, call: string | undefined): Q {
  if (call === undefined || !q.inFlight.has(call)) return q;
  return { ...q, inFlight: VersionedMap.of(q.inFlight).with(call, undefined) };
}

/**
 * The state after a release. A field may be more restricted than the data around it: either counts. While a call was
 * under way, others may have written to a store that it reads; labels of its result beyond those that were possible at
 * the decision were never judged, so passing them is not a move (formal.md 4.4, R2 and R3).
 */
function released(frame: Frame, q: Q, event: RunEvent & { kind: "released" }): Result<Q, string> {
  const { call, how, label, fields } = event;
  // Before the call leaves the state: to look at an older version of a map costs a step back and a step forth.
  const brings = call === undefined ? frame.ir.lattice.top : (q.inFlight.get(call)?.brings.hi ?? 0);
  const known = contextOf(frame.ir, q).hi | brings;
  const rest = left(frame, q, call, event.at);
  if (how !== "pass") return ok(rest);
  let bringsMore = (label.hi & ~known) !== 0;
  let held = hold(rest.held, label);
  for (const { range } of fields) {
    bringsMore ||= (range.hi & ~known) !== 0;
    held = hold(held, range);
  }
  if (bringsMore) return err("the result would bring more than the call could bring when it was decided");
  return ok(held === rest.held ? rest : { ...rest, held });
}

function withGrant(grants: readonly Grant[], grant: Grant, at: number): readonly Grant[] {
  return [...grants.filter((old) => old.expiresAt > at), grant];
}
