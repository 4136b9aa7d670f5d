/**
 * Proofs of hazards. Rules are added lazily: the first model has none, and each spurious counterexample adds a rule
 * that stops it; the rules that remain after trying each one's removal are the *core* of the proof ("this hazard is
 * prevented by rules 3 and 7"). A counterexample that no rule stops refutes it.
 */
import { type Result, err, ok } from "../../core/result.ts";
import type { Hazard } from "../../policy/ir/ir.ts";
import type { Node } from "./diagram.ts";
import {
  type Cost,
  type Explored,
  type Model,
  type ModelMove,
  explore,
  freshCost,
  makeModel,
  tooLarge,
} from "./fixpoint.ts";
import { shortestPath } from "./path.ts";
import { type Ends, type Subject, boundsRule, candidates, defaultRule, isObserved, questionOf } from "./subject.ts";
import { type Trace, type TraceStep, traceOf } from "./trace.ts";
import { type Variants, makeVariants } from "./variants.ts";

export type Prover = { readonly subject: Subject; readonly variants: Variants };

export function makeProver(subject: Subject): Prover {
  return { subject, variants: makeVariants(subject) };
}

export type Counterexample = { readonly steps: readonly TraceStep[] };

export type HazardProof = {
  readonly hazard: Hazard;
  readonly verdict: "proved" | "refuted" | "vacuous" | "unknown";
  /**
   * The means that prevents the hazard: rules alone, the refusal of every bad call (regulation), a question to the
   * user, or nothing.
   */
  readonly enforcedBy: "rules" | "regulation" | "consent" | "none";
  /** It holds even with consent to every question. Undefined where that was not decided. */
  readonly givenConsent: boolean | undefined;
  /** Moves that the gateway does not decide cause it. */
  readonly unenforceable?: "host";
  /** The policy accepts it (`accepts:`). */
  readonly accepted: boolean;
  /** The same question without any rule. */
  readonly without: { readonly verdict: "proved" | "refuted" | "unknown"; readonly counterexample?: Counterexample };
  readonly counterexample?: Counterexample;
  /** A counterexample with consent to every question, if one was found. */
  readonly consented?: Counterexample;
  /** Ids of the rules that the proof needs, and `default`. */
  readonly core?: readonly string[];
  /** The explored model of the core: what a certificate is made from. */
  readonly explored?: Explored;
  /** Why it is vacuous or unknown. */
  readonly reason?: string;
};

/** Decides one hazard with one core: whether it is safe, else the number of moves to the nearest bad one. */
export function decideCore(
  prover: Prover,
  hazardId: string,
  core: readonly string[],
  ends: Ends = ["hi"],
): Result<Explored, string> {
  const hazard = prover.subject.policy.ir.hazards.find((one) => one.id === hazardId);
  if (hazard === undefined) return err(`there is no hazard \`${hazardId}\``);
  return decide({ ...prover, hazard, cost: freshCost(), every: [] }, core, ends);
}

/** One hazard, and the budget of all questions about it together. */
type Case = Prover & { readonly hazard: Hazard; readonly cost: Cost; readonly every: readonly string[] };

function decide(
  { subject, variants, hazard, cost }: Case,
  core: readonly string[],
  ends: Ends,
): Result<Explored, string> {
  const question = questionOf(subject, { hazard, core: new Set(core), ends });
  const model = makeModel(question, variants, cost);
  return model.ok ? explore(model.value) : model;
}

