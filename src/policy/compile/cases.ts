/**
 * Cases of a tool's labels. A case either raises or lowers what holds without it. One that raises holds if any leaf
 * fits or the argument is absent; one that lowers holds only if every leaf fits. So neither a mixed list nor a missing
 * argument gets the milder label, and neither does anything for sure that only a part of it does: what a raising case
 * is sure of counts where every leaf fits. Output and effects are chosen apart, each by the first case that names it and
 * holds. Of two that raise the stricter stands first, whichever is written first, and before two that cannot be compared
 * stands what both say together, for calls that both fit.
 */
import type { ContractCase, FieldContract, FieldType, OutputContract } from "../../core/contract.ts";
import { type Effect, type EffectRange, covers, everyEffect, mayCover, unionOfEffects } from "../../core/effect.ts";
import type { CaseForm, LabelForm, OutputForm } from "../document/long-form.ts";
import { type DocumentPath, problem } from "../document/diagnostic.ts";
import type { Polarity } from "../ir/label-table.ts";
import { type Scope, predicateOf } from "./patterns.ts";
import { type LabelRange, atMost, joinAllRanges, joinRanges } from "../../core/label.ts";

/** The contract outside the cases, and its place in the document. */
export type Base = {
  readonly output: OutputContract | undefined;
  readonly effects: EffectRange | undefined;
  /** What the stores that the tool reads begin with. */
  readonly stores: readonly LabelRange[];
  readonly path: DocumentPath;
};

/** The statement of a case, or of several that raise together, about the output or the effects. */
type Statement<T> = {
  readonly raises: boolean;
  /** Predicates of calls that the case surely covers, and the statement about them. */
  readonly fits: readonly number[];
  readonly said: T;
  /** Predicates of calls of which the case may cover a part, and the statement about them. */
  readonly mayFit: readonly number[];
  readonly perhaps: T;
};

/** How two statements about the same thing compare, and what both say together. */
type Order<T> = { readonly isAbove: (high: T, low: T) => boolean; readonly join: (left: T, right: T) => T };

const outputOrder = (stores: readonly LabelRange[]): Order<OutputContract> => ({
  isAbove: (high, low) => isAbove(high, low, stores) && isAbove(surely(high), surely(low), stores.map(lowest)),
  join: joinOutputs,
});
const effectsOrder: Order<EffectRange> = { isAbove: (high, low) => within(low, high), join: unionOfEffects };

/** Sets of cases of one tool that can hold together, none of which says all that another says. */
export const togetherMax = 63;

export function compileCases(cases: readonly CaseForm[], base: Base, scope: Scope): readonly ContractCase[] {
  const path = [...base.path, "cases"];
  const compiled = cases.flatMap((form, index) => compileCase(form, [...path, index], base, scope) ?? []);
  const outputs = inOrder(
    compiled.flatMap(({ output }) => output ?? []),
    outputOrder(base.stores),
  );
  const effects = inOrder(
    compiled.flatMap((one) => one.effects ?? []),
    effectsOrder,
  );
  if (outputs === undefined || effects === undefined) {
    const message = `more than ${togetherMax} sets of its cases can hold together`;
    scope.report(problem("CASE", path, message, "make one case of those that say alike"));
    return [];
  }
  return [
    ...outputs.map(({ mayFit, perhaps }): ContractCase => ({ predicates: mayFit, output: perhaps })),
    ...effects.flatMap(({ fits, said, mayFit, perhaps }): readonly ContractCase[] => [
      // The first that holds counts, so the second is for lists of which a part fits, and for calls without the argument.
      ...(perhaps === said ? [] : [{ predicates: fits, effects: said }]),
      { predicates: mayFit, effects: perhaps },
    ]),
  ];
}

/** @returns undefined where more than `togetherMax` sets can hold together */
function inOrder<T>(statements: readonly Statement<T>[], order: Order<T>): readonly Statement<T>[] | undefined {
  const found: Statement<T>[] = [];
  const insert = (one: Statement<T>): void => {
    const milder = one.raises
      ? found.findIndex((other) => other.raises && isStricter(one.perhaps, other.perhaps, order))
      : -1;
    found.splice(milder < 0 ? found.length : milder, 0, one);
  };
  for (const one of statements) insert(one);
  const together = whatSetsSay(
    statements.filter(({ raises }) => raises),
    order,
  );
  for (const one of together ?? []) insert(one);
  return together === undefined ? undefined : found;
}

function isStricter<T>(one: T, other: T, { isAbove: above }: Order<T>): boolean {
  return above(one, other) && !above(other, one);
}

