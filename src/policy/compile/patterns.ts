/** Patterns to the IR. Which way a label or a test is read depends on what the pattern is for (`Polarity`). */
import type { PatternForm, StoreForm, TestForm } from "../canonical/form.ts";
import { splitSelector } from "../canonical/names.ts";
import type { DocumentPath } from "../diagnostic.ts";
import { problem, quoted } from "../diagnostic.ts";
import type { DataAtom, Pattern, Predicate, StoreAtom } from "../ir.ts";
import { workspacePredicate } from "../ir.ts";
import { suggestion } from "../language/nearest.ts";
import type { LabelCompiler, Polarity, Reporter } from "./labels.ts";
import type { PredicateRegistry } from "./tests.ts";
import { compileTest } from "./tests.ts";

/** Everything that compiling one part of a policy looks at. */
export type Scope = {
  readonly labels: LabelCompiler;
  readonly registry: PredicateRegistry;
  readonly stores: readonly string[];
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
    // What is not there has the label of nothing, which fits every bound: a permission asks that it is there.
    const asked = test.label === undefined ? test : polarity === "permit" ? { present: true } : undefined;
    if (asked === undefined) continue;
    predicates.push({ index: predicateOf(name, asked, { polarity, path: at }, scope), holds: true });
  }
  if (form.workspace !== undefined) predicates.push({ index: workspacePredicate, holds: form.workspace });
  return {
    ...(form.tool === undefined ? {} : { tools: form.tool.map(splitSelector) }),
    ...(form.effect === undefined ? {} : { effects: form.effect }),
    ...(form.flags === undefined ? {} : { flags: flagsOf(form.flags) }),
    predicates,
    data,
    ...(form.held === undefined ? {} : { held: scope.labels.atom(form.held, polarity, [...path, "held"]) }),
    stores: (form.store ?? []).map((store, index) => storeAtom(store, polarity, [...path, "store", index], scope)),
  };
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

/** A place inside an argument has no label of its own: whatever is said of one is said of nothing. */
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
  return {
    atom: scope.labels.atom(label, polarity, path),
    ...(roles === undefined ? {} : { roles }),
    ...(args === undefined ? {} : { names: args }),
    ...(audience === undefined ? {} : { audience: scope.labels.groupBits(audience, [...path, "audience"]) }),
  };
}

export function reportStore(name: string, path: DocumentPath, scope: Pick<Scope, "stores" | "report">): void {
  const remedy = suggestion(name, scope.stores, "declare it under `stores`");
  scope.report(problem("STORE", path, `${quoted(name)} is no declared store`, remedy));
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
  return {
    store: Math.max(store, 0),
    ...(form.label === undefined ? {} : { label: scope.labels.atom(form.label, polarity, [...path, "label"]) }),
    ...(form.audience === undefined ? {} : { audience: scope.labels.groupBits(form.audience, [...path, "audience"]) }),
  };
}