export function proveHazard(prover: Prover, hazard: Hazard, cost: Cost = freshCost()): HazardProof {
  const { policy } = prover.subject;
  const accepted = policy.policy.accepts.includes(hazard.id);
  const one: Case = { ...prover, hazard, cost, every: candidates(policy.ir, hazard) };
  const bare = decide(one, [], ["hi"]);
  if (!bare.ok) return undecided(hazard, accepted, bare.error);
  const without = verdictOf(bare.value, one.every);
  const head = { hazard, accepted, without };
  if (bare.value.distance === undefined) return { ...head, ...needingNothing(bare.value) };
  const searched = lazily(one, { core: [], explored: bare.value });
  if (!searched.ok) return { ...head, ...undecided(hazard, accepted, searched.error), without };
  if (searched.value.kind === "refuted") {
    return { ...head, ...refuted(one, searched.value.core), counterexample: searched.value.counterexample };
  }
  const { core, explored } = minimised(one, searched.value);
  const { holds: consent, ...consented } = givenConsent(one, core);
  // A proof that needs a question depends on the user, so it is `consent`, whatever the answer would be.
  const asks = core.some(
    (id) => id === defaultRule || policy.ir.rules.find((rule) => rule.id === id)?.tier === "confirm",
  );
  const enforcedBy = asks || consent === false ? "consent" : "rules";
  return { ...head, verdict: "proved", enforcedBy, givenConsent: consent, ...consented, core, explored };
}

type Found = Omit<HazardProof, "hazard" | "accepted" | "without">;

/** Without any rule no move leads to the hazard: the labels of the tools prevent it, or its pattern matches none. */
function needingNothing(explored: Explored): Found {
  if (!triggerable(explored.model)) {
    const reason = "nothing that can be called matches it";
    return { verdict: "vacuous", enforcedBy: "none", givenConsent: true, reason };
  }
  const reason = "it holds without any rule: nothing that can be called leads there";
  return { verdict: "proved", enforcedBy: "rules", givenConsent: true, core: [], explored, reason };
}

function undecided(hazard: Hazard, accepted: boolean, reason: string): HazardProof {
  const without = { verdict: "unknown" } as const;
  return { hazard, accepted, without, verdict: "unknown", enforcedBy: "none", givenConsent: undefined, reason };
}

function verdictOf(explored: Explored, every: readonly string[]): HazardProof["without"] {
  if (explored.distance === undefined) return { verdict: "proved" };
  const path = shortestPath(explored);
  if (path === undefined) return { verdict: "unknown" };
  return { verdict: "refuted", counterexample: { steps: traceOf(explored.model.space, path, every).steps } };
}

/** Some move could cause the hazard in some state, reachable or not. */
function triggerable({ moves }: Model): boolean {
  return moves.some(({ step }) => step.bad !== 0);
}

type Searched =
  | { readonly kind: "safe"; readonly core: readonly string[]; readonly explored: Explored }
  | { readonly kind: "refuted"; readonly core: readonly string[]; readonly counterexample: Counterexample };

type Search = { readonly core: readonly string[]; readonly explored: Explored };

/** Adds rules that stop spurious counterexamples until none is left, or one that no rule stops. */
function lazily(one: Case, search: Search): Result<Searched, string> {
  const core = [...search.core];
  let { explored } = search;
  const { question } = explored.model.space;
  const { ends } = question;
  // Each round adds a rule that was not there before.
  for (;;) {
    if (explored.distance === undefined) return ok({ kind: "safe", core, explored });
    const path = shortestPath(explored);
    // A counterexample exists, but the budget for finding it is spent: this must never count as proved.
    if (path === undefined) return tooLarge(question);
    const trace = traceOf(explored.model.space, path, one.every, ends[0] ?? "hi");
    const next = missingRule(one, trace);
    if (next === undefined) return ok({ kind: "refuted", core, counterexample: { steps: trace.steps } });
    core.push(next);
    const again = decide(one, core, ends);
    if (!again.ok) return again;
    explored = again.value;
  }
}

const strictness = { block: 0, must: 1, confirm: 2, allow: 3 } as const;

/**
 * The rule to add for a spurious counterexample: the strictest, then the one that stops it latest; the default last.
 */
