/** Long forms of patterns, keys, rules and hazards; tool names are resolved here. */
import type {
  AbsenceText,
  AtMostText,
  HazardText,
  InjectText,
  NeverText,
  PredicateObject,
  PredicateText,
  RuleText,
} from "../document/shapes-rules.ts";
import type { DataText, KeyText, PatternObject, PatternText, StoreText } from "../document/shapes-labels.ts";
import { type DocumentPath, problem, quoted } from "../document/diagnostic.ts";
import type {
  DataForm,
  GatewayCallForm,
  HazardForm,
  KeyFormObject,
  NeverForm,
  PatternForm,
  RuleForm,
  StoreForm,
} from "../document/long-form.ts";
import { canonicalDuration } from "../values/duration.ts";
import { given, mapped } from "../../core/given.ts";
import {
  effectWord,
  labelForm,
  listOf,
  mapValues,
  sortedWords,
  decimalForm,
  testForm,
} from "../document/label-forms.ts";
import { type Naming, resolveAnywhere, resolveName } from "../document/names.ts";

function isPatternObject(text: PatternText): text is PatternObject {
  return typeof text === "object" && !Array.isArray(text);
}

/** Full names of tools: of every server that may offer them, or of the one that is known to. */
type Resolve = (...request: Parameters<typeof resolveName>) => string | readonly string[];

function patternForm(text: PatternText, naming: Naming, path: DocumentPath, resolve: Resolve): PatternForm {
  const object: PatternObject = isPatternObject(text) ? text : { tool: text };
  const tools = object.tool === undefined ? undefined : listOf(object.tool);
  return given<PatternForm>({
    tool: tools && sortedWords(tools.flatMap((name) => resolve(name, naming, [...path, "tool"]))),
    effect: object.effect === undefined ? undefined : sortedWords(listOf(object.effect).map(effectWord)),
    flags: object.flags === undefined ? undefined : [...new Set(listOf(object.flags))].toSorted(),
    arg: object.arg === undefined ? undefined : mapValues(object.arg, testForm),
    data: object.data === undefined ? undefined : listOf<string | DataText>(object.data).map(dataForm),
    held: mapped(object.held, labelForm),
    store: object.store === undefined ? undefined : listOf(object.store).map(storeForm),
    workspace: object.workspace,
  });
}

export function dataForm(text: string | DataText): DataForm {
  if (typeof text === "string") return labelForm(text);
  return given<DataForm>({
    ...labelForm(text),
    roles: text.roles === undefined ? undefined : [...new Set(text.roles)].toSorted(),
    args: mapped(text.args, sortedWords),
    audience: mapped(text.audience, sortedWords),
  });
}

function storeForm(text: StoreText): StoreForm {
  return given<StoreForm>({
    name: text.name,
    label: mapped(text.label, labelForm),
    audience: mapped(text.audience, sortedWords),
  });
}

function keyForm(text: KeyText | undefined): KeyFormObject | undefined {
  if (text === undefined) return undefined;
  if (typeof text === "string") return { argument: text, form: "id" };
  return given<KeyFormObject>({ argument: text.argument, form: text.form ?? "id", exact: text.exact });
}

const span = (text: string | undefined): string | undefined => mapped(text, canonicalDuration);

type Optional = PatternText | undefined;

/**
 * Patterns of one rule, each named by the path it stands at: those that restrict, and those that permit or unlock
 * (docs/semantics.md 3). The latter stay with the one known tool: a namesake on another server must not unlock anything.
 */
function within(naming: Naming, base: DocumentPath) {
  const restrict = (text: PatternText, ...parts: readonly string[]): PatternForm =>
    patternForm(text, naming, [...base, ...parts], resolveAnywhere);
  const permit = (text: PatternText, ...parts: readonly string[]): PatternForm =>
    patternForm(text, naming, [...base, ...parts], resolveName);
  const mayRestrict = (text: Optional, ...parts: readonly string[]): PatternForm | undefined =>
    text === undefined ? undefined : restrict(text, ...parts);
  const mayPermit = (text: Optional, ...parts: readonly string[]): PatternForm | undefined =>
    text === undefined ? undefined : permit(text, ...parts);
  return { restrict, permit, mayRestrict, mayPermit };
}

export function ruleForm(rule: RuleText, naming: Naming): RuleForm {
  const base: DocumentPath = ["rules", rule.id];
  const { mayRestrict, mayPermit } = within(naming, base);
  const when = rule.tier === "allow" ? mayPermit : mayRestrict;
  return given<RuleForm>({
    id: rule.id,
    tier: rule.tier,
    why: rule.why.trim(),
    serves: sortedWords(rule.serves ?? []),
    mode: rule.mode ?? "enforce",
    when: when(rule.when, "when"),
    predicate: rule.predicate === undefined ? undefined : predicateForm(rule.predicate, naming, base),
    ...counting(rule, naming, base),
    ...ordering(rule, naming, base),
    ...owing(rule, naming, base),
  });
}

function predicateForm(text: PredicateText, naming: Naming, base: DocumentPath): PredicateObject {
  if (typeof text !== "string") return { name: text.name, source: text.source };
  // The gathering of the documents has replaced a file name by its content; this layer cannot read files.
  const remedy = "write `{name, source}`, or load the policy from a file";
  naming.report(problem("PREDICATE", [...base, "predicate"], `${quoted(text)} was not read`, remedy));
  return { name: "", source: "" };
}

