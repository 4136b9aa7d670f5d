/**
 * A dispatch of one class, over decision diagrams: the very functions with which the gateway decides a call
 * (`policy/semantics/semantics.ts`, `policy/semantics/monitors.ts`), applied to variables for every choice of an agent,
 * a server or time (docs/semantics.md 6).
 */
import { type Vector, hasAny, joinVectors, some, vectorOf } from "../../policy/ir/algebra.ts";
import { monitorDispatched, monitorFires, monitorSucceeded, unlockingOf } from "../../policy/semantics/monitors.ts";
import { type Context, type End, type Move, type PatternScene, matches } from "../../policy/semantics/patterns.ts";
import { bad, defaultConfirm, ruleFires, written } from "../../policy/semantics/semantics.ts";
import type { ModelClass } from "./classes.ts";
import type { Node } from "./diagram.ts";
import { basicLabels } from "./held-labels.ts";
import { type RunView, type Space, heldVector, storeStates, surroundings } from "./space.ts";
import { type Automaton, automatonOfHazard } from "./subject.ts";

/** Whether a move can happen, whether it is bad, and the state after it: new functions for the levels that change. */
export type Step = { readonly permitted: Node; readonly bad: Node; readonly next: ReadonlyMap<number, Node> };

/** A class as a run sees it at one end. */
export type Seen = {
  readonly context: Context<Node>;
  readonly scene: PatternScene<Node>;
  readonly bits: readonly (readonly Node[])[];
};

export function contextOf(space: Space, end: End): Context<Node> {
  return { algebra: space.diagram, ir: space.question.subject.policy.ir, end };
}

export function seenBy(space: Space, view: RunView, one: ModelClass, end: End): Seen {
  const { algebra } = contextOf(space, end);
  const control = one.arguments.flatMap(({ contract }, index) =>
    contract.role === "content" ? [] : [given(space, index)],
  );
  const move: Move<Node> = {
    contract: one.variant.contract,
    truths: one.truths,
    // In `provenance` a value may have any label, down to none: a call that carries one is always a choice as well.
    ...(space.question.subject.policy.ir.flow === "strict" ? { bare: algebra.not(some(algebra, control)) } : {}),
    arguments: one.arguments.map((argument, index) => ({
      name: argument.name,
      contract: argument.contract,
      label: argumentLabel(space, view, index, end),
      present: given(space, index),
    })),
  };
  return {
    context: contextOf(space, end),
    scene: { move, around: surroundings(space, view, end) },
    bits: view.bits[end] ?? [],
  };
}

/** Names of choices, so that a counterexample can be read back from an assignment. */
export const choiceNames = {
  /** The argument is present (strict), or takes a value with this held label (provenance). */
  takes: (argument: number, label: number): string => `takes ${argument} ${label}`,
  present: (argument: number): string => `present ${argument}`,
  untrusted: (argument: number): string => `untrusted ${argument}`,
  /** The user has lowered a value of the argument: the one with this held label, or the whole. */
  lowered: (argument: number, label: number | "whole"): string => `lowered ${argument} ${label}`,
  succeeds: "succeeds",
  uncounted: "uncounted",
  returns: "returns",
  returnsFields: "returns fields",
} as const;

/**
 * True where the agent chose a value for the argument; one without a value may be left out. The test reads the choices,
 * not the resulting label: a diagram of which labels are held and taken doubles with each label.
 */
function given({ diagram, question, held, choice }: Space, argument: number): Node {
  switch (question.subject.policy.ir.flow) {
    case "none":
      return 0;
    case "strict":
      return choice(choiceNames.present(argument));
    case "provenance": {
      const taken = held.labels.map((_, index) => choice(choiceNames.takes(argument, index)));
      return some(diagram, [...taken, choice(choiceNames.untrusted(argument))]);
    }
  }
}

/**
 * Every label that the agent can give to an argument in the flow mode of the policy (formal.md 4.2). Where both ends
 * are followed, the user may have lowered each value to its lower end independently: a list of recipients is endorsed
 * one by one.
 */
