/**
 * Cases of a tool's labels. A case either raises or lowers what holds without it. One that raises holds if any leaf
 * fits or the argument is absent; one that lowers holds only if every leaf fits. So neither a mixed list nor a missing
 * argument gets the milder label, and neither does anything for sure that only a part of it does: what a raising case
 * is sure of counts where every leaf fits. Output and effects are chosen apart, each by the first case that names it and
 * holds. Of two that raise the stricter stands first, whichever is written first, and before two that cannot be compared
 * stands what both say together, for calls that both fit.
 */
import type { ContractCase, OutputContract } from "../../core/contract.ts";
import type { Effect, EffectRange } from "../../core/effect.ts";
import { covers, everyEffect, mayCover, unionOfEffects } from "../../core/effect.ts";
import type { CaseForm } from "../canonical/form.ts";
import { problem } from "../diagnostic.ts";
import type { DocumentPath } from "../diagnostic.ts";
import type { Polarity } from "./labels.ts";
import { compileOutput, isAbove, joinOutputs } from "./outputs.ts";
import type { Scope } from "./patterns.ts";
import { predicateOf } from "./patterns.ts";

/** What holds outside the cases, and where it stands. */
export type Base = {
  readonly output: OutputContract | undefined;
  readonly effects: EffectRange | undefined;
  readonly path: DocumentPath;
};

/** What a case, or several that raise together, says of the output or of the effects. */
type Statement<T> = {
  readonly raises: boolean;
  /** Predicates of calls that are surely meant, and what is said of them. */
  readonly fits: readonly number[];
  readonly said: T;
  /** Predicates of calls of which a part may be meant, and what is said of them. */
  readonly mayFit: readonly number[];
  readonly perhaps: T;
};

/** How two statements about the same thing compare, and what both say together. */
type Order<T> = { readonly isAbove: (high: T, low: T) => boolean; readonly join: (left: T, right: T) => T };

const outputOrder: Order<OutputContract> = { isAbove, join: joinOutputs };
const effectsOrder: Order<EffectRange> = { isAbove: (high, low) => within(low, high), join: unionOfEffects };

/** Sets of cases of one tool that can hold together, none of which says all that another says. */
export const togetherMax = 63;

export function compileCases(cases: readonly CaseForm[], base: Base, scope: Scope): readonly ContractCase[] {
  const path = [...base.path, "cases"];
  const compiled = cases.flatMap((form, index) => compileCase(form, [...path, index], base, scope) ?? []);
  const outputs = inOrder(
    compiled.flatMap(({ output }) => output ?? []),
    outputOrder,
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
  const sets = setsOf(
    statements.filter(({ raises }) => raises),
    (one, other) => !order.isAbove(one.perhaps, other.perhaps) && !order.isAbove(other.perhaps, one.perhaps),
  );
  for (const together of sets ?? []) insert(together.reduce((left, right) => both(left, right, order)));
  return sets === undefined ? undefined : found;
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

/** All sets of two and more, any two of which are `apart`; undefined where there are too many. */
function setsOf<T>(items: readonly T[], apart: (one: T, other: T) => boolean): readonly (readonly T[])[] | undefined {
  let sets: readonly (readonly T[])[] = [[]];
  for (const item of items) {
    sets = [...sets, ...sets.filter((set) => set.every((one) => apart(one, item))).map((set) => [...set, item])];
    if (sets.length > 1 + items.length + togetherMax) return undefined;
  }
  return sets.filter(({ length }) => length > 1);
}

type Compiled = { readonly output?: Statement<OutputContract>; readonly effects?: Statement<EffectRange> };

function compileCase(form: CaseForm, path: DocumentPath, base: Base, scope: Scope): Compiled | undefined {
  const output = form.output === undefined ? undefined : compileOutput(form.output, [...path, "output"], scope);
  const { effects } = form;
  const polarity = polarityOf({ output, effects }, base);
  const [first, ...others] = Object.entries(form.when.arg);
  if (first === undefined || others.length > 0) {
    const message = "a case tests exactly one argument";
    scope.report(problem("CASE", [...path, "when"], message, "split it into several cases"));
    return undefined;
  }
  if (polarity === undefined) {
    const message = "the case neither only raises nor only lowers the labels outside it";
    scope.report(problem("CASE", path, message, "make its output and effects both stricter, or both milder"));
    return undefined;
  }
  const [argument, test] = first;
  const at = [...path, "when", "arg", argument];
  const read = (reading: Polarity): readonly number[] => [
    predicateOf(argument, test, { polarity: reading, path: at }, scope),
  ];
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
    (found.output === undefined || base.output === undefined || isAbove(found.output, base.output)) &&
    (found.effects === undefined || within(below, found.effects));
  if (raises && !(base.output === undefined && found.output !== undefined)) return "restrict";
  const lowers =
    (found.output === undefined || base.output === undefined || isAbove(base.output, found.output)) &&
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

/** What is surely done by whoever does all of either list: the longest common prefix of any two effects. */
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
