/** Rules and hazards to the IR (formal.md 4.3). */
import type { JsonObject } from "../../core/json.ts";
import type { HazardForm, KeyFormObject, PatternForm, RuleForm } from "../canonical/form.ts";
import { durationMs } from "../canonical/duration.ts";
import { splitSelector } from "../canonical/names.ts";
import type { DocumentPath } from "../diagnostic.ts";
import { problem, quoted } from "../diagnostic.ts";
import type { Hazard, KeySpec, Pattern, Rule, Temporal, Tier } from "../ir.ts";
import type { Polarity } from "./labels.ts";
import type { Scope } from "./patterns.ts";
import { compilePattern, dataAtom } from "./patterns.ts";

/** The rules of the IR that one written rule means: `exactlyOnce` with a cause is two. */
export function compileRule(rule: RuleForm, scope: Scope): readonly Rule[] {
  const head = { id: rule.id, tier: rule.tier, why: rule.why, serves: rule.serves, mode: rule.mode };
  if (rule.when !== undefined) {
    const polarity: Polarity = rule.tier === "allow" ? "permit" : "restrict";
    const path = ["rules", rule.id, "when"];
    if (rule.tier === "must") {
      const remedy = "write `gate`, `owed`, `inject`, `immediately` or `byEnd`, or use `block`";
      scope.report(
        problem("TIER", ["rules", rule.id, "tier"], "a must rule says what must happen, not only when", remedy),
      );
    }
    return [{ ...head, kind: "plain", when: compilePattern({ form: rule.when, polarity, path }, scope) }];
  }
  checkTier(rule, scope);
  return temporals(rule, scope).map(({ temporal, suffix }) => ({
    ...head,
    id: `${rule.id}${suffix}`,
    // What is reported at the end of a run is owed, whatever tier the enforced half has.
    tier: suffix === "" ? rule.tier : "must",
    kind: "temporal",
    temporal,
  }));
}

const musts = ["gate", "owed", "inject", "immediately", "byEnd"] as const;
const limits = ["absence", "atMost", "exactlyOnce", "budget"] as const;

function checkTier(rule: RuleForm, scope: Scope): void {
  const must = musts.find((kind) => rule[kind] !== undefined);
  const limit = limits.find((kind) => rule[kind] !== undefined);
  const legal: readonly Tier[] = must === undefined ? ["block", "confirm"] : ["must"];
  const kind = must ?? limit ?? "";
  if (legal.includes(rule.tier)) return;
  const remedy = `write \`tier: ${legal.join("` or `tier: ")}\``;
  scope.report(
    problem("TIER", ["rules", rule.id, "tier"], `\`${kind}\` cannot have the tier ${quoted(rule.tier)}`, remedy),
  );
}

type Named = { readonly temporal: Temporal; readonly suffix: string };

function temporals(rule: RuleForm, scope: Scope): readonly Named[] {
  const plain = (temporal: Temporal | undefined): readonly Named[] =>
    temporal === undefined ? [] : [{ temporal, suffix: "" }];
  const parts = partsOf(rule.id, scope);
  return [
    ...plain(ordering(rule, parts)),
    ...plain(counting(rule, parts)),
    ...exactlyOnce(rule, parts),
    ...plain(owing(rule, parts)),
  ];
}

type Parts = {
  /** A pattern that arms, counts or forbids. */
  readonly restrict: (form: PatternForm, ...path: readonly string[]) => Pattern;
  /** A pattern that unlocks or discharges. */
  readonly permit: (form: PatternForm, ...path: readonly string[]) => Pattern;
  readonly scope: Scope;
};

function partsOf(id: string, scope: Scope): Parts {
  const make =
    (polarity: Polarity) =>
    (form: PatternForm, ...path: readonly string[]): Pattern =>
      compilePattern({ form, polarity, path: ["rules", id, ...path] }, scope);
  return { restrict: make("restrict"), permit: make("permit"), scope };
}

function ordering(rule: RuleForm, { restrict, permit }: Parts): Temporal | undefined {
  const { gate, absence, immediately } = rule;
  if (gate !== undefined) {
    return {
      kind: "gate",
      before: restrict(gate.before, "gate", "before"),
      need: permit(gate.need, "gate", "need"),
      ...(gate.unless === undefined ? {} : { relock: restrict(gate.unless, "gate", "unless") }),
      ...span(gate.within),
      ...keyOf(gate.key, false),
    };
  }
  if (absence !== undefined) {
    return {
      kind: "absence",
      after: restrict(absence.after, "absence", "after"),
      never: restrict(absence.never, "absence", "never"),
      ...(absence.until === undefined ? {} : { until: permit(absence.until, "absence", "until") }),
      ...span(absence.within),
      ...keyOf(absence.key, true),
    };
  }
  if (immediately === undefined) return undefined;
  return {
    kind: "immediately",
    before: restrict(immediately.before, "immediately", "before"),
    need: permit(immediately.need, "immediately", "need"),
  };
}