function argumentLabel(space: Space, view: RunView, argument: number, end: End): Vector<Node> {
  const { diagram, question, held } = space;
  const { ir } = question.subject.policy;
  const { bitCount, untrustedBit } = ir.lattice;
  const lowered = (label: number | "whole"): Node =>
    end === "lo" || question.ends.length === 1 ? 0 : space.choice(choiceNames.lowered(argument, label));
  switch (ir.flow) {
    case "none":
      return vectorOf(diagram, 0, bitCount);
    case "strict": {
      const present = space.choice(choiceNames.present(argument));
      const all = heldVector(space, view, end);
      const low = lowered("whole") === 0 ? all : heldVector(space, view, "lo");
      return all.map((bit, at) => diagram.and(present, diagram.ite(lowered("whole"), low[at] ?? 0, bit)));
    }
    case "provenance": {
      let all = vectorOf(diagram, 0, bitCount);
      held.labels.forEach((label, index) => {
        const taken = diagram.and(space.choice(choiceNames.takes(argument, index)), view.held[index] ?? 0);
        const upper = vectorOf(diagram, label[end] & ~untrustedBit, bitCount);
        const lower = vectorOf(diagram, label.lo & ~untrustedBit, bitCount);
        const bits = upper.map((bit, at) =>
          bit === lower[at] ? bit : diagram.ite(lowered(index), lower[at] ?? 0, bit),
        );
        all = joinVectors(
          diagram,
          all,
          bits.map((bit) => diagram.and(taken, bit)),
        );
      });
      // Trust needs evidence: a value that no trusted text contains may be untrusted once an untrusted value is held.
      const tainted = end === "hi" ? hasAny(diagram, heldVector(space, view, "hi"), untrustedBit) : 0;
      const untrusted = diagram.and(tainted, space.choice(choiceNames.untrusted(argument)));
      return all.map((bit, index) => (1 << index === untrustedBit ? untrusted : bit));
    }
  }
}

/** A dispatch by the run that the proof follows. */
export function ownDispatch(space: Space, view: RunView, one: ModelClass): Step {
  const seen = space.question.ends.map((end) => seenBy(space, view, one, end));
  const next = new Map<number, Node>();
  for (const at of seen) stepAutomata(space, one, at, next);
  stepStores(space, seen, next);
  stepHeld(space, view, one, next);
  const judged = judge(space, one, seen);
  return { ...judged, next };
}

/** A dispatch by another run: only its changes to the stores are visible. */
export function otherDispatch(space: Space, view: RunView, one: ModelClass): Step {
  const seen = space.question.ends.map((end) => seenBy(space, view, one, end));
  const next = new Map<number, Node>();
  stepStores(space, seen, next);
  return { permitted: judge(space, one, seen).permitted, bad: 0, next };
}

/**
 * Calls that the rules permit, and those of them that are bad; confirmation counts as refusal or, at two ends, as
 * consent.
 */
function judge(space: Space, one: ModelClass, seen: readonly Seen[]): Pick<Step, "permitted" | "bad"> {
  const { diagram, question } = space;
  const hi = seen.find((at) => at.context.end === "hi");
  const lo = seen.find((at) => at.context.end === "lo");
  if (hi === undefined) return { permitted: 0, bad: 0 };
  const stopped = one.variant.observed ? 0 : stops(space, one, hi, ["block", "must", "confirm"]);
  const worst = hazardFires(space, one, hi);
  if (lo === undefined) {
    const permitted = diagram.not(stopped);
    return { permitted, bad: diagram.and(permitted, worst) };
  }
  const denied = one.variant.observed ? 0 : stops(space, one, lo, ["block", "must"]);
  const permitted = diagram.not(denied);
  // Asked and consented: the user vouches for the lower end, and may accept a hazard with `consent: may`.
  const consented = question.hazard.consent === "may" ? 0 : hazardFires(space, one, lo);
  return { permitted, bad: diagram.and(permitted, diagram.ite(stopped, consented, worst)) };
}

