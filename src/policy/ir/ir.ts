/**
 * The compiled policy: what `semantics.ts` gives meaning to. Plain, frozen data; every name is resolved, every label
 * is bits of one lattice, every predicate has an index. The canonical policy JSON compiles to exactly one of these.
 */
import type { Role, ToolContract } from "../../core/contract.ts";
import { type Effect, type EffectRange, covers } from "../../core/effect.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Label, Lattice } from "../../core/label.ts";
import type { ReadingLanguage } from "../../core/reading.ts";
import type { Tier } from "../document/shapes-rules.ts";
/** `*` matches within a name; a selector without a server matches the tool on every server. */
export type ToolSelector = { readonly server: string; readonly tool: string };

/** A typed test of one argument, closed under and, or, not. All are total: a value of another type is simply false. */
export type ArgumentTest =
  | { readonly kind: "present" }
  | { readonly kind: "equals"; readonly values: readonly (string | number | boolean | null)[] }
  | { readonly kind: "glob"; readonly patterns: readonly string[] }
  | { readonly kind: "domain"; readonly domains: readonly string[] }
  | { readonly kind: "path"; readonly prefixes: readonly string[] }
  | { readonly kind: "cidr"; readonly blocks: readonly string[] }
  | { readonly kind: "regex"; readonly pattern: string }
  | { readonly kind: "range"; readonly min?: string; readonly max?: string }
  | { readonly kind: "schema"; readonly schema: JsonObject }
  /** The whole value is text of this language that only reads (`core/reading.ts`). */
  | { readonly kind: "reads"; readonly language: ReadingLanguage }
  /** Some leaf of a list passes: how restricting rules read a test, so that one bad entry is not hidden by good ones. */
  | { readonly kind: "some"; readonly test: ArgumentTest }
  | { readonly kind: "not"; readonly test: ArgumentTest }
  | { readonly kind: "all"; readonly tests: readonly ArgumentTest[] }
  | { readonly kind: "any"; readonly tests: readonly ArgumentTest[] };

/** A predicate over arguments; its truth is part of the class of a call. */
export type Predicate =
  /** Every leaf of a list must pass (a list of recipients is as outside as its most outside member). */
  | { readonly kind: "argument"; readonly argument: string; readonly test: ArgumentTest; readonly ifAbsent: boolean }
  /** Every argument with role `path` lies inside the workspace; true when there is none. */
  | { readonly kind: "workspace" };

/**
 * A one-sided question about a label. `atLeast`: it has all of these restrictions (up-closed; block, must, confirm,
 * hazards). `atMost`: it has none of these (down-closed; allow, unlocking). There is no third form, so larger labels
 * never loosen (formal.md 4.1).
 */
export type LabelAtom =
  | { readonly kind: "atLeast"; readonly bits: Label }
  | { readonly kind: "atMost"; readonly forbidden: Label };

export type DataAtom = {
  readonly atom: LabelAtom;
  /** The arguments to join: those with these roles, those of these names, or all. */
  readonly roles?: readonly Role[];
  readonly names?: readonly string[];
  /** Only arguments that any of these groups can see (bit i = group i of the lattice). */
  readonly audience?: number;
};

export type StoreAtom = {
  readonly store: number;
  readonly label?: LabelAtom;
  /** Groups, as bit i = group i of the lattice; true if any of them is in the audience. */
  readonly audience?: number;
};

/** A set of dispatches. Every part that is present must hold. */
export type Pattern = {
  readonly tools?: readonly ToolSelector[];
  readonly effects?: readonly Effect[];
  readonly flags?: { readonly irreversible?: true; readonly openWorld?: true };
  readonly predicates: readonly { readonly index: number; readonly holds: boolean }[];
  readonly data: readonly DataAtom[];
  /** On the join of everything the agent holds. */
  readonly held?: LabelAtom;
  readonly stores: readonly StoreAtom[];
};

/** How the canonical key of a keyed rule is read from a call (formal.md annex 8). */
export type KeySpec = {
  readonly argument: string;
  readonly form: "email" | "domain" | "path" | "url" | "iban" | "id";
  /** Gates compare the local part of an address exactly, counters fold its case; so do they with where a path starts. */
  readonly foldLocalPart: boolean;
};

/** A call that the gateway itself performs for a rule. */
export type GatewayCall = { readonly server: string; readonly tool: string; readonly arguments: JsonObject };

