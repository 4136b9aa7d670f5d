/** What temporal rules and temporal hazards share: patterns by polarity, spans, keys, absences and counts. */
import type { KeyFormObject, PatternForm, RuleForm } from "../canonical/form.ts";
import { durationMs } from "../canonical/duration.ts";
import type { DocumentPath } from "../diagnostic.ts";
import type { KeySpec, Pattern, Temporal } from "../ir.ts";
import type { Polarity } from "./labels.ts";
import type { Scope } from "./patterns.ts";
import { compilePattern } from "./patterns.ts";

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

/** Counters fold the local part of an address unless told to be exact; gates compare it unless told not to. */
export function keyOf(key: KeyFormObject | undefined, counts: boolean): { readonly key?: KeySpec } {
  if (key === undefined) return {};
  const exact = key.exact ?? !counts;
  return { key: { argument: key.argument, form: key.form, foldLocalPart: !exact } };
}
