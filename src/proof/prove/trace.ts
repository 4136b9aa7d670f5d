/**
 * A path through the model as a sequence of calls: with full labels instead of cut ones, and every rule that would have
 * stopped one of its steps. A path that no rule stops is an attack; otherwise it names the rules that the proof has to
 * add.
 */
import type { LabelRange } from "../../core/label.ts";
import { bitsOf, booleans, vectorOf } from "../../policy/ir/algebra.ts";
import {
  monitorDispatched,
  monitorFires,
  monitorSucceeded,
  monitorWidth,
  unlockingOf,
} from "../../policy/semantics/monitors.ts";
import {
  type Context,
  type End,
  type Move,
  type PatternScene,
  type Surroundings,
  matches,
} from "../../policy/semantics/patterns.ts";
import { defaultConfirm, ruleFires, written } from "../../policy/semantics/semantics.ts";
import type { ModelClass } from "./classes.ts";
import { follows, windowOf } from "./environment.ts";
import { choiceNames, concerns, unlocks } from "./dispatch.ts";
import { cut } from "./held-labels.ts";
import type { Chosen } from "./path.ts";
import type { Space } from "./space.ts";
import {
  type Automaton,
  type Question,
  boundsRule,
  defaultRule,
  isObserved,
  questionOf,
  unlockText,
} from "./subject.ts";

export type TracedArgument = { readonly name: string; readonly label: number };

/** One step of a counterexample. Labels are upper ends, as bits of the policy's lattice. */
export type TraceStep =
  | {
      readonly kind: "call";
      readonly run: "this" | "other";
      readonly server: string;
      readonly tool: string;
      readonly truths: ReadonlyMap<number, boolean>;
      readonly arguments: readonly TracedArgument[];
      /** Label of the result that the agent came to hold; undefined where it got none, or it does not matter. */
      readonly gained: number | undefined;
      readonly succeeds: boolean;
      /** Rules and hazards that its success would unlock, while it is still in flight. */
      readonly waiting: readonly string[];
      /** Stores whose label, audience or openness the call changed, with the label they have now. */
      readonly stored: readonly {
        readonly store: string;
        readonly label: number;
        readonly opened: readonly string[];
      }[];
      readonly key: ModelClass["key"] | undefined;
    }
  | { readonly kind: "late"; readonly rule: string }
  | { readonly kind: "tick"; readonly rule: string; readonly withinMs: number }
  | { readonly kind: "speak"; readonly label: number }
  | { readonly kind: "host-read"; readonly label: number }
  | { readonly kind: "fire"; readonly store: string; readonly group: string; readonly label: number }
  | { readonly kind: "host-send"; readonly label: number }
  | { readonly kind: "host-execute"; readonly label: number };

export type Trace = {
  readonly steps: readonly TraceStep[];
  /** Rules of the policy, outside the core, that would stop a step; with the number of the last such step. */
  readonly stoppedBy: readonly { readonly rule: string; readonly step: number }[];
};

type HeldValue = { readonly index: number; readonly label: number };

type Simulation = {
  readonly space: Space;
  /** The question with every rule in its core: all that could stop a step. */
  readonly whole: Question;
  readonly end: End;
  held: HeldValue[];
  stores: Surroundings<boolean>["stores"];
  bits: (readonly boolean[])[];
};

/**
 * Plays a path with full labels. `every` are the ids of all rules that could restrict. At the upper end a question
 * stops a step; at the lower end consent is given, and only a certain refusal stops one.
 */
export function traceOf(space: Space, path: readonly Chosen[], every: readonly string[], end: End = "hi"): Trace {
  const { question } = space;
  const { hazard, subject } = question;
  const whole = questionOf(subject, { hazard, core: new Set(every), ends: [end] });
  const { ir } = subject.policy;
  const simulation: Simulation = {
    space,
    whole,
    end,
    held: [],
    stores: ir.stores.map((store) => ({
      label: vectorOf(booleans, store.initial[end], ir.lattice.bitCount),
      audience: vectorOf(booleans, store.audience, ir.lattice.groups.length),
      open: vectorOf(booleans, 0, ir.lattice.groups.length),
    })),
    bits: whole.automata.map(({ temporal }) => Array.from({ length: monitorWidth(temporal) }, () => false)),
  };
  const stopped = new Map<string, number>();
  const steps = path.map((chosen, index) => {
    for (const rule of stoppingRules(simulation, chosen)) if (!question.core.has(rule)) stopped.set(rule, index);
    return play(simulation, chosen);
  });
  return { steps, stoppedBy: [...stopped].map(([rule, step]) => ({ rule, step })) };
}

