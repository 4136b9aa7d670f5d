/**
 * A policy with debts or firm keeps as a game (formal.md 4.5): all its hazards at once, the rules that deny, and the
 * tools that the policy itself labels, since a debt is met by a call, which must stay possible.
 *
 * Approximations: a call that a keyed rule may stop serves no goal; calls in flight serve no goal; amounts are always
 * within their budgets.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { LabelRange } from "../../core/label.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import type { Hazard, Pattern, Rule, Temporal, ToolSelector } from "../../policy/ir/ir.ts";
import { matches, nameMatches } from "../../policy/semantics/patterns.ts";
import { type ModelClass, makeClasses, outcomeOf } from "../prove/classes.ts";
import { Diagram, type Node } from "../prove/diagram.ts";
import { choiceNames, hazardFires, ownDispatch, seenBy, stops, type Seen } from "../prove/dispatch.ts";
import { environment } from "../prove/environment.ts";
import { type Cost, stateWidth } from "../prove/fixpoint.ts";
import { stateVariablesMax } from "../prove/limits.ts";
import { type Space, makeSpace, ownView } from "../prove/space.ts";
import { firingOf, modelTemporal, questionOf, type ModelTemporal, type Subject } from "../prove/subject.ts";
import { type Variant, type Variants, makeVariants } from "../prove/variants.ts";
import type { Arena, Bad, Goal, Outcome, Round, Uncontrollable, Update } from "./arena.ts";
import { uncontrollable } from "./safety-arena.ts";
import { inGame } from "./watch.ts";

export type GoalRequest = {
  readonly policy: CompiledPolicy;
  /** The tools that the policy labels, with which debts can be met. */
  readonly contracts: readonly ToolContract[];
  /** Tools of firm keeps. */
  readonly keeps: readonly ToolSelector[];
  /** Accepted risks, as `HAZARD MOVE`. */
  readonly accepted: ReadonlySet<string>;
  readonly cost: Cost;
};

export type GoalArena = { readonly space: Space; readonly arena: Arena };

/** Placeholder for a policy without a usable hazard: it matches no call. */
const nothing: Hazard = {
  id: "",
  loss: "",
  consent: "never",
  why: "",
  mode: "enforce",
  kind: "call",
  call: { tools: [], predicates: [], data: [], stores: [] },
};

export function goalArena(request: GoalRequest): Result<GoalArena, string> {
  const { policy, contracts, cost } = request;
  const subject: Subject = { policy, contracts };
  const hazards = policy.ir.hazards.filter((one) => inGame(policy, one) && !isKeyed(one));
  const [hazard = nothing, ...beside] = hazards;
  const denying = policy.ir.rules.filter(
    ({ tier, mode }) => mode === "enforce" && (tier === "block" || tier === "must"),
  );
  const core = new Set(denying.map(({ id }) => id));
  const apart = keyedFirings(policy).map(({ firing }) => firing);
  const question = questionOf(subject, { hazard, beside, apart, core, ends: ["hi"] });
  if (stateWidth(question) > stateVariablesMax) {
    return err(`the game counts to more than the limit of ${stateVariablesMax} bits of state: use smaller numbers`);
  }
  const variants = makeVariants(subject);
  const outputs = variants.outputs.flatMap((range) => [range, lowest(range)]);
  const space = makeSpace(question, outputs, new Diagram(cost.nodesMax, cost.effort));
  const classes = makeClasses(space, variants);
  if (!classes.ok) return classes;
  const kept = keptClasses(space, request);
  if (!kept.ok) return kept;
  const rounds = [...classes.value, ...kept.value.flatMap((one) => one.classes)].map((one) => roundOf(space, one));
  return ok({
    space,
    arena: {
      diagram: space.diagram,
      stateCount: space.variables.length,
      rounds,
      uncontrollable: movesOf(space, request.accepted),
      goals: [...debtsOf(space), ...keepGoals(kept.value, classes.value.length)],
      domain: 1,
    },
  });
}

function isKeyed(hazard: Hazard): boolean {
  return hazard.kind === "temporal" && hazard.temporal.key !== undefined;
}

