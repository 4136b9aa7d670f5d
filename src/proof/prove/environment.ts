/**
 * Moves without the agent that cannot be refused (docs/semantics.md 6, 7): time, late successes, unsolicited messages of
 * servers, reads by the host itself, and the readers of opened stores. Without these, a denial at the last moment would
 * always suffice.
 */
import type { ArgumentContract, Role, ToolContract } from "../../core/contract.ts";
import { everyEffect, type Effect } from "../../core/effect.ts";
import type { Vector } from "../../policy/ir/algebra.ts";

import { monitorFires } from "../../policy/semantics/monitors.ts";
import type { End, Move, Surroundings } from "../../policy/semantics/patterns.ts";
import { bad, groupBits } from "../../policy/semantics/semantics.ts";
import type { Node } from "./diagram.ts";
import { addGains, contextOf, readGains, type Step } from "./dispatch.ts";
import { type RunView, type Space, heldVector, storeStates, surroundings } from "./space.ts";
import { type Automaton, automatonOfHazard, unlockText } from "./subject.ts";

export type EnvironmentMove =
  | { readonly kind: "late"; readonly automaton: Automaton; readonly step: Step }
  | { readonly kind: "tick"; readonly automaton: Automaton; readonly step: Step }
  | { readonly kind: "host-read"; readonly step: Step }
  | { readonly kind: "speak"; readonly step: Step }
  | { readonly kind: "fire"; readonly store: number; readonly group: number; readonly step: Step }
  | { readonly kind: "host-send"; readonly step: Step }
  | { readonly kind: "host-execute"; readonly step: Step };

export function environment(space: Space, view: RunView): readonly EnvironmentMove[] {
  return [
    ...fires(space, view),
    ...hostActs(space, view),
    ...lateSuccesses(space),
    ...ticks(space),
    ...gains(space, view),
  ];
}

const always = { permitted: 1, bad: 0 } as const;

/** A call in flight succeeds: all automata that the same success unlocks are unlocked at once. */
function lateSuccesses(space: Space): readonly EnvironmentMove[] {
  const { diagram, question } = space;
  return question.automata.flatMap((automaton, first): readonly EnvironmentMove[] => {
    const unlock = unlockText(automaton);
    const together = question.automata.map((other) => unlock !== undefined && unlockText(other) === unlock);
    if (together.indexOf(true) !== first) return [];
    const next = new Map<number, Node>();
    let permitted: Node = 0;
    for (const end of question.ends) {
      const places = space.automata[end] ?? [];
      const [once, twice] = places[first]?.pending ?? [];
      if (once === undefined || twice === undefined) continue;
      // The same call settles at both ends; it is in flight at one of them at least.
      const waiting = diagram.variable(once);
      permitted = diagram.or(permitted, waiting);
      question.automata.forEach((other, index) => {
        if (together[index] !== true) return;
        const opens = other.temporal.kind === "gate" || other.temporal.kind === "immediately";
        for (const level of places[index]?.bits ?? []) {
          next.set(level, diagram.ite(waiting, diagram.constant(opens), diagram.variable(level)));
        }
      });
      const more = diagram.variable(twice);
      next.set(once, diagram.and(waiting, more));
      next.set(twice, diagram.and(more, space.choice("more on their way")));
    }
    return [{ kind: "late", automaton, step: { ...always, permitted, next } }];
  });
}

function ticks(space: Space): readonly EnvironmentMove[] {
  const { question } = space;
  return question.automata.flatMap((automaton): readonly EnvironmentMove[] => {
    const within = windowOf(automaton);
    if (within === undefined) return [];
    const next = new Map<number, Node>();
    for (const end of question.ends) {
      const expired = expiredBits(space, automaton, end);
      question.automata.forEach((other, index) => {
        const bits = space.automata[end]?.[index]?.bits ?? [];
        const changed =
          other === automaton
            ? expired
            : follows(other, automaton, within)
              ? clipped(space, bits, automaton, expired)
              : undefined;
        changed?.forEach((bit, at) => {
          const level = bits[at];
          if (level !== undefined) next.set(level, bit);
        });
      });
    }
    return [{ kind: "tick", automaton, step: { ...always, next } }];
  });
}

/** Milliseconds after which the automaton forgets an event; undefined for kinds without a window. */
export function windowOf({ temporal }: Automaton): number | undefined {
  const timed = temporal.kind === "gate" || temporal.kind === "absence" || temporal.kind === "at-most";
  return timed ? temporal.withinMs : undefined;
}

function expiredBits(space: Space, automaton: Automaton, end: End): Vector<Node> {
  const { diagram, question } = space;
  const bits = space.automata[end]?.[question.automata.indexOf(automaton)]?.bits ?? [];
  if (automaton.temporal.kind !== "at-most") return bits.map(() => 0);
  // The oldest of the counted calls leaves the window.
  return bits.map((_, at) => {
    const above = bits[at + 1];
    return above === undefined ? 0 : diagram.variable(above);
  });
}

/** True if the other one started no later and lasts no longer, so that it has expired whenever the first has. */
export function follows(other: Automaton, first: Automaton, within: number): boolean {
  const own = windowOf(other);
  if (own === undefined || own > within || other.temporal.kind !== first.temporal.kind) return false;
  return triggerText(other) === triggerText(first);
}

