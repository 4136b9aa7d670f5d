/**
 * The verdicts of the rules, automata, hazards and the default on one call in one state, at both ends: the bridge from
 * the semantics to opinions. Everything is decided in the reserved state, in which the labels that calls in flight may
 * bring count as held (formal.md 4.1).
 */
import type { LabelRange } from "../../core/label.ts";
import { ruleKeysMax } from "../../core/limits.ts";
import type { CallOption } from "../../core/moment.ts";
import { type Verdict, combineEnds } from "../../core/verdict.ts";
import type { Hazard, Rule } from "../ir/ir.ts";
import { type Slot, monitorFires } from "./monitors.ts";
import { type Holding, holds } from "./outbox.ts";
import { type Context, type End, type PatternScene, matches } from "./patterns.ts";
import { type DefaultParts, bad, defaultParts, ruleFires } from "./semantics.ts";
import { type MonitorCell, type Q, cellAt, globalKey, isKeyed, keysOf, reservedHeld, viewAt } from "./state.ts";
import { type Frame, contextAt, moveAt } from "./transition.ts";
import { fitsBudget } from "../values/decimal.ts";

/** A call in a state, at an instant. */
export type Scene = { readonly frame: Frame; readonly q: Q; readonly option: CallOption; readonly at: number };

/** Something that holds at one or both ends of the uncertainty. */
export type Ends = { readonly lo: boolean; readonly hi: boolean };

export type PlainRule = Rule & { kind: "plain" };

/** The plain rules that fire, in the order of the policy. */
export function firedRules(
  scene: Scene,
  rules: readonly PlainRule[],
): readonly { readonly rule: PlainRule; readonly at: Ends }[] {
  if (rules.length === 0) return [];
  const { lo, hi } = sceneAtEnds(scene);
  const fired: { rule: PlainRule; at: Ends }[] = [];
  for (const rule of rules) {
    const at = {
      lo: ruleFires(lo.context, rule, lo),
      hi: ruleFires(hi.context, rule, hi),
    };
    if (at.lo || at.hi) fired.push({ rule, at });
  }
  return fired;
}

/** A call at one end, in the reserved state. */
export type SceneAt = PatternScene<boolean> & { readonly context: Context<boolean> };

export function sceneAt(
  { frame, q, option, at }: Scene,
  end: End,
  held: readonly LabelRange[] = reservedHeld(frame.ir, q),
): SceneAt {
  const around = viewAt(frame.ir, [], q, { end, at, key: () => "", held });
  return { context: contextAt(frame, end), move: moveAt(frame, option, end), around };
}

type BothEnds = { readonly lo: SceneAt; readonly hi: SceneAt };

function sceneAtEnds(scene: Scene): BothEnds {
  const held = reservedHeld(scene.frame.ir, scene.q);
  return { lo: sceneAt(scene, "lo", held), hi: sceneAt(scene, "hi", held) };
}

/** The parts of the default that ask, at both ends. */
export function defaultAtEnds(scene: Scene): {
  readonly lo: DefaultParts<boolean>;
  readonly hi: DefaultParts<boolean>;
} {
  const { lo, hi } = sceneAtEnds(scene);
  return { lo: defaultParts(lo.context, lo), hi: defaultParts(hi.context, hi) };
}

export type FiredSlot = { readonly slot: Slot; readonly at: Ends };

/** The automata among `slots` that refuse this call. `slots` must hold all that can. */
export function firedSlots(
  scene: Scene,
  owner: Slot["owner"],
  slots: readonly Slot[] = scene.frame.slots,
): readonly FiredSlot[] {
  const own = slots.filter((slot) => slot.owner === owner);
  return own.length === 0 ? [] : firedAmong(scene, own, sceneAtEnds(scene));
}