function context({ space, end }: Simulation): Context<boolean> {
  return { algebra: booleans, ir: space.question.subject.policy.ir, end };
}

function heldJoin(values: readonly HeldValue[]): number {
  return values.reduce((all, value) => all | value.label, 0);
}

/** Labels that another run is assumed to hold: exactly those that its call needs. */
function otherHeld({ space, end }: Simulation, choices: ReadonlySet<string>): readonly HeldValue[] {
  return space.heldLevels.flatMap((level, index) =>
    choices.has(`other ${level}`) ? [{ index, label: space.held.labels[index]?.[end] ?? 0 }] : [],
  );
}

function surroundings(simulation: Simulation, held: readonly HeldValue[]): Surroundings<boolean> {
  const { bitCount } = simulation.space.question.subject.policy.ir.lattice;
  return {
    stores: simulation.stores,
    held: held.map(({ label }) => ({ present: true, label: vectorOf(booleans, label, bitCount) })),
  };
}

function labelOf(
  simulation: Simulation,
  argument: number,
  held: readonly HeldValue[],
  choices: ReadonlySet<string>,
): number {
  const { ir } = simulation.space.question.subject.policy;
  const { untrustedBit } = ir.lattice;
  switch (ir.flow) {
    case "none":
      return 0;
    case "strict":
      return choices.has(choiceNames.present(argument)) ? heldJoin(held) : 0;
    case "provenance": {
      let label = 0;
      for (const index of simulation.space.held.labels.keys()) {
        if (!choices.has(choiceNames.takes(argument, index))) continue;
        label |= held.findLast((value) => value.index === index)?.label ?? 0;
      }
      const chosen = simulation.end === "hi" && choices.has(choiceNames.untrusted(argument));
      const tainted = chosen && (heldJoin(held) & untrustedBit) !== 0;
      return tainted ? label | untrustedBit : label & ~untrustedBit;
    }
  }
}

function moveOf(
  simulation: Simulation,
  one: ModelClass,
  held: readonly HeldValue[],
  choices: ReadonlySet<string>,
): Move<boolean> {
  const { bitCount } = simulation.space.question.subject.policy.ir.lattice;
  const control = [...one.arguments.keys()].filter((at) => one.arguments[at]?.contract.role !== "content");
  const strict = simulation.space.question.subject.policy.ir.flow === "strict";
  return {
    contract: one.variant.contract,
    truths: one.truths,
    ...(strict ? { bare: !control.some((at) => choices.has(choiceNames.present(at))) } : {}),
    arguments: one.arguments.map((argument, index) => {
      const bits = labelOf(simulation, index, held, choices);
      // An argument without labels in the explored model is left out; else the trace would stop at a step that is open
      // there.
      const present = (bits & simulation.space.question.mattering) !== 0;
      return { name: argument.name, contract: argument.contract, label: vectorOf(booleans, bits, bitCount), present };
    }),
  };
}

function stoppingRules(simulation: Simulation, { move, choices }: Chosen): readonly string[] {
  if (move.kind !== "dispatch" && move.kind !== "other") return [];
  const one = move.class;
  const { whole } = simulation;
  if (isObserved(whole.subject, one.variant.contract)) return [];
  const held = move.kind === "other" ? otherHeld(simulation, choices) : simulation.held;
  const scene = { move: moveOf(simulation, one, held, choices), around: surroundings(simulation, held) };
  const at = context(simulation);
  const counts = (tier: string): boolean => simulation.end === "hi" || tier !== "confirm";
  const plain = whole.plain.filter((rule) => counts(rule.tier) && ruleFires(at, rule, scene));
  const found = plain.map((rule) => rule.id);
  whole.automata.forEach((automaton, index) => {
    // The automata of another run are unknown, so the trace does not rely on them.
    if (
      automaton.owner === "hazard" ||
      !counts(automaton.tier) ||
      move.kind === "other" ||
      !concerns(automaton, one.key)
    )
      return;
    // Without a key that can be read, no gate was ever opened for the call.
    const shut = automaton.keyed && one.key === "unreadable" && automaton.temporal.kind === "gate";
    const bits = (simulation.bits[index] ?? []).map((bit) => bit && !shut);
    if (monitorFires(at, automaton.temporal, bits, { ...scene, fits: true })) found.push(automaton.id);
  });
  if (simulation.end === "lo") return found;
  const lifted = whole.allows.some((rule) => ruleFires(at, rule, scene));
  if (!lifted && defaultConfirm(at, scene)) found.push(defaultRule, boundsRule);
  return found;
}