function lowest({ lo }: LabelRange): LabelRange {
  return { lo, hi: lo };
}

type Kept = { readonly name: string; readonly classes: readonly ModelClass[] };

/** The calls of each kept tool on their own: among all classes they may have been merged with others. */
function keptClasses(space: Space, { policy, contracts, keeps }: GoalRequest): Result<readonly Kept[], string> {
  const found: Kept[] = [];
  for (const { server, tool } of keeps) {
    const own = contracts.filter((one) => nameMatches(server, one.server) && nameMatches(tool, one.tool));
    const variants: Variants = makeVariants({ policy, contracts: own });
    const classes = makeClasses(space, variants);
    if (!classes.ok) return classes;
    found.push({ name: `keep ${server}.${tool}`, classes: classes.value });
  }
  return ok(found);
}

function keepGoals(kept: readonly Kept[], before: number): readonly Goal[] {
  let next = before;
  return kept.map(({ name, classes }) => {
    const rounds = classes.map((_, index) => next + index);
    next += classes.length;
    return { name, holds: 0, rounds };
  });
}

/** A debt is met in every state in which it is not owed. */
function debtsOf(space: Space): readonly Goal[] {
  const { diagram, question } = space;
  return question.automata.flatMap(({ id, temporal }, index): readonly Goal[] => {
    const level = space.automata.hi?.[index]?.bits[0];
    if (temporal.kind !== "owed" || level === undefined) return [];
    return [{ name: `debt ${id}`, holds: diagram.not(diagram.variable(level)), rounds: [] }];
  });
}

function movesOf(space: Space, accepted: ReadonlySet<string>): readonly Uncontrollable[] {
  const { question } = space;
  const { ir } = question.subject.policy;
  return question.hazards.flatMap((hazard, index) => {
    const moves = environment(about(space, hazard), ownView(space)).flatMap((move) => uncontrollable(ir, move, hazard));
    return moves.flatMap((move): readonly Uncontrollable[] => {
      const acts = move.bad.never !== 0 || move.bad.may !== 0;
      // Time and reads of the host are the same for every hazard.
      if (!acts) return index === 0 ? [move] : [];
      return accepted.has(`${hazard.id} ${move.name}`) ? [] : [move];
    });
  });
}

function about(space: Space, hazard: Hazard): Space {
  return { ...space, question: { ...space.question, hazard } };
}

function roundOf(space: Space, one: ModelClass): Round {
  const { diagram } = space;
  const view = ownView(space);
  const seen = seenBy(space, view, one, "hi");
  const denied = diagram.or(stops(space, one, seen, ["block", "must"]), keyed(space, seen, "rule"));
  const open = diagram.and(meant(space, one), one.variant.observed ? 1 : diagram.not(denied));
  const high = updates(space, one);
  const least = updates(space, leastOf(space, one));
  const none: Bad = { never: 0, may: 0 };
  const succeeded = (from: Updates): Outcome => ({
    failed: false,
    releases: [
      { kind: "pass", next: from({ succeeds: true, returns: true }), bad: none },
      { kind: "reject", next: from({ succeeds: true, returns: false }), bad: none },
    ],
  });
  const failed: Outcome = {
    failed: true,
    releases: [
      { kind: "pass", next: high({ succeeds: false, returns: true }), bad: none },
      { kind: "reject", next: high({ succeeds: false, returns: false }), bad: none },
    ],
  };
  const { server, tool } = one.variant.contract;
  return {
    name: `${server}.${tool}`,
    open,
    free: open,
    bad: badOf(space, one, seen),
    middle: high({ succeeds: false, returns: false }),
    outcomes: [failed, succeeded(least), succeeded(high)],
  };
}

function badOf(space: Space, one: ModelClass, seen: Seen): Bad {
  const { diagram, question } = space;
  let never = keyed(space, seen, "never");
  let may = keyed(space, seen, "may");
  for (const hazard of question.hazards) {
    const fires = hazardFires(about(space, hazard), one, seen);
    if (hazard.consent === "may") may = diagram.or(may, fires);
    else never = diagram.or(never, fires);
  }
  return { never, may };
}