function triggerText({ temporal }: Automaton): string {
  const key = "key" in temporal ? temporal.key : undefined;
  const trigger =
    temporal.kind === "gate"
      ? temporal.need
      : temporal.kind === "absence"
        ? temporal.after
        : temporal.kind === "at-most"
          ? temporal.of
          : undefined;
  return JSON.stringify([trigger, key]);
}

/** A follower holds no more than the first: it counts, or remembers, a part of the same calls. */
function clipped(space: Space, bits: readonly number[], first: Automaton, expired: Vector<Node>): Vector<Node> {
  const { diagram } = space;
  if (first.temporal.kind !== "at-most") return bits.map(() => 0);
  return bits.map((level, at) => {
    const limit = expired[Math.min(at, expired.length - 1)] ?? 0;
    return diagram.and(diagram.variable(level), limit);
  });
}

/** Labels that a run may come to hold without any call. */
function gains(space: Space, view: RunView): readonly EnvironmentMove[] {
  const { question, held } = space;
  const { read } = question.subject.policy.ir.host;
  const everything = held.indexOf({ lo: 0, hi: question.mattering });
  if (everything === undefined) return [];
  const worst = new Map<number, Node>();
  addGains(space, view, new Map([[everything, 1]]), worst);
  const found: EnvironmentMove[] = [];
  if (read === "everything") found.push({ kind: "host-read", step: { ...always, next: worst } });
  else if (read !== "gated" && read.length > 0) {
    const next = new Map<number, Node>();
    const all = new Map<number, Node>();
    for (const [label, when] of readGains(space, read, new Map()))
      all.set(label, space.diagram.or(all.get(label) ?? 0, when));
    addGains(space, view, all, next);
    found.push({ kind: "host-read", step: { ...always, next } });
  }
  return [...found, { kind: "speak", step: { ...always, next: worst } }];
}

function fires(space: Space, view: RunView): readonly EnvironmentMove[] {
  const { diagram, question } = space;
  return space.stores.flatMap((place, store): readonly EnvironmentMove[] =>
    place.open.flatMap((level, group): readonly EnvironmentMove[] => {
      if (level === undefined) return [];
      const label = Object.fromEntries(question.ends.map((end) => [end, storeStates(space, end)[store]?.label ?? []]));
      const judged = judgeAct(space, view, {
        effects: ["write.external.share"],
        irreversible: false,
        audience: 1 << group,
        label,
      });
      return [{ kind: "fire", store, group, step: act(diagram.and(diagram.variable(level), judged)) }];
    }),
  );
}

function hostActs(space: Space, view: RunView): readonly EnvironmentMove[] {
  const { host, lattice } = space.question.subject.policy.ir;
  const label = Object.fromEntries(space.question.ends.map((end) => [end, heldVector(space, view, end)]));
  const everyone = groupBits(lattice.groups, lattice.groups);
  const found: EnvironmentMove[] = [];
  if (host.send !== 0) {
    const sends = { effects: ["write.external.send"], irreversible: false, audience: host.send, label };
    found.push({ kind: "host-send", step: act(judgeAct(space, view, sends)) });
  }
  if (host.execute) {
    const executes = { effects: everyEffect, irreversible: true, audience: everyone, label };
    found.push({ kind: "host-execute", step: act(judgeAct(space, view, executes)) });
  }
  return found;
}

/** An act of the host changes no state; only its badness matters. */
function act(judged: Node): Step {
  return { permitted: judged, bad: judged, next: new Map() };
}

type Act = {
  readonly effects: readonly Effect[];
  readonly irreversible: boolean;
  readonly audience: number;
  readonly label: { readonly [end in End]?: Vector<Node> };
};

/**
 * Whether an act that the gateway does not decide causes the hazard; the upper end counts, whatever was consented to.
 */
function judgeAct(space: Space, view: RunView, what: Act): Node {
  const { question } = space;
  const { hazard } = question;
  const context = contextOf(space, "hi");
  const around: Surroundings<Node> = surroundings(space, view, "hi");
  const move: Move<Node> = {
    contract: actContract(space, what),
    // Unevaluated predicates count as true where the pattern restricts.
    truths: new Map(),
    arguments: (["content", "query"] as const)
      .slice(0, what.irreversible ? 2 : 1)
      .map((role) => ({ name: "", contract: sinkArgument(role, what.audience), label: what.label.hi ?? [] })),
  };
  if (hazard.kind !== "temporal") return bad(context, hazard, { move, around });
  const index = automatonOfHazard(question, hazard);
  const automaton = question.automata[index];
  const bits = view.bits.hi?.[index];
  if (automaton === undefined || bits === undefined) return 0;
  return monitorFires(context, automaton.temporal, bits, { move, around, fits: 1 });
}

function actContract(space: Space, what: Act): ToolContract {
  const nothing = {
    lo: space.question.subject.policy.ir.lattice.bottom,
    hi: space.question.subject.policy.ir.lattice.bottom,
  };
  return {
    server: "",
    tool: "",
    toolDigest: undefined,
    source: "unknown",
    effects: { must: what.effects, may: what.effects },
    flags: { irreversible: what.irreversible, openWorld: true },
    arguments: new Map(),
    rest: sinkArgument("content", what.audience),
    output: { label: nothing, fields: [] },
    cases: [],
    reads: [],
    writes: [],
    opens: [],
    consequential: true,
  };
}

function sinkArgument(role: Role, audience: number): ArgumentContract {
  return { role, sink: true, audience, forbidden: 0 as ArgumentContract["forbidden"], schemaValues: [] };
}