/** The tiers of rules that can stop a call. */
export type Stopping = "block" | "must" | "confirm";

/** Where rules of these tiers stop a call. */
export function stops(space: Space, one: ModelClass, { context, scene, bits }: Seen, tiers: readonly Stopping[]): Node {
  const { diagram, question } = space;
  const counts = (tier: string): boolean => tiers.some((each) => each === tier);
  const fired = question.plain.filter((rule) => counts(rule.tier)).map((rule) => ruleFires(context, rule, scene));
  question.automata.forEach((automaton, index) => {
    if (automaton.owner === "rule" && counts(automaton.tier))
      fired.push(fires(one, automaton, bits[index] ?? [], { context, scene, bits }));
  });
  if (question.useDefault && counts("confirm")) {
    const lifted = question.allows.map((rule) => ruleFires(context, rule, scene));
    fired.push(diagram.and(diagram.not(some(diagram, lifted)), defaultConfirm(context, scene)));
  }
  return some(diagram, fired);
}

/** States and choices in which the call causes the hazard of the question. */
export function hazardFires(space: Space, one: ModelClass, seen: Seen): Node {
  const { hazard, automata } = space.question;
  if (hazard.kind !== "temporal") return bad(seen.context, hazard, seen.scene);
  const index = automatonOfHazard(space.question, hazard);
  const automaton = automata[index];
  return automaton === undefined ? 0 : fires(one, automaton, seen.bits[index] ?? [], seen);
}

function fires(one: ModelClass, automaton: Automaton, bits: Vector<Node>, { context, scene }: Seen): Node {
  if (automaton.keyed && !concerns(automaton, one.key)) return 0;
  // No gate is ever open for a call with an unreadable key.
  const shut = automaton.keyed && one.key === "unreadable" && automaton.temporal.kind === "gate";
  const seen = shut ? bits.map(() => context.algebra.constant(false)) : bits;
  return monitorFires(context, automaton.temporal, seen, { ...scene, fits: context.algebra.constant(true) });
}

/**
 * False for a call of another key than a keyed automaton follows. A call with an unreadable key arms and locks for all
 * keys, and has a count of its own.
 */
export function concerns({ keyed, temporal }: Automaton, key: ModelClass["key"]): boolean {
  return !keyed || key === "same" || (key === "unreadable" && temporal.kind !== "at-most");
}

/** Whether a success of the call unlocks the automaton: never for an unreadable key. */
export function unlocks({ keyed }: Automaton, key: ModelClass["key"]): boolean {
  return !keyed || key === "same";
}

function stepAutomata(space: Space, one: ModelClass, seen: Seen, next: Map<number, Node>): void {
  const { diagram, question } = space;
  const { context, scene } = seen;
  const places = space.automata[context.end] ?? [];
  question.automata.forEach((automaton, index) => {
    const place = places[index];
    const before = seen.bits[index];
    if (place === undefined || before === undefined || !concerns(automaton, one.key)) return;
    const { temporal } = automaton;
    let after = monitorDispatched(context, temporal, before, scene);
    if (temporal.kind === "at-most" && after.some((bit, at) => bit !== before[at])) {
      // A call that certainly had no effect is not counted (life of a call).
      const failed = diagram.not(space.choice(choiceNames.succeeds));
      const uncounted = diagram.and(failed, space.choice(choiceNames.uncounted));
      after = after.map((bit, at) => diagram.ite(uncounted, before[at] ?? 0, bit));
    }
    const unlock = unlockingOf(temporal);
    const unlocking =
      unlock === undefined || !unlocks(automaton, one.key) ? 0 : matches(context, unlock, "permit", scene);
    if (unlocking !== 0) {
      const succeeds = space.choice(choiceNames.succeeds);
      const unlocked = monitorSucceeded(context, temporal, after, scene);
      after = after.map((bit, at) => diagram.ite(succeeds, unlocked[at] ?? 0, bit));
      const late = diagram.and(diagram.not(succeeds), unlocking);
      const [once, twice] = place.pending;
      if (once !== undefined && twice !== undefined) {
        next.set(once, diagram.or(diagram.variable(once), late));
        next.set(twice, diagram.or(diagram.variable(twice), diagram.and(diagram.variable(once), late)));
      }
    }
    after.forEach((bit, at) => {
      const level = place.bits[at];
      if (level !== undefined && bit !== before[at]) next.set(level, bit);
    });
  });
}