function firedAmong(scene: Scene, slots: readonly Slot[], { lo, hi }: BothEnds): readonly FiredSlot[] {
  const fired: FiredSlot[] = [];
  for (const slot of slots) {
    const keys = keysOf(slot, scene.option);
    // No readable key: a gate cannot have been opened for it, and counters share one key (formal.md annex 8).
    const among = keys.length === 0 ? [globalKey] : keys;
    const firesAt = (end: SceneAt): boolean =>
      keys.length === 0 && holds(slot.temporal)
        ? waitsInVain(slot.temporal, end)
        : among.some((key) => slotFires(scene, { slot, key }, end));
    // One refused key refuses the call, and one refused for certain refuses it for certain.
    const at = { lo: firesAt(lo), hi: firesAt(hi) };
    if (at.lo || at.hi) fired.push({ slot, at });
  }
  return fired;
}

/** A call without a readable key would wait for ever, since no success can be for its key: it is refused at once. */
function waitsInVain({ after }: Holding, { context, ...seen }: SceneAt): boolean {
  return matches(context, after, "restrict", seen);
}

function slotFires(
  scene: Scene,
  which: { readonly slot: Slot; readonly key: string },
  { context, move, around }: SceneAt,
): boolean {
  const { temporal } = which.slot;
  const { end } = context;
  const cells = scene.q.monitors[end][which.slot.index] ?? new Map();
  const overflow = which.key !== globalKey && !cells.has(which.key) && cells.size >= ruleKeysMax;
  const cell = cellAt(which.slot, cells, overflow ? globalKey : which.key, scene.at);
  const amount = scene.option.class.amounts.get(which.slot.id);
  const fits = temporal.kind !== "budget" || fitsBudget(temporal.limit, cell.amounts, amount);
  const opens = temporal.kind === "gate" || temporal.kind === "immediately";
  // Too many keys to follow: as if every lock were closed and every counter full.
  if (overflow)
    return monitorFires(
      context,
      temporal,
      cell.bits.map(() => !opens),
      { move, around, fits: false },
    );
  // A lost history may have armed anything; what this run has unlocked since then is known, and counts.
  const lost = scene.q.lost && end === "hi" && !opens;
  const armed = lost || (end === "hi" && armedForAny(which, cells, scene.at));
  const bits = armed ? cell.bits.map(() => true) : cell.bits;
  return monitorFires(context, temporal, bits, { move, around, fits: fits && !lost });
}

/** A lock that an unreadable key armed may be meant for this key, and a call without one may meet any lock. */
function armedForAny(
  { slot, key }: { readonly slot: Slot; readonly key: string },
  cells: ReadonlyMap<string, MonitorCell>,
  at: number,
): boolean {
  if (slot.temporal.kind !== "absence" || !isKeyed(slot)) return false;
  const near = key === globalKey ? [...cells.keys()] : [globalKey];
  return near.some((one) => cells.has(one) && cellAt(slot, cells, one, at).bits[0] === true);
}

/** Those of `hazards` that this call could bring about (temporal hazards through their automata). */
export function badHazards(
  scene: Scene,
  hazards: readonly Hazard[],
): readonly { readonly hazard: Hazard; readonly at: Ends }[] {
  if (hazards.length === 0) return [];
  const { lo, hi } = sceneAtEnds(scene);
  const ids = new Set(hazards.filter(({ kind }) => kind === "temporal").map(({ id }) => id));
  const slots = ids.size === 0 ? [] : scene.frame.slots.filter(({ owner, id }) => owner === "hazard" && ids.has(id));
  const fired = firedAmong(scene, slots, { lo, hi });
  const found: { hazard: Hazard; at: Ends }[] = [];
  for (const hazard of hazards) {
    const automaton = fired.find((one) => one.slot.id === hazard.id)?.at;
    const at =
      hazard.kind === "temporal"
        ? (automaton ?? { lo: false, hi: false })
        : { lo: bad(lo.context, hazard, lo), hi: bad(hi.context, hazard, hi) };
    if (at.lo || at.hi) found.push({ hazard, at });
  }
  return found;
}

/** One verdict from whether something holds at each end. */
export function verdictAt(at: Ends, verdict: Verdict): Verdict {
  return combineEnds(at.lo ? verdict : "allow", at.hi ? verdict : "allow");
}