/**
 * In `strict` an argument that is given carries all that is held (formal.md 4.2). A call without arguments could always
 * be made, and would meet every goal without any use: a call that is to meet a goal has the arguments that the policy
 * mentions.
 */
function meant({ diagram, question, choice }: Space, one: ModelClass): Node {
  if (question.subject.policy.ir.flow !== "strict") return 1;
  const declared = one.variant.contract.arguments;
  return one.arguments.reduce<Node>((all, { name }, index) => {
    const counts = declared.size === 0 ? name === "" : declared.has(name);
    return counts ? diagram.and(all, choice(choiceNames.present(index))) : all;
  }, 1);
}

type Firing = { readonly owner: "rule" | Hazard["consent"]; readonly firing: Pattern };

/**
 * Rules and hazards with keys are not followed here: a goal must not rely on a call that one of them could stop or find
 * bad, nor on one that arms a hazard which other moves could then cause.
 */
function keyedFirings(policy: CompiledPolicy): readonly Firing[] {
  const { rules, hazards } = policy.ir;
  const firing = (owner: Firing["owner"], temporal: Temporal): readonly Firing[] => {
    const followed = modelTemporal(temporal);
    if (followed === undefined || !("key" in followed) || followed.key === undefined) return [];
    const arms = owner === "rule" || !othersAct(policy) ? [] : armingOf(followed);
    return [firingOf(followed), ...arms].flatMap((one) => (one === undefined ? [] : [{ owner, firing: one }]));
  };
  const denies = ({ mode, tier }: Rule): boolean => mode === "enforce" && (tier === "block" || tier === "must");
  return [
    ...rules.flatMap((rule) => (rule.kind === "temporal" && denies(rule) ? firing("rule", rule.temporal) : [])),
    ...hazards.flatMap((one) =>
      one.kind === "temporal" && inGame(policy, one) ? firing(one.consent, one.temporal) : [],
    ),
  ];
}

/** Moves other than calls can cause a hazard: those of the client, or of readers of an open store. */
function othersAct({ ir }: CompiledPolicy): boolean {
  return ir.host.send !== 0 || ir.host.execute || ir.stores.length > 0;
}

function armingOf(temporal: ModelTemporal): readonly (Pattern | undefined)[] {
  if (temporal.kind === "absence") return [temporal.after];
  return temporal.kind === "gate" ? [temporal.relock] : [];
}

function keyed({ diagram, question }: Space, { context, scene }: Seen, owner: Firing["owner"]): Node {
  const own = keyedFirings(question.subject.policy).filter((one) => one.owner === owner);
  return own.reduce<Node>((all, { firing }) => diagram.or(all, matches(context, firing, "restrict", scene)), 0);
}

/** The class with the least that its result can bring. */
function leastOf(space: Space, one: ModelClass): ModelClass {
  const { contract } = one.variant;
  const output = {
    label: lowest(contract.output.label),
    fields: contract.output.fields.map((field) => ({ ...field, label: lowest(field.label) })),
  };
  const variant: Variant = { ...one.variant, contract: { ...contract, output } };
  return { ...one, variant, ...outcomeOf(space, variant) };
}

type Ending = { readonly succeeds: boolean; readonly returns: boolean };
type Updates = (ending: Ending) => Update;

/** The update of a whole round of the class by how it ends; calls in flight are ignored here. */
function updates(space: Space, one: ModelClass): Updates {
  const { diagram } = space;
  const { next } = ownDispatch(space, ownView(space), one);
  const pending = new Set((space.automata.hi ?? []).flatMap((places) => places.pending));
  const level = (name: string): number => [...diagram.support(space.choice(name))][0] ?? -1;
  return ({ succeeds, returns }) => {
    const ending = new Map<number, Node>([
      [level(choiceNames.succeeds), diagram.constant(succeeds)],
      [level(choiceNames.uncounted), 0],
      [level(choiceNames.returns), diagram.constant(returns)],
      [level(choiceNames.returnsFields), diagram.constant(returns)],
    ]);
    const found = new Map<number, Node>();
    for (const [place, node] of next) if (!pending.has(place)) found.set(place, diagram.compose(node, ending));
    return found;
  };
}
