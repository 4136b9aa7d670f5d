/**
 * An engine with one fault: a copy of its subject, its classes or its moves in which something was forgotten or turned
 * around, explored as usual. What such an engine proves is a proof of something else.
 */
import type { ArgumentContract, ToolContract } from "../../../src/core/contract.ts";
import type { Effect } from "../../../src/core/effect.ts";
import type { Label } from "../../../src/core/label.ts";
import type { DataAtom, Hazard, Ir, LabelAtom, Pattern, Rule, Temporal } from "../../../src/policy/ir/ir.ts";
import { type ModelClass, makeClasses } from "../../../src/proof/prove/classes.ts";
import { Diagram } from "../../../src/proof/prove/diagram.ts";
import { type Step, choiceNames, otherDispatch, ownDispatch } from "../../../src/proof/prove/dispatch.ts";
import { environment } from "../../../src/proof/prove/environment.ts";
import { type Explored, type Model, type ModelMove, explore } from "../../../src/proof/prove/fixpoint.ts";
import { diagramNodesMax } from "../../../src/proof/prove/limits.ts";
import { type Space, makeSpace, otherView, ownView } from "../../../src/proof/prove/space.ts";
import { type Subject, questionOf } from "../../../src/proof/prove/subject.ts";
import { makeVariants } from "../../../src/proof/prove/variants.ts";

export type Fault = {
  readonly subject?: (subject: Subject) => Subject;
  readonly classes?: (classes: readonly ModelClass[]) => readonly ModelClass[];
  readonly move?: (move: ModelMove, space: Space) => ModelMove | undefined;
};

type Faulty = {
  readonly its: Subject;
  readonly hazardId: string;
  readonly core: readonly string[];
  readonly fault: Fault;
};

/** Explores with the fault; undefined where the faulty engine gives up. */
export function exploreFaultily({ its, hazardId, core, fault }: Faulty): Explored | undefined {
  const hazard = its.policy.ir.hazards.find(({ id }) => id === hazardId);
  if (hazard === undefined) return undefined;
  const question = questionOf(its, { hazard, core: new Set(core), ends: ["hi"] });
  const variants = makeVariants(its);
  const space = makeSpace(question, variants.outputs, new Diagram(diagramNodesMax));
  const classes = makeClasses(space, variants);
  if (!classes.ok) return undefined;
  const left = fault.classes?.(classes.value) ?? classes.value;
  const [own, other] = [ownView(space), otherView(space)];
  const sound: readonly ModelMove[] = [
    ...left.map((one): ModelMove => ({ kind: "dispatch", class: one, step: ownDispatch(space, own, one) })),
    ...environment(space, own),
    ...left.map((one): ModelMove => ({ kind: "other", class: one, step: otherDispatch(space, other, one) })),
  ];
  const { move: change } = fault;
  const moves = change === undefined ? sound : sound.flatMap((move) => change(move, space) ?? []);
  const model: Model = { space, moves: moves.filter(({ step }) => step.permitted !== 0) };
  const explored = explore(model);
  return explored.ok ? explored.value : undefined;
}

const contracts = (change: (contract: ToolContract) => ToolContract): Fault => ({
  subject: (subject) => ({ ...subject, contracts: subject.contracts.map(change) }),
});
const args = (change: (argument: ArgumentContract) => ArgumentContract): Fault =>
  contracts((one) => ({
    ...one,
    arguments: new Map([...one.arguments].map(([name, argument]) => [name, change(argument)])),
    rest: change(one.rest),
  }));
const ir = (change: (ir: Ir) => Partial<Ir>): Fault => ({
  subject: (subject) => {
    const { policy } = subject;
    return { ...subject, policy: { ...policy, ir: { ...policy.ir, ...change(policy.ir) } } };
  },
});
const rules = (change: (rule: Rule) => Rule): Fault => ir((its) => ({ rules: its.rules.map(change) }));
const plain = (change: (when: Pattern) => Pattern): Fault =>
  rules((rule) => (rule.kind === "plain" && rule.tier !== "allow" ? { ...rule, when: change(rule.when) } : rule));