function atMostForm(text: AtMostText, naming: Naming, base: DocumentPath): NonNullable<RuleForm["atMost"]> {
  const { restrict } = within(naming, base);
  return given<NonNullable<RuleForm["atMost"]>>({
    of: restrict(text.of, "of"),
    count: text.count,
    within: span(text.within),
    key: keyForm(text.key),
  });
}

function absenceForm(text: AbsenceText, naming: Naming, base: DocumentPath): NonNullable<RuleForm["absence"]> {
  const { restrict, mayPermit } = within(naming, base);
  return given<NonNullable<RuleForm["absence"]>>({
    after: restrict(text.after, "after"),
    never: restrict(text.never, "never"),
    until: mayPermit(text.until, "until"),
    within: span(text.within),
    key: keyForm(text.key),
  });
}

type Counting = { readonly [K in "atMost" | "exactlyOnce" | "budget"]: RuleForm[K] | undefined };

function counting(rule: RuleText, naming: Naming, base: DocumentPath): Counting {
  const { restrict, mayRestrict } = within(naming, base);
  const { atMost, exactlyOnce, budget } = rule;
  return {
    atMost: atMost && atMostForm(atMost, naming, [...base, "atMost"]),
    exactlyOnce:
      exactlyOnce &&
      given<NonNullable<RuleForm["exactlyOnce"]>>({
        of: restrict(exactlyOnce.of, "exactlyOnce", "of"),
        after: mayRestrict(exactlyOnce.after, "exactlyOnce", "after"),
        key: keyForm(exactlyOnce.key),
      }),
    budget:
      budget &&
      given<NonNullable<RuleForm["budget"]>>({
        of: restrict(budget.of, "budget", "of"),
        argument: budget.argument,
        limit: decimalForm(budget.limit),
        within: span(budget.within),
        key: keyForm(budget.key),
      }),
  };
}

type Ordering = { readonly [K in "gate" | "absence" | "immediately"]: RuleForm[K] | undefined };

function ordering(rule: RuleText, naming: Naming, base: DocumentPath): Ordering {
  const { restrict, permit, mayRestrict } = within(naming, base);
  const { gate, absence, immediately } = rule;
  return {
    gate:
      gate &&
      given<NonNullable<RuleForm["gate"]>>({
        before: restrict(gate.before, "gate", "before"),
        need: permit(gate.need, "gate", "need"),
        unless: mayRestrict(gate.unless, "gate", "unless"),
        within: span(gate.within),
        key: keyForm(gate.key),
      }),
    absence: absence && absenceForm(absence, naming, [...base, "absence"]),
    immediately: immediately && {
      before: restrict(immediately.before, "immediately", "before"),
      need: permit(immediately.need, "immediately", "need"),
    },
  };
}

type Owing = { readonly [K in "owed" | "inject" | "byEnd"]: RuleForm[K] | undefined };

function owing(rule: RuleText, naming: Naming, base: DocumentPath): Owing {
  const { restrict, permit, mayRestrict } = within(naming, base);
  const { owed, inject, byEnd } = rule;
  return {
    owed:
      owed &&
      given<NonNullable<RuleForm["owed"]>>({
        after: restrict(owed.after, "owed", "after"),
        owe: permit(owed.owe, "owed", "owe"),
        within: owed.within,
        before: mayRestrict(owed.before, "owed", "before"),
      }),
    inject: inject && {
      before: restrict(inject.before, "inject", "before"),
      call: callForm(inject.call, naming, [...base, "inject", "call", "tool"]),
    },
    byEnd:
      byEnd &&
      given<NonNullable<RuleForm["byEnd"]>>({
        after: restrict(byEnd.after, "byEnd", "after"),
        by: permit(byEnd.by, "byEnd", "by"),
        action: byEnd.action,
        key: keyForm(byEnd.key),
        call: byEnd.call && callForm(byEnd.call, naming, [...base, "byEnd", "call", "tool"]),
      }),
  };
}

function callForm(call: InjectText["call"], naming: Naming, path: DocumentPath): GatewayCallForm {
  return { tool: resolveName(call.tool, naming, path), arguments: call.arguments ?? {} };
}

export function hazardForm(id: string, hazard: HazardText, naming: Naming): HazardForm {
  const base: DocumentPath = ["hazards", id];
  return {
    loss: hazard.loss ?? "",
    consent: hazard.consent ?? "never",
    why: (hazard.why ?? "").trim(),
    mode: hazard.mode ?? "enforce",
    never: neverForm(hazard.never, naming, [...base, "never"]),
  };
}

function neverForm(never: NeverText, naming: Naming, base: DocumentPath): NeverForm {
  const { restrict, permit, mayRestrict } = within(naming, base);
  const { flow, sequence, unless, atMost } = never;
  return given<NeverForm>({
    flow: flow && { from: dataForm(flow.from), to: restrict(flow.to, "flow", "to") },
    call: mayRestrict(never.call, "call"),
    sequence: sequence && absenceForm(sequence, naming, [...base, "sequence"]),
    unless:
      unless &&
      given<NonNullable<NeverForm["unless"]>>({
        call: restrict(unless.call, "unless", "call"),
        need: permit(unless.need, "unless", "need"),
        within: span(unless.within),
        key: keyForm(unless.key),
      }),
    atMost: atMost && atMostForm(atMost, naming, [...base, "atMost"]),
  });
}
