/**
 * Predicted against observed (foresight.md 1). A model that keeps being wrong about what calls bring cannot be relied on
 * to say what they lead to: above `surpriseMax` the next call that somebody else can see asks.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { Effect, EffectRange } from "../../core/effect.ts";
import type { LabelRange, Lattice } from "../../core/label.ts";
import { atMost } from "../../core/label.ts";
import type { Reason } from "../../core/opinion.ts";
import type { Forecast } from "../../core/prediction.ts";
import { labelOfNames } from "../../core/restriction-names.ts";
import { completed } from "./power-weights.ts";

/** Comparisons that the rate looks back on. */
export const surpriseCallsMax = 16;

/** Comparisons before which there is no rate: one wrong guess is no habit. */
export const surpriseCallsMin = 4;

/**
 * What was seen. `brought` is the label of the result; `held` the most that the run holds after it. `effects` are those
 * that the call surely had and those that it may have had: the contract, or a trace, which knows better.
 */
export type Observed = { readonly brought: LabelRange; readonly held: LabelRange; readonly effects: EffectRange };

/** Whether each of the last comparisons was wrong, oldest first. */
export type Surprise = { readonly wrong: readonly boolean[] };

export const noSurprise: Surprise = { wrong: [] };

/**
 * True iff the forecast cannot be what happened. Uncertainty never counts against a model: labels must be at least what
 * the result surely brought and at most what the run may hold, effects likewise, by base and reach.
 */
export function isWrong(lattice: Lattice, forecast: Forecast, { brought, held, effects }: Observed): boolean {
  const expected = labelOfNames(lattice, forecast.labels);
  if (!atMost(brought.lo, expected) || !atMost(expected, held.hi)) return true;
  const classes = effectClasses(forecast.effects);
  const least = effectClasses(effects.must);
  const most = effectClasses(effects.may);
  return ![...least].every((one) => classes.has(one)) || ![...classes].every((one) => most.has(one));
}

/** Base and reach of effects: what a model can be expected to get right. */
function effectClasses(effects: readonly Effect[]): ReadonlySet<string> {
  return new Set([...completed(effects)].map((effect) => effect.split(".").slice(0, 2).join(".")));
}

export function surpriseAfter(memory: Surprise, wrong: boolean): Surprise {
  return { wrong: [...memory.wrong, wrong].slice(-surpriseCallsMax) };
}

/** Share of wrong forecasts among the last `surpriseCallsMax`, 0 to 1; 0 while there are too few to say. */
export function surpriseRate({ wrong }: Surprise): number {
  return wrong.length < surpriseCallsMin ? 0 : wrong.filter(Boolean).length / wrong.length;
}

/** The question before a call that somebody besides the person can see; undefined where the models do well enough. */
export function surpriseReason(memory: Surprise, surpriseMax: number, contract: ToolContract): Reason | undefined {
  const rate = surpriseRate(memory);
  if (rate <= surpriseMax || !isSink(contract)) return undefined;
  return {
    mechanism: "regulate",
    code: "SG-SURPRISE",
    verdict: "confirm",
    facts: { rate: Math.round(rate * 100) / 100, limit: surpriseMax, calls: memory.wrong.length },
    way: "do without this call, or ask the person",
  };
}

/** Some argument of the tool reaches somebody besides the run's person (formal.md 4.1). */
export function isSink(contract: ToolContract): boolean {
  return contract.rest.sink || [...contract.arguments.values()].some((argument) => argument.sink);
}