function stepStores(space: Space, seen: readonly Seen[], next: Map<number, Node>): void {
  for (const { context, scene } of seen) {
    const before = storeStates(space, context.end);
    const after = written(context, before, scene.move);
    space.stores.forEach((place, index) => {
      const set = (levels: readonly (number | undefined)[] | undefined, bits: Vector<Node> | undefined): void =>
        levels?.forEach((level, bit) => {
          const node = bits?.[bit];
          if (level !== undefined && node !== undefined && node !== space.diagram.variable(level))
            next.set(level, node);
        });
      set(place.label[context.end], after[index]?.label);
      set(place.audience, after[index]?.audience);
      set(place.open, after[index]?.open);
    });
  }
}

/**
 * Labels that the agent comes to hold: none, those of the whole result, or of its fields too; and those of the stores
 * read.
 */
function stepHeld(space: Space, view: RunView, one: ModelClass, next: Map<number, Node>): void {
  const { diagram } = space;
  if (one.whole.length + one.fields.length + one.reads.length === 0) return;
  const returns = space.choice(choiceNames.returns);
  const fields = diagram.and(returns, one.fields.length === 0 ? 0 : space.choice(choiceNames.returnsFields));
  const gains = new Map<number, Node>();
  const gain = (label: number, when: Node): void => {
    gains.set(label, diagram.or(gains.get(label) ?? 0, when));
  };
  for (const label of one.whole) gain(label, returns);
  for (const label of one.fields) gain(label, fields);
  for (const [label, when] of readGains(space, one.reads, next)) gain(label, diagram.and(returns, when));
  addGains(space, view, gains, next);
}

/** New values for the variables of held labels. */
export function addGains(space: Space, view: RunView, gains: ReadonlyMap<number, Node>, next: Map<number, Node>): void {
  const { diagram } = space;
  for (const [label, when] of gains) {
    const level = space.heldLevels[label];
    if (level === undefined || when === 0) continue;
    next.set(level, diagram.or(next.get(level) ?? view.held[label] ?? 0, when));
  }
}

/**
 * Labels from reading stores: for each restriction of a store's label, its basic label. `written` are the new values of
 * the stores that the same call wrote before.
 */
export function readGains(
  space: Space,
  stores: readonly number[],
  written: ReadonlyMap<number, Node>,
): readonly (readonly [number, Node])[] {
  const { diagram, question, held } = space;
  const { lattice } = question.subject.policy.ir;
  const found: [number, Node][] = [];
  const labelsAt = (end: End): readonly Vector<Node>[] =>
    storeStates(space, end).map(({ label }, store) =>
      label.map((bit, at) => written.get(space.stores[store]?.label[end]?.[at] ?? -1) ?? bit),
    );
  const hi = labelsAt("hi");
  const lo = question.ends.includes("lo") ? labelsAt("lo") : hi;
  for (const store of stores) {
    for (const { bit, label } of basicLabels(lattice, question.mattering)) {
      const upper = hi[store]?.[bit] ?? 0;
      const lower = lo[store]?.[bit] ?? 0;
      const sure = held.indexOf({ lo: label, hi: label });
      const possible = held.indexOf({ lo: 0, hi: label });
      if (sure !== undefined) found.push([sure, lower]);
      if (possible !== undefined) found.push([possible, diagram.and(upper, diagram.not(lower))]);
    }
  }
  return found;
}
