/**
 * Cases of a tool's labels. A case either raises or lowers what holds without it. One that raises holds if any leaf
 * fits or the argument is absent; one that lowers holds only if every leaf fits. So neither a mixed list nor a missing
 * argument gets the milder label, and neither does anything for sure that only a part of it does: what a raising case
 * is sure of counts where every leaf fits. The first case that holds counts, so of two that raise the stricter stands
 * first, whichever is written first; of two that cannot be compared the one that is.
 */
import type { ContractCase, OutputContract } from "../../core/contract.ts";
import type { Effect, EffectRange } from "../../core/effect.ts";
import { covers, everyEffect, mayCover } from "../../core/effect.ts";
import type { CaseForm } from "../canonical/form.ts";
import { problem } from "../diagnostic.ts";
import type { DocumentPath } from "../diagnostic.ts";
import type { Polarity } from "./labels.ts";
import { compileOutput, isAbove } from "./outputs.ts";
import type { Scope } from "./patterns.ts";
import { predicateOf } from "./patterns.ts";

/** What holds outside the cases, and where it stands. */
export type Base = {
  readonly output: OutputContract | undefined;
  readonly effects: EffectRange | undefined;
  readonly path: DocumentPath;
};

type Labels = Pick<Base, "output" | "effects">;

/** What a written case became: two where not everything is sure that it says. */
type Compiled = { readonly labels: Labels; readonly raises: boolean; readonly cases: readonly ContractCase[] };

export function compileCases(cases: readonly CaseForm[], base: Base, scope: Scope): readonly ContractCase[] {
  const ordered: Compiled[] = [];
  for (const [index, form] of cases.entries()) {
    const compiled = compileCase(form, [...base.path, "cases", index], base, scope);
    const milder = compiled.raises
      ? ordered.findIndex((other) => other.raises && isStricter(compiled.labels, other.labels, base))
      : -1;
    ordered.splice(milder < 0 ? ordered.length : milder, 0, compiled);
  }
  return ordered.flatMap((compiled) => compiled.cases);
}

function isStricter(one: Labels, other: Labels, base: Base): boolean {
  return holdsMore(one, other, base) && !holdsMore(other, one, base);
}

/** Whatever the other says holds by the one, too. */
function holdsMore(one: Labels, other: Labels, base: Base): boolean {
  const [high, low] = [one.output ?? base.output, other.output ?? base.output];
  const [wide, narrow] = [one.effects ?? base.effects, other.effects ?? base.effects];
  const above = high === undefined || low === undefined ? high === low : isAbove(high, low);
  const around = wide === undefined || narrow === undefined ? wide === narrow : within(narrow, wide);
  return above && around;
}

function compileCase(form: CaseForm, path: DocumentPath, base: Base, scope: Scope): Compiled {
  const output = form.output === undefined ? undefined : compileOutput(form.output, [...path, "output"], scope);
  const labels: Labels = { output, effects: form.effects };
  const polarity = polarityOf(labels, base);
  const [first, ...others] = Object.entries(form.when.arg);
  if (first === undefined || others.length > 0) {
    const message = "a case tests exactly one argument";
    scope.report(problem("CASE", [...path, "when"], message, "split it into several cases"));
    return { labels, raises: false, cases: [] };
  }
  if (polarity === undefined) {
    const message = "the case neither only raises nor only lowers the labels outside it";
    scope.report(problem("CASE", path, message, "make its output and effects both stricter, or both milder"));
    return { labels, raises: false, cases: [] };
  }
  const [argument, test] = first;
  const at = [...path, "when", "arg", argument];
  const read = (reading: Polarity): number => predicateOf(argument, test, { polarity: reading, path: at }, scope);
  if (polarity === "permit") return { labels, raises: false, cases: [caseOf(read("permit"), labels)] };
  const possible = possibly(labels.effects, base);
  if (possible === labels.effects) return { labels, raises: true, cases: [caseOf(read("restrict"), labels)] };
  // The first that holds counts, so the second is for lists of which a part fits, and for calls without the argument.
  const cases = [caseOf(read("permit"), labels), caseOf(read("restrict"), { output, effects: possible })];
  return { labels, raises: true, cases };
}

function caseOf(predicate: number, { output, effects }: Labels): ContractCase {
  return { predicate, ...(output === undefined ? {} : { output }), ...(effects === undefined ? {} : { effects }) };
}

function polarityOf(found: Labels, base: Base): Polarity | undefined {
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