const temporal = (change: (temporal: Temporal) => Temporal): Fault =>
  rules((rule) => (rule.kind === "temporal" ? { ...rule, temporal: change(rule.temporal) } : rule));
const hazards = (change: (hazard: Hazard) => Hazard): Fault => ir((its) => ({ hazards: its.hazards.map(change) }));
const without = (...kinds: readonly ModelMove["kind"][]): Fault => ({
  move: (move) => (kinds.includes(move.kind) ? undefined : move),
});

function restepped(move: ModelMove, change: (step: Step) => Step): ModelMove {
  return { ...move, step: change(move.step) };
}
/** Fixes choices of the environment or the agent. */
const choosing = (choice: (name: string) => boolean | undefined): Fault => ({
  move: (move, space) => {
    const { diagram } = space;
    const fixed = new Map<number, number>();
    for (const node of [move.step.permitted, move.step.bad, ...move.step.next.values()]) {
      for (const level of diagram.support(node)) {
        const name = level < space.variables.length ? undefined : space.choiceName(level);
        const chosen = name === undefined ? undefined : choice(name);
        if (chosen !== undefined) fixed.set(level, chosen ? 1 : 0);
      }
    }
    const fix = (node: number): number => diagram.compose(node, fixed);
    return restepped(move, ({ permitted, bad, next }) => ({
      permitted: fix(permitted),
      bad: fix(bad),
      next: new Map([...next].map(([level, node]) => [level, fix(node)])),
    }));
  },
});

const noLabel = 0 as Label; // labels are made from policies alone; these two are no policy's
const fourBits = 0b1111 as Label;
const allBits = (its: DataAtom): DataAtom => ({ ...its, atom: { kind: "atLeast", bits: fourBits } });
const shortened = (effect: Effect): Effect => effect.split(".").slice(0, 2).join(".") as Effect; // a wrong one on purpose
const blind: LabelAtom = { kind: "atLeast", bits: noLabel };