function play(simulation: Simulation, chosen: Chosen): TraceStep {
  const { move } = chosen;
  const { space } = simulation;
  const { ir } = space.question.subject.policy;
  switch (move.kind) {
    case "dispatch":
    case "other":
      return playCall(simulation, chosen, move);
    case "late":
      for (const other of simulation.whole.automata) {
        if (unlockText(other) !== unlockText(move.automaton)) continue;
        setBits(simulation, other.id, (automaton, bits) => bits.map(() => opens(automaton)));
      }
      return { kind: "late", rule: move.automaton.id };
    case "tick": {
      const withinMs = windowOf(move.automaton) ?? 0;
      expire(simulation, move.automaton, withinMs);
      return { kind: "tick", rule: move.automaton.id, withinMs };
    }
    case "speak":
    case "host-read": {
      const before = heldJoin(simulation.held);
      const { read } = ir.host;
      if (move.kind === "speak" || typeof read === "string") gainWorst(simulation);
      else for (const store of read) gainFrom(simulation, store);
      return { kind: move.kind, label: heldJoin(simulation.held) & ~before };
    }
    case "fire": {
      const store = ir.stores[move.store]?.name ?? "";
      const label = bitsOf(simulation.stores[move.store]?.label ?? []);
      return { kind: "fire", store, group: ir.lattice.groups[move.group] ?? "", label };
    }
    case "host-send":
    case "host-execute":
      return { kind: move.kind, label: heldJoin(simulation.held) };
  }
}

/** The oldest event of an automaton expires; automata that follow it keep no more than it does. */
function expire(simulation: Simulation, first: Automaton, withinMs: number): void {
  let left: readonly boolean[] = [];
  setBits(simulation, first.id, ({ temporal }, bits) => {
    left = temporal.kind === "at-most" ? [...bits.slice(1), false] : bits.map(() => false);
    return left;
  });
  for (const other of simulation.whole.automata) {
    if (other.id === first.id || !follows(other, first, withinMs)) continue;
    setBits(simulation, other.id, (_, bits) =>
      bits.map((bit, at) => bit && left[Math.min(at, left.length - 1)] === true),
    );
  }
}

function opens({ temporal }: Automaton): boolean {
  return temporal.kind === "gate" || temporal.kind === "immediately";
}

function setBits(
  simulation: Simulation,
  id: string,
  change: (automaton: Automaton, bits: readonly boolean[]) => readonly boolean[],
): void {
  const index = simulation.whole.automata.findIndex((automaton) => automaton.id === id);
  const automaton = simulation.whole.automata[index];
  if (automaton !== undefined) simulation.bits[index] = change(automaton, simulation.bits[index] ?? []);
}

/** An unlabelled output is unknown: at worst it has every restriction of the lattice, not only those that matter. */
function gainWorst({ space, end, held }: Simulation): void {
  const { subject, mattering } = space.question;
  const index = space.held.indexOf({ lo: 0, hi: mattering });
  if (index !== undefined) held.push({ index, label: end === "hi" ? subject.policy.ir.lattice.top : 0 });
}

/** The value from reading a store, with the label of the store, represented by each basic label that it has. */
function gainFrom({ space, end, held, stores }: Simulation, store: number): number {
  const label = bitsOf(stores[store]?.label ?? []);
  // A value that the model does not see is held all the same.
  held.push({ index: -1, label });
  space.held.labels.forEach((one, index) => {
    if ((one[end] & ~label) === 0) held.push({ index, label });
  });
  return label;
}