function missingRule({ subject }: Prover, { stoppedBy }: Trace): string | undefined {
  const { rules } = subject.policy.ir;
  const rank = (id: string): number => strictness[rules.find((rule) => rule.id === id)?.tier ?? "allow"];
  const named = stoppedBy.filter(({ rule }) => rule !== defaultRule && rule !== boundsRule);
  const [best] = named.toSorted((left, right) => rank(left.rule) - rank(right.rule) || right.step - left.step);
  return best?.rule ?? [defaultRule, boundsRule].find((id) => stoppedBy.some(({ rule }) => rule === id));
}

/** Removes each rule that the proof does not need. */
function minimised(one: Case, found: Search): Search {
  let { core, explored } = found;
  // A single rule is needed: it was added because a counterexample existed without it.
  for (const id of found.core.length === 1 ? [] : found.core) {
    const fewer = core.filter((kept) => kept !== id);
    const again = decide(one, fewer, ["hi"]);
    if (!again.ok || again.value.distance !== undefined) continue;
    core = fewer;
    explored = again.value;
  }
  return { core, explored };
}

type Consent = { readonly holds: boolean | undefined; readonly consented?: Counterexample };

/**
 * With consent to every question: whether certain refusals alone prevent the hazard. Undefined where a limit was
 * reached.
 */
function givenConsent(one: Case, core: readonly string[]): Consent {
  const alone = decide(one, core, ["lo", "hi"]);
  if (!alone.ok) return { holds: undefined };
  const searched = lazily(one, { core, explored: alone.value });
  if (!searched.ok) return { holds: undefined };
  return searched.value.kind === "safe" ? { holds: true } : { holds: false, consented: searched.value.counterexample };
}

/** For a hazard that the rules do not prevent: whether regulation prevents it, or nothing. */
function refuted({ subject, variants, hazard, cost }: Case, core: readonly string[]): Found {
  // The rules that the search added suffice: with fewer rules more moves are possible.
  const question = questionOf(subject, { hazard, core: new Set(core), ends: ["hi"] });
  const model = makeModel(question, variants, cost);
  const none = { verdict: "refuted", enforcedBy: "none", givenConsent: false } as const;
  if (!model.ok) return none;
  const uncontrolled = explore(onlyEnvironment(model.value));
  if (!uncontrolled.ok) return none;
  const { distance, layers } = uncontrolled.value;
  if (distance !== undefined) return { ...none, unenforceable: "host" };
  if (hazard.mode === "observe") return none;
  // An accepted hazard is not part of the game: its own calls are still refused, but no call that only leads to it.
  const lost = subject.policy.policy.accepts.includes(hazard.id) ? 0 : (layers.at(-1) ?? 1);
  const regulated = explore(refusing(model.value, lost));
  const kept = regulated.ok && regulated.value.distance === undefined;
  return { ...none, enforcedBy: kept ? "regulation" : "none" };
}

const uncontrollable: ReadonlySet<string> = new Set(["fire", "tick", "host-read", "host-send", "host-execute"]);

function onlyEnvironment({ space, moves }: Model): Model {
  return { space, moves: moves.filter(({ kind }) => uncontrollable.has(kind)) };
}

/**
 * The moves that remain when the gateway refuses bad moves and those into `lost`, the states from which the hazard can
 * happen without a call (formal.md 4.5). It refuses no call of an observed server.
 */
function refusing({ space, moves }: Model, lost: Node): Model {
  const { diagram, question } = space;
  const observes = question.subject.contracts.some((contract) => isObserved(question.subject, contract));
  const refused = (move: ModelMove): boolean => {
    if (move.kind === "speak") return !observes;
    return (move.kind === "dispatch" || move.kind === "other") && !move.class.variant.observed;
  };
  const kept = moves.map((move): ModelMove => {
    if (!refused(move)) return move;
    const { permitted, bad, next } = move.step;
    const harmful = diagram.or(bad, diagram.compose(lost, next));
    return { ...move, step: { permitted: diagram.and(permitted, diagram.not(harmful)), bad: 0, next } };
  });
  return { space, moves: kept };
}
