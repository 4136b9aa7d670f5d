/** Rules to the IR (formal.md 4.3). */
import type { JsonObject } from "../../core/json.ts";
import type { GatewayCallForm, RuleForm } from "../document/long-form.ts";
import { splitSelector } from "../document/names.ts";
import { type DocumentPath, problem, quoted } from "../document/diagnostic.ts";
import type { GatewayCall, Rule, Temporal, Check } from "../ir/ir.ts";
import type { Tier } from "../document/shapes-rules.ts";
import type { Polarity } from "../ir/label-table.ts";
import { type Scope, type Parts, compilePattern, absenceOf, atMostOf, keyOf, partsOf, span } from "./patterns.ts";
import { programUnitsMax, referencesMax } from "../values/limits.ts";
import { isPlace, placesIn } from "../values/references.ts";

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
    // The half that is reported at the end of a run is a debt, whatever tier the enforced half has.
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
  const parts = partsOf(["rules", rule.id], scope);
  return [
    ...plain(ordering(rule, parts)),
    ...plain(counting(rule, parts)),
    ...exactlyOnce(rule, parts),
    ...plain(owing(rule, parts)),
  ];
}

function ordering(rule: RuleForm, parts: Parts): Temporal | undefined {
  const { restrict, permit } = parts;
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
  if (absence !== undefined) return absenceOf(absence, "absence", parts);
  if (immediately === undefined) return undefined;
  return {
    kind: "immediately",
    before: restrict(immediately.before, "immediately", "before"),
    need: permit(immediately.need, "immediately", "need"),
  };
}

function counting(rule: RuleForm, parts: Parts): Temporal | undefined {
  const { atMost, budget } = rule;
  if (atMost !== undefined) return atMostOf(atMost, parts);
  if (budget === undefined) return undefined;
  return {
    kind: "budget",
    of: parts.restrict(budget.of, "budget", "of"),
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
  // It may have been made before it was due: what is reported is that it was never made.
  return [once, { temporal: { kind: "by-end", after, by, action: "report", once: true }, suffix: "/end" }];
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
    const call = gatewayCall(inject.call, ["rules", rule.id, "inject", "call"], scope);
    return { kind: "inject", before: restrict(inject.before, "inject", "before"), ...call };
  }
  if (byEnd === undefined) return undefined;
  const path: DocumentPath = ["rules", rule.id, "byEnd"];
  checkCompensation(byEnd, path, scope);
  const after = restrict(byEnd.after, "byEnd", "after");
  const by = permit(byEnd.by, "byEnd", "by");
  const call = byEnd.call === undefined ? {} : { call: gatewayCall(byEnd.call, [...path, "call"], scope) };
  return { kind: "by-end", after, by, action: actionOf(rule, byEnd), ...keyOf(byEnd.key, false), ...call };
}

function checkCompensation(
  { action, call }: NonNullable<RuleForm["byEnd"]>,
  path: DocumentPath,
  { report }: Scope,
): void {
  if (action === "compensate" && call === undefined) {
    const message = "`compensate` does not say which call makes up for what is missing";
    report(problem("COMPENSATE", path, message, "add `call:`, or write `action: report`"));
  } else if (action !== "compensate" && call !== undefined) {
    const message = `\`action: ${action}\` makes no call of its own`;
    report(problem("COMPENSATE", [...path, "call"], message, "write `action: compensate`, or remove `call:`"));
  }
}

function gatewayCall(form: GatewayCallForm, path: DocumentPath, scope: Scope): GatewayCall {
  const { server, tool } = splitSelector(form.tool);
  if (server.includes("*") || tool.includes("*")) {
    const message = "the gateway cannot tell which server it should call";
    scope.report(problem("INJECT", [...path, "tool"], message, "write `server.tool`"));
  }
  // Values of the policy, checked to be JSON when the document was read.
  const given = form.arguments as JsonObject;
  checkReferences(given, [...path, "arguments"], scope);
  return { server, tool, arguments: given };
}

function checkReferences(given: JsonObject, path: DocumentPath, { report }: Scope): void {
  const places = placesIn(given);
  if (places.length > referencesMax) {
    report(problem("REFERENCE", path, `it refers to more than ${referencesMax} places`, "take over fewer values"));
  }
  for (const place of places.filter((one) => !isPlace(one))) {
    const message = `${quoted(`{call${place}}`)} names no argument of the call that needs it`;
    report(problem("REFERENCE", path, message, "write a JSON Pointer, as in `{call/table}`"));
  }
}

/** A rule that only observes keeps nothing back and makes no call: what it would have waited for is owed. */
function actionOf({ mode }: RuleForm, { action }: NonNullable<RuleForm["byEnd"]>): typeof action {
  return mode === "observe" ? "report" : action;
}

/** Rules that ask a program of the operator, which may only add refusals. */
export function compileCheck(rule: RuleForm, scope: Scope, hash: (text: string) => string): readonly Check[] {
  const { id, when, predicate, why, serves, mode } = rule;
  if (predicate === undefined) return [];
  const path = ["rules", id, "predicate"];
  const report = (message: string, remedy: string): void => scope.report(problem("PREDICATE", path, message, remedy));
  const { name, source } = predicate;
  if (rule.tier !== "block") {
    report(`a program can only refuse, and this rule has the tier ${quoted(rule.tier)}`, "write `tier: block`");
  }
  if (source.length > programUnitsMax) {
    report(`the program has more than ${programUnitsMax} characters`, "keep to what decides, in a file of its own");
  } else if (!exports(source, name)) {
    report(`the program exports no function ${quoted(name)}`, `write \`export function ${name}(call) { ... }\``);
  }
  if (when === undefined) {
    report(
      "a program says which of the calls of a `when` are refused",
      "add `when:`, with the calls it is asked about",
    );
    return [];
  }
  const pattern = compilePattern({ form: when, polarity: "restrict", path: ["rules", id, "when"] }, scope);
  const head = { id, tier: "block", why, serves, mode } as const;
  return [{ rule: { ...head, kind: "plain", when: pattern }, name, source, program: hash(source) }];
}

/** As far as a text shows it; whether it is a function at all is found out when the program is loaded. */
function exports(source: string, name: string): boolean {
  const escaped = name.replaceAll("$", String.raw`\$`);
  return new RegExp(String.raw`^\s*export\s+(?:function|const)\s+${escaped}(?![\w$])`, "m").test(source);
}