function playCall(
  simulation: Simulation,
  { choices }: Chosen,
  move: { readonly kind: "dispatch" | "other"; readonly class: ModelClass },
): TraceStep {
  const one = move.class;
  const { space } = simulation;
  const { ir } = space.question.subject.policy;
  const own = move.kind === "dispatch";
  const held = own ? simulation.held : otherHeld(simulation, choices);
  const concrete = moveOf(simulation, one, held, choices);
  const at = context(simulation);
  const scene = { move: concrete, around: surroundings(simulation, held) };
  if (own) stepBits(simulation, one, choices, (temporal, bits) => monitorDispatched(at, temporal, bits, scene));
  const before = simulation.stores;
  simulation.stores = written(at, before, concrete);
  const succeeds = choices.has(choiceNames.succeeds);
  if (own && succeeds)
    stepBits(simulation, one, choices, (temporal, bits, automaton) =>
      unlocks(automaton, one.key) ? monitorSucceeded(at, temporal, bits, scene) : bits,
    );
  const gained = own && choices.has(choiceNames.returns) ? results(simulation, one, choices, concrete) : undefined;
  const { server, tool } = one.variant.contract;
  return {
    kind: "call",
    run: own ? "this" : "other",
    server,
    tool,
    truths: one.truths,
    arguments: concrete.arguments.flatMap(({ name, label }) =>
      label.includes(true) ? [{ name, label: bitsOf(label) }] : [],
    ),
    gained,
    succeeds,
    waiting: own && !succeeds ? waitedFor(simulation, one, scene) : [],
    stored: simulation.stores.flatMap((store, index) => {
      const old = before[index];
      const label = bitsOf(store.label);
      const opened = ir.lattice.groups.filter((_, group) => store.open[group] === true && old?.open[group] !== true);
      const same = old === undefined || (bitsOf(old.label) === label && opened.length === 0);
      return same ? [] : [{ store: ir.stores[index]?.name ?? "", label, opened }];
    }),
    key: space.question.key === undefined ? undefined : one.key,
  };
}

function waitedFor(simulation: Simulation, one: ModelClass, scene: PatternScene<boolean>): readonly string[] {
  return simulation.whole.automata.flatMap((automaton) => {
    const unlock = unlocks(automaton, one.key) ? unlockingOf(automaton.temporal) : undefined;
    return unlock !== undefined && matches(context(simulation), unlock, "permit", scene) ? [automaton.id] : [];
  });
}

function stepBits(
  simulation: Simulation,
  one: ModelClass,
  choices: ReadonlySet<string>,
  change: (temporal: Automaton["temporal"], bits: readonly boolean[], automaton: Automaton) => readonly boolean[],
): void {
  simulation.whole.automata.forEach((automaton, index) => {
    if (!concerns(automaton, one.key)) return;
    if (automaton.temporal.kind === "at-most" && choices.has(choiceNames.uncounted)) return;
    simulation.bits[index] = change(automaton.temporal, simulation.bits[index] ?? [], automaton);
  });
}

/** Adds the result of a call to the held values; its label joins the arguments and the stores that it read. */
function results(
  simulation: Simulation,
  one: ModelClass,
  choices: ReadonlySet<string>,
  concrete: Move<boolean>,
): number {
  const { space } = simulation;
  const { output, reads } = one.variant.contract;
  const { ir } = space.question.subject.policy;
  const fields = choices.has(choiceNames.returnsFields) ? output.fields : [];
  let gained = 0;
  const add = (label: LabelRange): void => {
    gained |= label[simulation.end];
    const index = space.held.indexOf(cut(label, space.question.mattering));
    // A value that the model does not see is held all the same, and stands in the join of everything.
    simulation.held.push({ index: index ?? -1, label: label[simulation.end] });
  };
  add(output.label);
  for (const field of fields) add(field.label);
  for (const name of reads) {
    gained |= gainFrom(
      simulation,
      ir.stores.findIndex((declared) => declared.name === name),
    );
  }
  return concrete.arguments.reduce((all, argument) => all | bitsOf(argument.label), gained);
}
