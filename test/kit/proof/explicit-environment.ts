/** What happens without any call (docs/semantics.md 6, 7): time, late successes, speech, and what the host and readers do. */
import type { ArgumentContract, Role, ToolContract } from "../../../src/core/contract.ts";
import { everyEffect } from "../../../src/core/effect.ts";
import {
  type Around,
  type Automaton,
  type Move,
  type State,
  type World,
  fires,
  joinOf,
  matches,
  triggersOf,
  unlocked,
  untouched,
} from "./explicit-model.ts";
import { brought, isBad, withHeld } from "./explicit-moves.ts";

/** What can happen without any call, to states of the run and of the stores. */
export function environment(world: World, state: State): readonly State[] {
  const { ir, automata } = world;
  const found: State[] = [{ ...state, held: withHeld(state.held, [ir.lattice.top]) }];
  const { read: reads } = ir.host;
  if (reads === "everything") found.push({ ...state, held: withHeld(state.held, [ir.lattice.top]) });
  else if (reads !== "gated") found.push({ ...state, held: withHeld(state.held, brought(world, state.stores, reads)) });
  automata.forEach((automaton, index) => {
    found.push(...lateSuccesses(world, index, state));
    const ticked = tick(world, automaton, index, state);
    if (ticked !== undefined) found.push(ticked);
  });
  return found;
}

export function lateSuccesses({ automata, waits }: World, index: number, state: State): readonly State[] {
  const before = state.automata[index]?.pending ?? 0;
  if (before === 0) return [];
  return (before === 2 ? [0, 1, 2] : [0]).map((left) => ({
    ...state,
    automata: state.automata.map((one, place) => {
      const automaton = automata[place];
      if (automaton === undefined || waits[place] !== index) return one;
      return { bits: unlocked(automaton, one.bits), pending: place === index ? left : 0 };
    }),
  }));
}

export function tick(world: World, automaton: Automaton, index: number, state: State): State | undefined {
  const within = windowOf(automaton);
  const before = state.automata[index]?.bits;
  if (within === undefined || before === undefined) return undefined;
  const expired = before.map((_, at) => automaton.temporal.kind === "at-most" && before[at + 1] === true);
  return {
    ...state,
    automata: state.automata.map((one, place) => {
      if (place === index) return { ...one, bits: expired };
      const other = world.automata[place];
      const own = other === undefined ? undefined : windowOf(other);
      if (other === undefined || own === undefined || own > within || causeOf(other) !== causeOf(automaton)) return one;
      return { ...one, bits: one.bits.map((bit, at) => bit && expired[Math.min(at, expired.length - 1)] === true) };
    }),
  };
}

export function windowOf({ temporal }: Automaton): number | undefined {
  return "withinMs" in temporal ? temporal.withinMs : undefined;
}

/** Kind, trigger and key as text. The patterns were compiled from canonical JSON, so equal texts mean equal patterns. */
function causeOf({ temporal, key }: Automaton): string {
  const { kind } = temporal;
  const trigger = kind === "gate" ? temporal.need : kind === "absence" ? temporal.after : triggersOf(temporal).fires;
  return JSON.stringify([kind, trigger, key]);
}

type Act = {
  readonly effects: readonly string[];
  readonly irreversible: boolean;
  readonly audience: number;
  readonly label: number;
};

/** Fire and the acts of the host: whether one of them is bad in this state. Nobody decides them. */
export function actsBadly(world: World, state: State): boolean {
  const around = { held: joinOf(state.held), stores: state.stores };
  const bits = state.automata.at(-1)?.bits ?? [];
  return hostActs(world, around).some((act) => isBadAct(world, act, { around, bits }));
}

/** Everything that readers of opened stores, and an open host, can do. */
export function hostActs({ ir }: World, { held, stores }: Around): readonly Act[] {
  const acts: Act[] = [];
  for (const { label, open } of stores) {
    ir.lattice.groups.forEach((_, group) => {
      if ((open & (1 << group)) === 0) return;
      acts.push({ effects: ["write.external.share"], irreversible: false, audience: 1 << group, label });
    });
  }
  const { send, execute } = ir.host;
  if (send !== 0) acts.push({ effects: ["write.external.send"], irreversible: false, audience: send, label: held });
  const everyone = (1 << ir.lattice.groups.length) - 1;
  if (execute) acts.push({ effects: everyEffect, irreversible: true, audience: everyone, label: held });
  return acts;
}

/** Whether an act is bad; `bits` are those of the hazard's own automaton, if it has one. */
export function isBadAct(
  world: World,
  act: Act,
  { around, bits }: { readonly around: Around; readonly bits: readonly boolean[] },
): boolean {
  const { ir, hazard, automata } = world;
  const { bottom } = ir.lattice;
  const sink = (role: Role): ArgumentContract => ({
    role,
    sink: true,
    audience: act.audience,
    forbidden: bottom,
    schemaValues: [],
  });
  const argument = (role: Role) => ({ name: undefined, contract: sink(role), label: act.label });
  const contract: ToolContract = {
    server: "",
    tool: "",
    toolDigest: undefined,
    source: "unknown",
    effects: { must: act.effects, may: act.effects },
    flags: { irreversible: act.irreversible, openWorld: true },
    arguments: new Map(),
    rest: sink("content"),
    output: { label: { lo: bottom, hi: bottom }, fields: [] },
    cases: [],
    reads: [],
    writes: [],
    opens: [],
    consequential: true,
  };
  const given = act.irreversible ? [argument("content"), argument("query")] : [argument("content")];
  const move: Move = { contract, truths: undefined, arguments: given };
  if (hazard.kind !== "temporal") return isBad(world, move, around);
  // The hazard's own automaton is the last.
  const automaton = automata.at(-1);
  const firing = automaton === undefined ? undefined : triggersOf(automaton.temporal).fires;
  if (automaton === undefined || firing === undefined) return false;
  return fires(automaton, bits, { ...untouched, fires: matches(firing, "restrict", move, around) }, true);
}