/** What may go wrong between a policy and a proof, by name. */
export const faults: Readonly<Record<string, Fault>> = {
  "a write into a store is dropped": contracts((one) => ({ ...one, writes: [] })),
  "an opening of a store is dropped": contracts((one) => ({ ...one, opens: [] })),
  "the cases of tools are missing": contracts((one) => ({ ...one, cases: [] })),
  "the last tool is missing": { subject: (its) => ({ ...its, contracts: its.contracts.slice(0, -1) }) },
  "the first tool is missing": { subject: (its) => ({ ...its, contracts: its.contracts.slice(1) }) },
  "one named argument is ignored": contracts((one) => ({ ...one, arguments: new Map([...one.arguments].slice(1)) })),
  "the rest of the arguments is forgotten": {
    classes: (all) => all.map((one) => ({ ...one, arguments: one.arguments.filter(({ name }) => name !== "") })),
  },
  "flags are dropped": contracts((one) => ({ ...one, flags: { irreversible: false, openWorld: false } })),
  "only what must be done counts": contracts((one) => ({
    ...one,
    effects: { must: one.effects.must, may: one.effects.must },
  })),
  "effects are cut short": contracts((one) => ({
    ...one,
    effects: { must: one.effects.must, may: one.effects.may.map(shortened) },
  })),
  "everything is consequential": contracts((one) => ({ ...one, consequential: true })),
  "nobody sees an argument": args((one) => ({ ...one, audience: 0 })),
  "every argument is content": args((one) => ({ ...one, role: "content" })),
  "every argument steers": args((one) => ({ ...one, role: one.role === "content" ? "query" : one.role })),
  "a store starts at its lower end": ir((its) => ({
    stores: its.stores.map((store) => ({ ...store, initial: { lo: store.initial.hi, hi: store.initial.lo } })),
  })),
  "a store starts unseen": ir((its) => ({ stores: its.stores.map((store) => ({ ...store, audience: 0 })) })),
  "no data is followed": ir(() => ({ flow: "none" })),
  "the host is gated": ir(() => ({ host: { send: 0, read: "gated", execute: false } })),
  "labels in rules are ignored": plain(({ held, ...when }) => ({
    ...when,
    data: [],
    stores: when.stores.map(({ store }) => ({ store })),
    ...(held === undefined ? {} : { held: blind }),
  })),
  "predicates of rules are ignored": plain((when) => ({ ...when, predicates: [] })),
  "tools of rules are ignored": plain((when) => {
    const { tools: _, ...rest } = when;
    return rest;
  }),
  "allow rules are forgotten": ir((its) => ({ rules: its.rules.filter(({ tier }) => tier !== "allow") })),
  "an allow rule is read as a block": rules((rule) => (rule.tier === "allow" ? { ...rule, tier: "block" } : rule)),
  "an observed rule is enforced": rules((rule) => ({ ...rule, mode: "enforce" })),
  "an observed policy is enforced": {
    subject: (its) => ({
      ...its,
      policy: {
        ...its.policy,
        policy: { ...its.policy.policy, mode: "enforce" },
        table: { ...its.policy.table, servers: new Map() },
      },
    }),
  },
  "need and before are swapped": temporal((one) =>
    one.kind === "gate" ? { ...one, before: one.need, need: one.before } : one,
  ),
  "after and never are swapped": temporal((one) =>
    one.kind === "absence" ? { ...one, after: one.never, never: one.after } : one,
  ),
  "until is ignored": temporal((one) => {
    if (one.kind !== "absence") return one;
    const { until: _, ...rest } = one;
    return rest;
  }),
  "an injected call is a refusal": rules((rule) => {
    if (rule.kind !== "temporal" || rule.temporal.kind !== "inject") return rule;
    const { temporal: injected, ...rest } = rule;
    return { ...rest, kind: "plain", tier: "block", when: injected.before };
  }),
  "the key of a rule is ignored": temporal((one) => {
    if (!("key" in one)) return one;
    const { key: _, ...rest } = one;
    return rest;
  }),
  "a rule counts one less": temporal((one) => (one.kind === "at-most" ? { ...one, count: one.count - 1 } : one)),
  "a debt is due at once": temporal((one) => (one.kind === "owed" ? { ...one, within: 1 } : one)),
  "a debt is due before everything": temporal((one) =>
    one.kind === "owed" ? { ...one, before: { predicates: [], data: [], stores: [] } } : one,
  ),
  "a rule never forgets": temporal((one) => {
    if (!("withinMs" in one)) return one;
    const { withinMs: _, ...rest } = one;
    return rest;
  }),
  "a report at the end is a gate": temporal((one) => (one.kind === "by-end" ? { ...one, action: "hold" } : one)),
  "a hazard asks for more than it says": hazards((one) =>
    one.kind === "flow" ? { ...one, from: allBits(one.from) } : one,
  ),
  "a hazard counts one more": hazards((one) =>
    one.kind === "temporal" && one.temporal.kind === "at-most"
      ? { ...one, temporal: { ...one.temporal, count: one.temporal.count + 1 } }
      : one,
  ),
  "calls of the key are taken for others": { classes: (all) => all.filter(({ key }) => key !== "same") },
  "time stands still": without("tick"),
  "late success is omitted": without("late"),
  "other runs are omitted": without("other"),
  "readers of opened stores are missing": without("fire"),
  "nobody speaks or reads outside a call": without("speak", "host-read"),
  "every call succeeds at once": choosing((name) => (name === choiceNames.succeeds ? true : undefined)),
  "untrusted data stays out": choosing((name) => (name.startsWith("untrusted ") ? false : undefined)),
  "results bring nothing": choosing((name) => (name === choiceNames.returns ? false : undefined)),
  "the join with a store is a meet": {
    move: (move, space) => {
      const { diagram, stores } = space;
      const labels = new Set(stores.flatMap(({ label }) => label.hi ?? []));
      return restepped(move, (step) => ({
        ...step,
        next: new Map(
          [...step.next].map(([level, node]) => {
            const added = diagram.compose(node, new Map([[level, 0]]));
            return [level, labels.has(level) ? diagram.and(diagram.variable(level), added) : node];
          }),
        ),
      }));
    },
  },
  "two arguments meet instead of joining": {
    classes: (all) => all.map((one) => ({ ...one, arguments: one.arguments.slice(0, 1) })),
  },
};
