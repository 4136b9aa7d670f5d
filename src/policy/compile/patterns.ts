/** Patterns to the IR. Which way a label or a test is read depends on what the pattern is for (`Polarity`). */
import type { LabelRange } from "../../core/label.ts";
import { given, mapped } from "../../core/given.ts";
import type { PatternForm, StoreForm, TestForm, KeyFormObject, RuleForm } from "../document/long-form.ts";
import { reportStore, splitSelector } from "../document/names.ts";
import { type DocumentPath, type Reporter, problem, quoted } from "../document/diagnostic.ts";
import {
  type DataAtom,
  type Pattern,
  type Predicate,
  type StoreAtom,
  type KeySpec,
  type Temporal,
  workspacePredicate,
} from "../ir/ir.ts";
import type { LabelCompiler, Polarity } from "../ir/label-table.ts";
import { type PredicateRegistry, compileTest } from "./tests.ts";
import { durationMs } from "../values/duration.ts";

/** Everything that compiling one part of a policy looks at. */
export type Scope = {
  readonly labels: LabelCompiler;
  readonly registry: PredicateRegistry;
  readonly stores: readonly string[];
  /** What each store begins with. */
  readonly initial: ReadonlyMap<string, LabelRange>;
  readonly report: Reporter;
};

export type PatternRequest = {
  readonly form: PatternForm;
  readonly polarity: Polarity;
  readonly path: DocumentPath;
};

export function compilePattern(request: PatternRequest, scope: Scope): Pattern {
  const { form, polarity, path } = request;
  const predicates: { readonly index: number; readonly holds: boolean }[] = [];
  const data: DataAtom[] = (form.data ?? []).map((atom, index) =>
    dataAtom(atom, polarity, [...path, "data", index], scope),
  );
  for (const [name, test] of Object.entries(form.arg ?? {})) {
    const at = [...path, "arg", name];
    if (test.label !== undefined)
      data.push(dataAtom({ ...test.label, args: [name] }, polarity, [...at, "label"], scope));
    // An absent argument has the lowest label, which fits every bound: a permission requires its presence.
    const asked = test.label === undefined ? test : polarity === "permit" ? { present: true } : undefined;
    if (asked === undefined) continue;
    predicates.push({ index: predicateOf(name, asked, { polarity, path: at }, scope), holds: true });
  }
  if (form.workspace !== undefined) predicates.push({ index: workspacePredicate, holds: form.workspace });
  return given<Pattern>({
    tools: form.tool?.map(splitSelector),
    effects: form.effect,
    flags: mapped(form.flags, flagsOf),
    predicates,
    data,
    held: mapped(form.held, (label) => scope.labels.atom(label, polarity, [...path, "held"])),
    stores: (form.store ?? []).map((store, index) => storeAtom(store, polarity, [...path, "store", index], scope)),
  });
}

function flagsOf(flags: readonly string[]): NonNullable<Pattern["flags"]> {
  return {
    ...(flags.includes("irreversible") ? { irreversible: true } : {}),
    ...(flags.includes("open_world") ? { openWorld: true } : {}),
  };
}

/** Number of the predicate "this argument passes this test". */
export function predicateOf(
  argument: string,
  test: TestForm,
  request: { readonly polarity: Polarity; readonly path: DocumentPath },
  scope: Scope,
): number {
  const compiled = compileTest(test, request.polarity, request.path, scope.report);
  // An absent argument restricts as if it failed us, and permits nothing; only presence itself is known exactly.
  const ifAbsent = test.present === undefined ? request.polarity === "restrict" : !test.present;
  const predicate: Predicate = { kind: "argument", argument, test: compiled, ifAbsent };
  return scope.registry.add(predicate);
}

/** A place inside an argument has no label of its own: a statement about one would apply to nothing. */
export function wantWhole(argument: string, path: DocumentPath, { report }: Pick<Scope, "report">): void {
  if (!argument.startsWith("/")) return;
  const message = `${quoted(argument)} is a place inside an argument, and arguments are labelled as a whole`;
  report(problem("LABEL", path, message, "write the argument's own name, the first part of the path"));
}

