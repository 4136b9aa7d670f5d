/**
 * The policy language as typed functions, published as `sluicegate/policy`. A policy that is built here and one that is
 * written in YAML become the same canonical JSON; each can express every policy of the other.
 */
import type {
  AbsenceText,
  AtMostText,
  BudgetText,
  ByEndText,
  ExactlyOnceText,
  GateText,
  ImmediatelyText,
  InjectText,
  NeverText,
  OwedText,
  RuleText,
  UnlessText,
} from "./document/shapes-rules.ts";
import type {
  DataText,
  LabelObject,
  PatternObject,
  PatternText,
  TestText,
  ToolLabelsText,
  Words,
} from "./document/shapes-labels.ts";
import type { PolicyDocument } from "./canonical/policy-document.ts";
import type { PackScopeText } from "./document/shapes-isolation.ts";

export type { PolicyDocument } from "./canonical/policy-document.ts";
export type { HazardText, RuleText } from "./document/shapes-rules.ts";
/** The input of the function of a `predicate`. */
export type { ProgramCall } from "../core/questions/program-question.ts";

/** A policy; `version` is added. */
export function policy(document: Omit<PolicyDocument, "version">): PolicyDocument {
  return { version: 1, ...document };
}

type Said = { readonly why: string; readonly serves?: Words; readonly mode?: "enforce" | "observe" };

/** Refuses the calls, whatever consent is given; with a `predicate`, only those for which your function says `true`. */
export function block(id: string, when: PatternText, said: Said & Pick<RuleText, "predicate">): RuleText {
  return { id, tier: "block", when, ...said };
}

/** Asks an approver to agree to this very call. */
export function confirm(id: string, when: PatternText, said: Said): RuleText {
  return { id, tier: "confirm", when, ...said };
}

/** Without the question that the default would ask; never against another rule. */
export function allow(id: string, when: PatternText, said: Said): RuleText {
  return { id, tier: "allow", when, ...said };
}

/** Rules about calls that must happen, in the kinds of formal.md 4.3. */
export const must = {
  gate: (id: string, gate: GateText, said: Said): RuleText => ({ id, tier: "must", gate, ...said }),
  owed: (id: string, owed: OwedText, said: Said): RuleText => ({ id, tier: "must", owed, ...said }),
  inject: (id: string, inject: InjectText, said: Said): RuleText => ({ id, tier: "must", inject, ...said }),
  immediately: (id: string, immediately: ImmediatelyText, said: Said): RuleText => ({
    id,
    tier: "must",
    immediately,
    ...said,
  }),
  byEnd: (id: string, byEnd: ByEndText, said: Said): RuleText => ({ id, tier: "must", byEnd, ...said }),
} as const;

type Limit = Said & { readonly tier?: "block" | "confirm" };

/** Rules about calls that must not happen too often, or after another call. */
export const limit = {
  absence: (id: string, absence: AbsenceText, said: Limit): RuleText => ({ id, tier: "block", absence, ...said }),
  atMost: (id: string, atMost: AtMostText, said: Limit): RuleText => ({ id, tier: "block", atMost, ...said }),
  exactlyOnce: (id: string, exactlyOnce: ExactlyOnceText, said: Limit): RuleText => ({
    id,
    tier: "block",
    exactlyOnce,
    ...said,
  }),
  budget: (id: string, budget: BudgetText, said: Limit): RuleText => ({ id, tier: "block", budget, ...said }),
} as const;

/** Calls by what they do. */
export function effect(effects: Words, more: Omit<PatternObject, "effect"> = {}): PatternObject {
  return { effect: effects, ...more };
}

/** Calls by name, with tests of their arguments. */
export function tool(tools: Words, arg?: { readonly [argument: string]: TestText }): PatternObject {
  return { tool: tools, ...(arg === undefined ? {} : { arg }) };
}

/** A label: `label("private", {categories: ["medical"]})`. */
export function label(confidentiality: string, more: Omit<LabelObject, "confidentiality"> = {}): LabelObject {
  return { confidentiality, ...more };
}

/** Hazards that must never happen: `sequence` for an order of calls, `flow` for data. */
export const never = {
  sequence: (sequence: AbsenceText): NeverText => ({ sequence }),
  unless: (unless: UnlessText): NeverText => ({ unless }),
  atMost: (atMost: AtMostText): NeverText => ({ atMost }),
} as const;

/** Data with this label reaching these calls. */
export function flow(from: string | DataText, to: PatternText): NeverText {
  return { flow: { from, to } };
}

export function not(test: TestText): TestText {
  return { not: test };
}

/** Labels of a tool, returned unchanged: the type lets an editor complete them. */
export function labels(known: ToolLabelsText): ToolLabelsText {
  return known;
}

/** Scope of a server, returned unchanged: the type lets an editor complete it. */
export function scope(touched: PackScopeText): PackScopeText {
  return touched;
}
