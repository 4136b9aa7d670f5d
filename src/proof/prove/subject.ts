/**
 * The subject of a proof (docs/semantics.md): a policy, the contracts of everything that can be called, one hazard, and the
 * rules that may restrict. A question with fewer rules is a weaker model of the same system, so a proof of it is a proof of
 * the whole.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { CompiledPolicy } from "../../policy/compile/compile.ts";
import type { Hazard, Ir, KeySpec, LabelAtom, Pattern, Rule, Temporal } from "../../policy/ir/ir.ts";
import type { Tier } from "../../policy/document/shapes-rules.ts";
import { unlockingOf } from "../../policy/semantics/monitors.ts";
import type { End, Polarity } from "../../policy/semantics/patterns.ts";

export type Subject = {
  readonly policy: CompiledPolicy;
  /** The label table of the proof: contracts of every tool and every protocol method of every server. */
  readonly contracts: readonly ToolContract[];
};

/** Id of the policy's own default in a core; it reads only the restrictions that matter for other reasons. */
export const defaultRule = "default";

/** Id that makes the default read every restriction that some sink forbids; only together with `defaultRule`. */
export const boundsRule = "bounds";

/** Temporal rules that restrict in the model; all others only ask or report. */
export type ModelTemporal = Temporal & { readonly kind: "gate" | "absence" | "at-most" | "immediately" | "owed" };

export type Automaton = {
  readonly id: string;
  readonly temporal: ModelTemporal;
  readonly owner: "rule" | "hazard";
  readonly tier: Tier;
  readonly keyed: boolean;
};

export type PlainRule = Rule & { readonly kind: "plain" };

/** The ends of uncertain labels that the proof follows: the upper for `proved`, both for `proved given consent`. */
export type Ends = readonly End[];

export type Question = {
  readonly subject: Subject;
  /** The hazard of the question. */
  readonly hazard: Hazard;
  /** All hazards whose patterns and automata the model follows; for a proof only the one of the question. */
  readonly hazards: readonly Hazard[];
  /** Patterns that only distinguish calls. */
  readonly apart: readonly Pattern[];
  readonly core: ReadonlySet<string>;
  readonly ends: Ends;
  /** Plain rules of the core that block or ask. */
  readonly plain: readonly PlainRule[];
  /** Of temporal rules of the core, and last of the hazard if it is temporal. */
  readonly automata: readonly Automaton[];
  /** Enforced allow rules, which lift the default; empty where the default is not in the core. */
  readonly allows: readonly PlainRule[];
  readonly useDefault: boolean;
  readonly key: KeySpec | undefined;
  /** Restrictions that can matter, as bits; every label is cut to them. */
  readonly mattering: number;
};

export type QuestionRequest = {
  readonly hazard: Hazard;
  /** Further hazards to follow, besides the one of the question; none of them with a key. */
  readonly beside?: readonly Hazard[];
  /** Patterns outside of the model that still distinguish calls. */
  readonly apart?: readonly Pattern[];
  readonly core: ReadonlySet<string>;
  readonly ends: Ends;
};

export function questionOf(
  subject: Subject,
  { hazard, beside = [], apart = [], core, ends }: QuestionRequest,
): Question {
  const hazards = [hazard, ...beside];
  const { ir } = subject.policy;
  const key = hazardKey(hazard);
  const enforced = ir.rules.filter((rule) => rule.mode === "enforce");
  const useDefault = core.has(defaultRule);
  const plain = enforced.filter(
    (rule): rule is PlainRule => rule.kind === "plain" && rule.tier !== "allow" && core.has(rule.id),
  );
  const allows = useDefault
    ? enforced.filter((rule): rule is PlainRule => rule.kind === "plain" && rule.tier === "allow")
    : [];
  const rules = enforced.flatMap((rule) => (core.has(rule.id) ? automatonOf(rule, key) : []));
  const automata = [...rules, ...hazards.flatMap(hazardAutomaton)];
  const question = { subject, hazard, hazards, apart, core, ends, plain, automata, allows, useDefault, key };
  return { ...question, mattering: matteringBits(question) };
}

/** Rules that could restrict something in a proof of this hazard, and the default: what a core is chosen from. */
export function candidates(ir: Ir, hazard: Hazard): readonly string[] {
  const key = hazardKey(hazard);
  const restricts = (rule: Rule): boolean =>
    rule.mode === "enforce" && (rule.kind === "plain" ? rule.tier !== "allow" : automatonOf(rule, key).length > 0);
  return [...ir.rules.filter(restricts).map((rule) => rule.id), defaultRule, boundsRule];
}

function hazardKey(hazard: Hazard): KeySpec | undefined {
  return hazard.kind === "temporal" ? hazard.temporal.key : undefined;
}

/** A keyed rule is relevant for a hazard only if both follow the same key (formal.md annex 8). */
function automatonOf(rule: Rule, key: KeySpec | undefined): readonly Automaton[] {
  if (rule.kind !== "temporal") return [];
  const temporal = modelTemporal(rule.temporal);
  if (temporal === undefined) return [];
  const own = "key" in temporal ? temporal.key : undefined;
  if (own !== undefined && !sameKey(own, key)) return [];
  return [{ id: rule.id, temporal, owner: "rule", tier: rule.tier, keyed: own !== undefined }];
}

function hazardAutomaton(hazard: Hazard): readonly Automaton[] {
  if (hazard.kind !== "temporal") return [];
  const { temporal } = hazard;
  return [{ id: hazard.id, temporal, owner: "hazard", tier: "block", keyed: temporal.key !== undefined }];
}