export function dataAtom(
  form: NonNullable<PatternForm["data"]>[number],
  polarity: Polarity,
  path: DocumentPath,
  scope: Scope,
): DataAtom {
  const { roles, args, audience, ...label } = form;
  if (polarity === "permit" && Object.keys(label).length === 0) {
    scope.report(problem("ATOM", path, "the condition names no label", "add `confidentiality` or `trust`"));
  }
  for (const name of args ?? []) wantWhole(name, path, scope);
  return given<DataAtom>({
    atom: scope.labels.atom(label, polarity, path),
    roles,
    names: args,
    audience: mapped(audience, (groups) => scope.labels.groupBits(groups, [...path, "audience"])),
  });
}

function storeAtom(form: StoreForm, polarity: Polarity, path: DocumentPath, scope: Scope): StoreAtom {
  const store = scope.stores.indexOf(form.name);
  if (store < 0) {
    reportStore(form.name, [...path, "name"], scope);
  }
  if (polarity === "permit" && form.audience !== undefined) {
    // Audiences only grow, so a permission that needs one would loosen by itself.
    const remedy = "say it in a restricting rule instead";
    scope.report(problem("AUDIENCE", path, "a rule that permits cannot ask who can read a store", remedy));
  }
  return given<StoreAtom>({
    store: Math.max(store, 0),
    label: mapped(form.label, (label) => scope.labels.atom(label, polarity, [...path, "label"])),
    audience: mapped(form.audience, (groups) => scope.labels.groupBits(groups, [...path, "audience"])),
  });
}

export type Parts = {
  /** A pattern that arms, counts or forbids. */
  readonly restrict: (form: PatternForm, ...path: readonly string[]) => Pattern;
  /** A pattern that unlocks or discharges. */
  readonly permit: (form: PatternForm, ...path: readonly string[]) => Pattern;
  readonly scope: Scope;
};

/** Compiles the patterns that stand below `base` in the document. */
export function partsOf(base: DocumentPath, scope: Scope): Parts {
  const make =
    (polarity: Polarity) =>
    (form: PatternForm, ...path: readonly string[]): Pattern =>
      compilePattern({ form, polarity, path: [...base, ...path] }, scope);
  return { restrict: make("restrict"), permit: make("permit"), scope };
}

/** A rule's `absence` or a hazard's `sequence`, which stands at the key `at`. */
export function absenceOf(
  form: NonNullable<RuleForm["absence"]>,
  at: string,
  { restrict, permit }: Parts,
): Temporal & { readonly kind: "absence" } {
  return {
    kind: "absence",
    after: restrict(form.after, at, "after"),
    never: restrict(form.never, at, "never"),
    ...(form.until === undefined ? {} : { until: permit(form.until, at, "until") }),
    ...span(form.within),
    ...keyOf(form.key, true),
  };
}

export function atMostOf(
  form: NonNullable<RuleForm["atMost"]>,
  { restrict }: Parts,
): Temporal & { readonly kind: "at-most" } {
  const of = restrict(form.of, "atMost", "of");
  return { kind: "at-most", of, count: form.count, ...span(form.within), ...keyOf(form.key, true) };
}

export function span(within: string | undefined): { readonly withinMs?: number } {
  const ms = within === undefined ? undefined : durationMs(within);
  return ms === undefined ? {} : { withinMs: ms };
}

/** Counters fold the local part of an address unless the key has `exact`; gates compare it unless `exact` is false. */
export function keyOf(key: KeyFormObject | undefined, counts: boolean): { readonly key?: KeySpec } {
  if (key === undefined) return {};
  const exact = key.exact ?? !counts;
  return { key: { argument: key.argument, form: key.form, foldLocalPart: !exact } };
}