function both<T>(left: Statement<T>, right: Statement<T>, { join }: Order<T>): Statement<T> {
  const perhaps = join(left.perhaps, right.perhaps);
  const sure = left.said !== left.perhaps || right.said !== right.perhaps;
  return {
    raises: true,
    fits: [...left.fits, ...right.fits],
    said: sure ? join(left.said, right.said) : perhaps,
    mayFit: [...left.mayFit, ...right.mayFit],
    perhaps,
  };
}

/**
 * What sets of two and more of the cases say together; undefined where there are too many. A case that neither says all
 * that a set says nor the reverse makes a wider set, unless another set within that one already says what both say. The
 * join of outputs is not a least bound, so two cases of a set may be comparable and their joins with a third not.
 */
function whatSetsSay<T>(cases: readonly Statement<T>[], order: Order<T>): readonly Statement<T>[] | undefined {
  const above = (high: Statement<T>, low: Statement<T>): boolean => order.isAbove(high.perhaps, low.perhaps);
  const sets = cases.map((one) => ({ members: new Set([one]), says: one }));
  // The list grows while it is read, smaller sets first.
  for (const { members, says } of sets) {
    for (const one of cases) {
      if (above(one, says) || above(says, one)) continue;
      const wider = new Set([...members, one]);
      const isSaid = sets.some(
        (known) => known.members.isSubsetOf(wider) && above(known.says, says) && above(known.says, one),
      );
      if (isSaid) continue;
      if (sets.length === cases.length + togetherMax) return undefined;
      sets.push({ members: wider, says: both(says, one, order) });
    }
  }
  return sets.slice(cases.length).map(({ says }) => says);
}

type Compiled = { readonly output?: Statement<OutputContract>; readonly effects?: Statement<EffectRange> };

function compileCase(form: CaseForm, path: DocumentPath, base: Base, scope: Scope): Compiled | undefined {
  const output = form.output === undefined ? undefined : compileOutput(form.output, [...path, "output"], scope);
  const { effects } = form;
  const polarity = polarityOf({ output, effects }, base);
  const tests = Object.entries(form.when.arg);
  if (tests.length === 0) {
    scope.report(problem("CASE", [...path, "when"], "the case tests no argument", "name an argument and its test"));
    return undefined;
  }
  if (polarity === undefined) {
    const message = "the case neither only raises nor only lowers the labels outside it";
    scope.report(problem("CASE", path, message, "make its output and effects both stricter, or both milder"));
    return undefined;
  }
  // All of them hold together: one that raises does where each argument may fit, one that lowers where each surely fits.
  const read = (reading: Polarity): readonly number[] =>
    tests.map(([argument, test]) =>
      predicateOf(argument, test, { polarity: reading, path: [...path, "when", "arg", argument] }, scope),
    );
  const raises = polarity === "restrict";
  const mayFit = read(polarity);
  const perhaps = raises ? possibly(effects, base) : effects;
  const statement = <T>(said: T, held: T): Statement<T> => ({
    raises,
    fits: held === said ? mayFit : read("permit"),
    said,
    mayFit,
    perhaps: held,
  });
  return {
    ...(output === undefined ? {} : { output: statement(output, output) }),
    ...(effects === undefined || perhaps === undefined ? {} : { effects: statement(effects, perhaps) }),
  };
}

function polarityOf(found: Pick<Base, "output" | "effects">, base: Base): Polarity | undefined {
  const below = base.effects ?? { must: [], may: everyEffect };
  const raises =
    (found.output === undefined || base.output === undefined || isAbove(found.output, base.output, base.stores)) &&
    (found.effects === undefined || within(below, found.effects));
  if (raises && !(base.output === undefined && found.output !== undefined)) return "restrict";
  const lowers =
    (found.output === undefined || base.output === undefined || isAbove(base.output, found.output, base.stores)) &&
    (found.effects === undefined || within(found.effects, below));
  return lowers ? "permit" : undefined;
}

/** Whatever a pattern finds in the one it finds in the other; an effect without a reach (`write`) is all its longer forms. */
function within(left: EffectRange, right: EffectRange): boolean {
  const forms = left.may.flatMap((effect) =>
    effect.includes(".") ? [effect] : everyEffect.filter((form) => covers(effect, form)),
  );
  return forms.every((form) => mayCover(form, right.may));
}

/** Effects of a raising case for calls that only may be meant: sure is what would be done with and without it. */
function possibly(effects: EffectRange | undefined, base: Base): EffectRange | undefined {
  if (effects === undefined) return undefined;
  const must = inBoth(effects.must, base.effects?.must ?? []);
  return effects.must.every((effect) => must.includes(effect)) ? effects : { must, may: effects.may };
}