/** Temporal part of a rule or hazard (formal.md 4.3). Times are milliseconds. */
export type Temporal =
  /** M1: `before` needs a success of `need`; a dispatch of `relock` takes it back; `withinMs` ends the permission. */
  | {
      readonly kind: "gate";
      readonly before: Pattern;
      readonly need: Pattern;
      readonly relock?: Pattern;
      readonly withinMs?: number;
      readonly key?: KeySpec;
    }
  | {
      readonly kind: "absence";
      readonly after: Pattern;
      readonly never: Pattern;
      readonly until?: Pattern;
      readonly withinMs?: number;
      readonly key?: KeySpec;
    }
  | {
      readonly kind: "at-most";
      readonly of: Pattern;
      readonly count: number;
      readonly withinMs?: number;
      readonly key?: KeySpec;
    }
  | { readonly kind: "immediately"; readonly before: Pattern; readonly need: Pattern }
  | {
      readonly kind: "budget";
      readonly of: Pattern;
      readonly argument: string;
      readonly limit: string;
      readonly withinMs?: number;
      readonly key?: KeySpec;
    }
  /** M2: after `after`, at most `within - 1` other consequential calls, and none of `before`, until `owe` succeeds. */
  | {
      readonly kind: "owed";
      readonly after: Pattern;
      readonly owe: Pattern;
      readonly within?: number;
      readonly before?: Pattern;
    }
  /** M3: the gateway itself performs `tool` before `before`; its arguments may refer to those of that call. */
  | ({ readonly kind: "inject"; readonly before: Pattern } & GatewayCall)
  /**
   * M4: after each `after`, `by` must succeed by the end of the run. `hold` keeps `after` in an outbox until then. With
   * `once` a success of any time in the run is enough, also one before `after`. `compensate` has the call that the gateway
   * itself performs at the end for each `after` that was not met; its arguments may refer to those of that `after`.
   */
  | {
      readonly kind: "by-end";
      readonly after: Pattern;
      readonly by: Pattern;
      readonly action: "hold" | "compensate" | "report";
      readonly once?: true;
      readonly key?: KeySpec;
      readonly call?: GatewayCall;
    };

export type Rule = {
  readonly id: string;
  readonly tier: Tier;
  readonly why: string;
  readonly serves: readonly string[];
  readonly mode: "enforce" | "observe";
} & ({ readonly kind: "plain"; readonly when: Pattern } | { readonly kind: "temporal"; readonly temporal: Temporal });

/**
 * A block rule that refuses a call only where a program of the operator does. It is not a rule of the model: it can
 * only refuse more, so every safety proof without it holds with it, and no proof covers calls that must stay possible.
 */
export type Check = {
  readonly rule: Rule & { readonly kind: "plain" };
  readonly name: string;
  readonly source: string;
  /** SHA-256 of the program. */
  readonly program: string;
};

/** The temporal kinds that can say of a call that it must never happen; debts and injections say what must. */
export type HazardTemporal = Temporal & { readonly kind: "absence" | "gate" | "at-most" };

/** A predicate on moves that must never hold, traced to a loss. */
export type Hazard = {
  readonly id: string;
  readonly loss: string;
  readonly consent: "never" | "may";
  readonly why: string;
  readonly mode: "enforce" | "observe";
} & (
  | { readonly kind: "flow"; readonly from: DataAtom; readonly to: Pattern }
  | { readonly kind: "call"; readonly call: Pattern }
  /** The dispatch that its automaton would refuse, were it a rule. */
  | { readonly kind: "temporal"; readonly temporal: HazardTemporal }
);

export type StoreDeclaration = {
  readonly name: string;
  /** Groups as bits. */
  readonly audience: number;
  readonly initial: { readonly lo: Label; readonly hi: Label };
};

export type FlowMode = "none" | "strict" | "provenance";

/** Powers of the client itself, unmediated. For a gated power the client asks its user each time. */
export type HostPowers = {
  /** Groups that its own sending reaches, as bits; 0 = gated. */
  readonly send: number;
  /** Data that it reads without asking: none, everything, or these stores by index. */
  readonly read: "gated" | "everything" | readonly number[];
  readonly execute: boolean;
};

export type Ir = {
  /** SHA-256 of the canonical policy JSON. */
  readonly digest: string;
  readonly lattice: Lattice;
  readonly flow: FlowMode;
  readonly predicates: readonly Predicate[];
  readonly rules: readonly Rule[];
  readonly checks: readonly Check[];
  readonly hazards: readonly Hazard[];
  readonly stores: readonly StoreDeclaration[];
  /** `confirm`: execution asks unless it runs in a projection without network (the default of policy.md 1). */
  readonly execute: "confirm" | "allow";
  readonly host: HostPowers;
  /** A tool that nothing but inference speaks of is refused and hidden (`admission: {labels: declared}`). */
  readonly declaredOnly?: true;
};

/** Index of the built-in workspace predicate; every policy has it first. */
export const workspacePredicate = 0;

/** A contract with the cases that hold for this class of calls applied. */
export function contractFor(contract: ToolContract, truths: ReadonlyMap<number, boolean>): ToolContract {
  if (contract.cases.length === 0) return contract;
  const holding = contract.cases.filter(({ predicates }) => predicates.every((index) => truths.get(index) === true));
  if (holding.length === 0) return contract;
  const output = holding.find((one) => one.output !== undefined)?.output ?? contract.output;
  const effects = holding.find((one) => one.effects !== undefined)?.effects;
  return effects === undefined ? { ...contract, output } : { ...contract, output, ...withEffects(contract, effects) };
}

/** A case that only reads leaves nothing that would have to be undone. */
export function withEffects(
  { flags }: Pick<ToolContract, "flags">,
  effects: EffectRange,
): Pick<ToolContract, "effects" | "flags"> {
  const reads = effects.may.every((effect) => covers("read", effect));
  return { effects, flags: reads ? { ...flags, irreversible: false } : flags };
}
