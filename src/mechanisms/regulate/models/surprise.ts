/**
 * Predicted against observed (foresight.md 1). Above `surpriseMax` wrong forecasts the model is not relied on: the next call
 * whose arguments another reader can see needs consent.
 */
import type { ToolContract } from "../../../core/contract.ts";
import type { Effect, EffectRange } from "../../../core/effect.ts";
import { type LabelRange, type Lattice, atMost, joinRanges } from "../../../core/label.ts";
import type { Reason } from "../../../core/opinion.ts";
import type { Forecast } from "../../../core/questions/prediction.ts";
import { labelOfNames } from "../../../core/explain/restriction-names.ts";
import { completed } from "../power-weights.ts";
import type { RunEvent } from "../../../core/event.ts";
import { type Ir, contractFor } from "../../../policy/ir/ir.ts";
import { type Q, contextOf } from "../../../policy/semantics/state.ts";

/** Comparisons that the rate looks back on. */
export const surpriseCallsMax = 16;

/** Comparisons before which there is no rate: one wrong guess proves no rate. */
export const surpriseCallsMin = 4;

/**
 * An observation. `brought` is the label of the result; `held` the most that the run then holds. `effects` are those
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

/** The question before a call that a reader other than the user can see; undefined where the models do well enough. */
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

/** Some argument of the tool reaches a reader other than the run's user (formal.md 4.1). */
export function isSink(contract: ToolContract): boolean {
  return contract.rest.sink || [...contract.arguments.values()].some((argument) => argument.sink);
}

export type Expected = Surprise & {
  readonly waiting: ReadonlyMap<string, { readonly forecast: Forecast; readonly effects: EffectRange }>;
};

export const nothingExpected: Expected = { ...noSurprise, waiting: new Map() };

export function expectedAfter(ir: Ir, memory: Expected, event: RunEvent, q: Q): Expected {
  if (event.kind === "dispatched" && event.forecast !== undefined) {
    const { effects } = contractFor(event.option.contract, event.option.class.truths);
    return { ...memory, waiting: new Map(memory.waiting).set(event.call, { forecast: event.forecast, effects }) };
  }
  if (event.kind !== "released" && event.kind !== "unknown") return memory;
  const waiting = event.call === undefined ? undefined : memory.waiting.get(event.call);
  if (event.call === undefined || waiting === undefined) return memory;
  const rest = new Map(memory.waiting);
  rest.delete(event.call);
  // A withheld or missing result is no evidence about the forecast.
  if (event.kind === "unknown" || event.how !== "pass") return { ...memory, waiting: rest };
  const brought = event.fields.reduce((all, field) => joinRanges(all, field.range), event.label);
  const wrong = isWrong(ir.lattice, waiting.forecast, { brought, held: contextOf(ir, q), effects: waiting.effects });
  return { ...surpriseAfter(memory, wrong), waiting: rest };
}