/** The effects that either list surely implies: the longest common prefix of any two effects. */
function inBoth(left: readonly Effect[], right: readonly Effect[]): readonly Effect[] {
  const found = left.flatMap((one) => right.map((other) => sharedPath(one, other)));
  return [...new Set(found)].filter((effect) => effect !== "").toSorted();
}

function sharedPath(left: Effect, right: Effect): Effect {
  const others = right.split(".");
  const parts = left.split(".");
  const end = parts.findIndex((part, index) => part !== others[index]);
  return (end < 0 ? parts : parts.slice(0, end)).join(".");
}

export function compileOutput(form: OutputForm, path: DocumentPath, scope: Scope): OutputContract {
  const { fields, ...label } = form;
  const compiled = Object.entries(fields ?? {}).flatMap(([pointer, field]): readonly FieldContract[] => {
    const { from, type, ...own } = field;
    // A field with nothing but a type has the label of the whole, and is no part with a label of its own.
    if (type !== undefined && from === undefined && Object.keys(own).length === 0) return [];
    const range = scope.labels.range(own, [...path, "fields", pointer]);
    return [{ pointer, label: range, ...(from === undefined ? {} : { from }) }];
  });
  return { label: scope.labels.range(spoken(label), path), fields: compiled };
}

/** Types of the fields of all outputs of a tool: what kind of name a place holds does not depend on a case. */
export function fieldTypes(outputs: readonly (OutputForm | undefined)[]): readonly FieldType[] {
  const found = new Map<string, FieldType>();
  for (const output of outputs) {
    for (const [pointer, { type }] of Object.entries(output?.fields ?? {})) {
      if (type !== undefined) found.set(`${pointer}\n${type}`, { pointer, type });
    }
  }
  return [...found.values()];
}

/** `output: {fields: ...}` alone says nothing of the rest of the result, which is then unknown. */
function spoken(label: LabelForm): LabelForm {
  return Object.keys(label).length === 0 ? { confidentiality: "unsure", trust: "unsure" } : label;
}

/** The output with each label range reduced to its lower end. */
export function surely({ label, fields }: OutputContract): OutputContract {
  return { label: lowest(label), fields: fields.map((field) => ({ ...field, label: lowest(field.label) })) };
}

export function lowest({ lo }: LabelRange): LabelRange {
  return { lo, hi: lo };
}

/**
 * Every part of the one result is labelled at least as high as in the other. Where both do not name the same fields, a
 * part of the one may be inside any part of the other. Naming the arguments that reach a field excludes all others from
 * it, and from what the other names inside it. The initial content of the `stores` is in every part but the fields.
 */
export function isAbove(high: OutputContract, low: OutputContract, stores: readonly LabelRange[]): boolean {
  const named = new Map(low.fields.map((field) => [field.pointer, field]));
  const names = new Set(high.fields.map(({ pointer }) => pointer));
  const reached = high.fields.every(({ pointer, from }) => {
    if (from === undefined) return true;
    const inside = low.fields.filter((field) => !names.has(field.pointer));
    return [named.get(pointer), ...inside].every((field) => field?.from?.every((name) => from.includes(name)) === true);
  });
  const same = names.size === named.size && high.fields.every(({ pointer }) => named.has(pointer));
  const lows = [low.label, ...low.fields.map(({ label }) => label)];
  const parts = [{ pointer: undefined, label: high.label }, ...high.fields];
  return (
    reached &&
    parts.every(({ pointer, label }) => {
      const own = pointer === undefined ? low.label : named.get(pointer)?.label;
      if (own === undefined) return [...lows, ...stores].every(({ hi }) => atMost(hi, label.hi));
      return (same ? [own] : lows).every(({ hi }) => atMost(hi, label.hi));
    })
  );
}

/**
 * Above both, and the least such where they name the same fields. Else every part of the result is labelled as all parts
 * of both together.
 */
export function joinOutputs(left: OutputContract, right: OutputContract): OutputContract {
  const pairs = left.fields.flatMap((one) => {
    const other = right.fields.find(({ pointer }) => pointer === one.pointer);
    return other === undefined ? [] : [[one, other] as const];
  });
  const label = joinRanges(left.label, right.label);
  if (pairs.length < Math.max(left.fields.length, right.fields.length)) {
    const all = [...left.fields, ...right.fields].map((field) => field.label);
    return { label: joinAllRanges(all, label), fields: [] };
  }
  return { label, fields: pairs.map(([one, other]) => joinFields(one, other)) };
}

function joinFields(one: FieldContract, other: FieldContract): FieldContract {
  const label = joinRanges(one.label, other.label);
  if (one.from === undefined || other.from === undefined) return { pointer: one.pointer, label };
  return { pointer: one.pointer, label, from: [...new Set([...one.from, ...other.from])] };
}