function counting(rule: RuleForm, { restrict }: Parts): Temporal | undefined {
  const { atMost, budget } = rule;
  if (atMost !== undefined) {
    const of = restrict(atMost.of, "atMost", "of");
    return { kind: "at-most", of, count: atMost.count, ...span(atMost.within), ...keyOf(atMost.key, true) };
  }
  if (budget === undefined) return undefined;
  return {
    kind: "budget",
    of: restrict(budget.of, "budget", "of"),
    argument: budget.argument,
    limit: budget.limit,
    ...span(budget.within),
    ...keyOf(budget.key, true),
  };
}

/** "Not twice" is enforced; "not never" can only be reported at the end of a run (formal.md 4.3, M4). */
function exactlyOnce(rule: RuleForm, { restrict, permit }: Parts): readonly Named[] {
  const form = rule.exactlyOnce;
  if (form === undefined) return [];
  const of = restrict(form.of, "exactlyOnce", "of");
  const once: Named = { temporal: { kind: "at-most", of, count: 1, ...keyOf(form.key, true) }, suffix: "" };
  if (form.after === undefined) return [once];
  const after = restrict(form.after, "exactlyOnce", "after");
  const by = permit(form.of, "exactlyOnce", "of");
  return [once, { temporal: { kind: "by-end", after, by, action: "report" }, suffix: "/end" }];
}

function owing(rule: RuleForm, { restrict, permit, scope }: Parts): Temporal | undefined {
  const { owed, inject, byEnd } = rule;
  if (owed !== undefined) {
    if (owed.within === undefined && owed.before === undefined) {
      const remedy = "add `within: N` calls or `before:` a call";
      scope.report(problem("OWED", ["rules", rule.id, "owed"], "the debt never falls due", remedy));
    }
    return {
      kind: "owed",
      after: restrict(owed.after, "owed", "after"),
      owe: permit(owed.owe, "owed", "owe"),
      ...(owed.within === undefined ? {} : { within: owed.within }),
      ...(owed.before === undefined ? {} : { before: restrict(owed.before, "owed", "before") }),
    };
  }
  if (inject !== undefined) {
    const { server, tool } = splitSelector(inject.call.tool);
    const path: DocumentPath = ["rules", rule.id, "inject", "call", "tool"];
    if (server.includes("*") || tool.includes("*")) {
      const message = "the gateway cannot tell which server it should call";
      scope.report(problem("INJECT", path, message, "write `server.tool`"));
    }
    const before = restrict(inject.before, "inject", "before");
    // Literals of the policy, checked to be JSON when the document was read.
    return { kind: "inject", before, server, tool, arguments: inject.call.arguments as JsonObject };
  }
  if (byEnd === undefined) return undefined;
  const after = restrict(byEnd.after, "byEnd", "after");
  return { kind: "by-end", after, by: permit(byEnd.by, "byEnd", "by"), action: byEnd.action };
}

function span(within: string | undefined): { readonly withinMs?: number } {
  const ms = within === undefined ? undefined : durationMs(within);
  return ms === undefined ? {} : { withinMs: ms };
}

/** Counters fold the local part of an address unless told to be exact; gates compare it unless told not to. */
function keyOf(key: KeyFormObject | undefined, counts: boolean): { readonly key?: KeySpec } {
  if (key === undefined) return {};
  const exact = key.exact ?? !counts;
  return { key: { argument: key.argument, form: key.form, foldLocalPart: !exact } };
}

export function compileHazard(id: string, hazard: HazardForm, scope: Scope): Hazard {
  const base = ["hazards", id, "never"];
  const head = { id, loss: hazard.loss, consent: hazard.consent, why: hazard.why, mode: hazard.mode };
  const pattern = (form: PatternForm, ...path: readonly string[]): Pattern =>
    compilePattern({ form, polarity: "restrict", path: [...base, ...path] }, scope);
  const { flow, call, sequence } = hazard.never;
  if (flow !== undefined) {
    const from = dataAtom(flow.from, "restrict", [...base, "flow", "from"], scope);
    return { ...head, kind: "flow", from, to: pattern(flow.to, "flow", "to") };
  }
  if (sequence !== undefined) {
    return {
      ...head,
      kind: "sequence",
      after: pattern(sequence.after, "sequence", "after"),
      never: pattern(sequence.never, "sequence", "never"),
      ...span(sequence.within),
    };
  }
  // The shape has exactly one of the three; an empty pattern would be every call, the strictest reading.
  return { ...head, kind: "call", call: pattern(call ?? {}, "call") };
}