function sameKey(left: KeySpec, right: KeySpec | undefined): boolean {
  return left.argument === right?.argument && left.form === right.form && left.foldLocalPart === right.foldLocalPart;
}

/**
 * A temporal rule in the model; undefined if it restricts nothing there. An injected call must have succeeded since the
 * last such call; a call held until the end of a run is not sent before. A budget is free: the agent chooses amounts
 * (formal.md annex 10).
 */
export function modelTemporal(temporal: Temporal): ModelTemporal | undefined {
  switch (temporal.kind) {
    case "gate":
    case "absence":
    case "at-most":
    case "immediately":
    case "owed":
      return temporal;
    case "inject": {
      const { before, server, tool } = temporal;
      const need: Pattern = { tools: [{ server, tool }], predicates: [], data: [], stores: [] };
      return { kind: "gate", before, need, relock: before };
    }
    case "by-end": {
      const { action, after, by, key } = temporal;
      if (action !== "hold") return undefined;
      return { kind: "gate", before: after, need: by, ...(key === undefined ? {} : { key }) };
    }
    case "budget":
      return undefined;
  }
}

/** A pattern with its polarity. */
export type Reading = { readonly pattern: Pattern; readonly polarity: Polarity };

const restrict = (pattern: Pattern): Reading => ({ pattern, polarity: "restrict" });
const permit = (pattern: Pattern): Reading => ({ pattern, polarity: "permit" });

/** Equal for automata that the same successes unlock: one late success unlocks them together. */
export function unlockText({ temporal }: Automaton): string | undefined {
  const unlock = unlockingOf(temporal);
  const key = "key" in temporal ? temporal.key : undefined;
  return unlock === undefined ? undefined : JSON.stringify([unlock, key]);
}

/** The pattern on which an automaton fires. */
export function firingOf(temporal: ModelTemporal): Pattern | undefined {
  switch (temporal.kind) {
    case "gate":
    case "immediately":
      return temporal.before;
    case "absence":
      return temporal.never;
    case "at-most":
      return temporal.of;
    case "owed":
      return temporal.before;
  }
}

function readingsOf(temporal: ModelTemporal): readonly Reading[] {
  const unlock = unlockingOf(temporal);
  const firing = firingOf(temporal);
  return [
    ...(unlock === undefined ? [] : [permit(unlock)]),
    ...(firing === undefined ? [] : [restrict(firing)]),
    ...(temporal.kind === "gate" && temporal.relock !== undefined ? [restrict(temporal.relock)] : []),
    ...(temporal.kind === "absence" || temporal.kind === "owed" ? [restrict(temporal.after)] : []),
  ];
}

function hazardReadings(hazard: Hazard): readonly Reading[] {
  switch (hazard.kind) {
    case "flow":
      return [restrict(hazard.to)];
    case "call":
      return [restrict(hazard.call)];
    case "temporal":
      return [];
  }
}

type Parts = Pick<Question, "subject" | "hazards" | "apart" | "core" | "plain" | "automata" | "allows" | "useDefault">;

/** Place of the hazard's own automaton, if it is temporal. */
export function automatonOfHazard({ automata }: Question, { id }: Hazard): number {
  return automata.findIndex((automaton) => automaton.owner === "hazard" && automaton.id === id);
}

/** Every pattern that the model of a question reads. */
export function readings({ hazards, apart, plain, automata, allows }: Parts): readonly Reading[] {
  return [
    ...apart.map(restrict),
    ...hazards.flatMap(hazardReadings),
    ...plain.map((rule) => restrict(rule.when)),
    ...automata.flatMap(({ temporal }) => readingsOf(temporal)),
    ...allows.map((rule) => permit(rule.when)),
  ];
}

function matteringBits(parts: Parts): number {
  const { hazards, subject } = parts;
  let bits = 0;
  for (const hazard of hazards) if (hazard.kind === "flow") bits |= atomBits(hazard.from.atom);
  for (const { pattern } of readings(parts)) {
    for (const { atom } of pattern.data) bits |= atomBits(atom);
    if (pattern.held !== undefined) bits |= atomBits(pattern.held);
    for (const { label } of pattern.stores) bits |= label === undefined ? 0 : atomBits(label);
  }
  if (!parts.useDefault) return bits;
  bits |= subject.policy.ir.lattice.untrustedBit;
  return parts.core.has(boundsRule) ? bits | sinkBounds(subject.contracts) : bits;
}

const knownBounds = new WeakMap<readonly ToolContract[], number>();

/** Every restriction that some sink forbids. All questions about a subject ask for the same. */
function sinkBounds(contracts: readonly ToolContract[]): number {
  let bits = knownBounds.get(contracts);
  if (bits !== undefined) return bits;
  bits = 0;
  for (const contract of contracts) {
    for (const { sink, forbidden } of [...contract.arguments.values(), contract.rest]) if (sink) bits |= forbidden;
  }
  knownBounds.set(contracts, bits);
  return bits;
}

function atomBits(atom: LabelAtom): number {
  return atom.kind === "atLeast" ? atom.bits : atom.forbidden;
}

/** The policy or the contract's server is in observe mode, so no call of it is refused. */
export function isObserved(subject: Subject, contract: ToolContract): boolean {
  const { policy, table } = subject.policy;
  return policy.mode === "observe" || table.servers.get(contract.server)?.mode === "observe";
}
