/**
 * Calls that overlap. Which of two took effect first is known only where one had settled before the other was sent, so at
 * `hi` a success unlocks nothing that another call locked meanwhile: an agent that edits while the check runs would else
 * pass for one that was checked. At `lo` it does, since it may have come last.
 */
import type { CallOption } from "../../core/moment.ts";
import { type Pattern, type Temporal, contractFor } from "../ir/ir.ts";
import { type Slot, staysMet } from "./monitors.ts";
import { type Context, type PatternScene, matches, staticMatch } from "./patterns.ts";
import { type InFlight, type Lock, type MonitorCell, type Monitors, type Q, globalKey, keysOf } from "./state.ts";
import { VersionedMap } from "./versioned-map.ts";

type Contest = { readonly lock: Pattern | "any call"; readonly unlock: Pattern };

/** The patterns that lock and unlock an automaton, where both can happen more than once. */
function contestOf(temporal: Temporal): Contest | undefined {
  switch (temporal.kind) {
    case "gate":
      return temporal.relock && { lock: temporal.relock, unlock: temporal.need };
    case "absence":
      return temporal.until && { lock: temporal.after, unlock: temporal.until };
    case "owed":
      return { lock: temporal.after, unlock: temporal.owe };
    case "by-end":
      return staysMet(temporal) ? undefined : { lock: temporal.after, unlock: temporal.by };
    case "immediately":
      return { lock: "any call", unlock: temporal.need };
    case "at-most":
    case "budget":
    case "inject":
      return undefined;
  }
}

/** The pattern that arms a lock with a time limit. */
export function timedLock(temporal: Temporal): Pattern | undefined {
  return temporal.kind === "absence" && temporal.withinMs !== undefined ? temporal.after : undefined;
}

/** Automata that a dispatch locks, and another call or time alone could unlock. */
export function locksOf(
  slots: readonly Slot[],
  seen: { readonly option: CallOption; readonly context: Context<boolean>; readonly scene: PatternScene<boolean> },
): readonly Lock[] {
  const { option, context, scene } = seen;
  return slots.flatMap((slot): readonly Lock[] => {
    const lock = timedLock(slot.temporal) ?? contestOf(slot.temporal)?.lock;
    if (lock === undefined) return [];
    const locks = lock === "any call" || matches(context, lock, "restrict", scene);
    return locks ? [{ slot: slot.index, keys: keysOf(slot, option) }] : [];
  });
}

/** The calls under way once another is sent: what it locks, those of them that would unlock it no longer do. */
export function overtaken(slots: readonly Slot[], inFlight: Q["inFlight"], locks: readonly Lock[]): Q["inFlight"] {
  if (locks.length === 0 || inFlight.size === 0) return inFlight;
  const changes: [string, InFlight][] = [];
  for (const [call, sent] of inFlight) {
    const added = sent.settled ? [] : locks.flatMap((lock) => keptFrom(slots, lock, sent));
    if (added.length > 0) changes.push([call, { ...sent, overtakenBy: [...sent.overtakenBy, ...added] }]);
  }
  return changes.reduce((all, [call, sent]) => all.with(call, sent), VersionedMap.of(inFlight));
}

/**
 * The locks of calls that are still under way: a call that is sent now comes later, and may yet take its effect first.
 * Debts are not among them. A debt is there from the dispatch that made it, so that a later call meets it.
 */
export function lockedUnderWay(slots: readonly Slot[], inFlight: Q["inFlight"]): readonly Lock[] {
  const either = ({ temporal }: Slot): boolean =>
    (temporal.kind === "gate" || temporal.kind === "absence") && contestOf(temporal) !== undefined;
  const own = new Set(slots.filter(either).map(({ index }) => index));
  if (own.size === 0) return [];
  const sent = [...inFlight.values()].filter(({ settled }) => !settled);
  return sent.flatMap(({ locks }) => locks.filter(({ slot }) => own.has(slot)));
}

/** The locks that the success of a call sent now will not open. */
export function underWay(slots: readonly Slot[], inFlight: Q["inFlight"], option: CallOption): readonly Lock[] {
  let overtakenBy: readonly Lock[] = [];
  for (const lock of lockedUnderWay(slots, inFlight)) {
    overtakenBy = [...overtakenBy, ...keptFrom(slots, lock, { option, overtakenBy })];
  }
  return overtakenBy;
}

/** The keys of a lock that the success of a call would unlock, but for those that it is kept from already. */
function keptFrom(slots: readonly Slot[], lock: Lock, sent: Pick<InFlight, "option" | "overtakenBy">): readonly Lock[] {
  const slot = slots[lock.slot];
  if (slot === undefined || !unlocks(slot.temporal, sent.option)) return [];
  const keys = keysOf(slot, sent.option).filter(
    (key) => (lock.keys.length === 0 || lock.keys.includes(key)) && !isOvertaken(sent, slot, key),
  );
  return keys.length === 0 ? [] : [{ slot: slot.index, keys }];
}

function unlocks(temporal: Temporal, { contract, class: { truths } }: CallOption): boolean {
  const contest = contestOf(temporal);
  return contest !== undefined && staticMatch(contest.unlock, contractFor(contract, truths), "permit", "hi");
}

/** The success of a call may have come before what locks the automaton for this key. */
export function isOvertaken({ overtakenBy }: Pick<InFlight, "overtakenBy">, slot: Slot, key: string): boolean {
  return overtakenBy.some((lock) => lock.slot === slot.index && lock.keys.includes(key));
}

/** When the time of a lock begins whose call has no answer yet. */
export const notBegun = Number.POSITIVE_INFINITY;

/**
 * The automata once a call has its answer, or never will have: the time of what it locked begins now, if no other call
 * locks it still. A server that keeps its answer back would else hand out what it holds when the lock is open again.
 */
export function begun(slots: readonly Slot[], rest: Q, { locks }: InFlight, at: number): Q["monitors"] {
  const timed = locks.filter((lock) => timedAt(slots, lock) !== undefined);
  if (timed.length === 0) return rest.monitors;
  const waiting = [...rest.inFlight.values()].flatMap((sent) => sent.locks);
  const after = (monitors: Monitors): Monitors =>
    monitors.map((cells, index) => {
      const mine = timed.find(({ slot }) => slot === index);
      if (mine === undefined) return cells;
      const others = waiting.filter(({ slot }) => slot === index).flatMap((lock) => cellsOf(cells, lock));
      const keys = cellsOf(cells, mine).filter((key) => !others.includes(key));
      return new Map([...cells].map(([key, cell]) => [key, keys.includes(key) ? startedAt(cell, at) : cell]));
    });
  return { lo: after(rest.monitors.lo), hi: after(rest.monitors.hi) };
}

function timedAt(slots: readonly Slot[], { slot }: Lock): Pattern | undefined {
  const temporal = slots[slot]?.temporal;
  return temporal && timedLock(temporal);
}

/** The keys under which a lock is kept: its own where they are followed, else the one that stands for all others. */
function cellsOf(cells: ReadonlyMap<string, MonitorCell>, { keys }: Lock): readonly string[] {
  return keys.length === 0 ? [globalKey] : keys.map((key) => (cells.has(key) ? key : globalKey));
}

function startedAt(cell: MonitorCell, at: number): MonitorCell {
  return cell.since === notBegun ? { ...cell, since: at } : cell;
}
