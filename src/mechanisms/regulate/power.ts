/**
 * Power of a run (foresight.md 3): which effects it has had at its disposal so far, weighed. It only grows. Reading a
 * file, sending a mail and granting a right are each fine; a run that gathers all three can do what no one of them can,
 * and that is what the budget asks about.
 */
import type { ToolContract } from "../../core/contract.ts";
import { type Effect, everyEffect } from "../../core/effect.ts";
import type { RunEvent } from "../../core/event.ts";
import type { JsonObject } from "../../core/json.ts";
import type { CallOption } from "../../core/moment.ts";
import type { Reason } from "../../core/opinion.ts";
import { contractFor } from "../../policy/ir/ir.ts";
import type { Regulation } from "../../policy/sections/regulation.ts";
import { argumentEffects } from "./models/argument-effects.ts";
import { powerOf } from "./power-weights.ts";

/** Everything that the calls of a run may have done. Small: there are only so many effects. */
export type Power = { readonly effects: ReadonlySet<Effect> };

export const noPower: Power = { effects: new Set() };

/** A call with its arguments, as the event `dispatched` and the moment of a call have them. */
export type PowerCall = { readonly option: CallOption; readonly arguments: JsonObject };

/** An audience that is let in stays in when the call is over. */
const letsIn: Effect = "write.external.grant";

/** The effects that a call of this class may have: those of the contract, its arguments, and the channels it opens. */
export function effectsOfCall({ option, arguments: given }: PowerCall): readonly Effect[] {
  const contract = contractFor(option.contract, option.class.truths);
  const found = [...contract.effects.may, ...argumentEffects(contract, given).effects];
  return contract.opens.length > 0 ? [...found, letsIn] : found;
}

/** The effects that some call of the tool may have, whatever its arguments. */
export function effectsOfTool(contract: ToolContract): readonly Effect[] {
  return [
    ...contract.effects.may,
    ...contract.cases.flatMap((one) => one.effects?.may ?? []),
    ...(contract.opens.length > 0 ? [letsIn] : []),
  ];
}

function joined(power: Power, effects: readonly Effect[]): Power {
  if (effects.every((effect) => power.effects.has(effect))) return power;
  return { effects: new Set([...power.effects, ...effects]) };
}

/** Effects of calls: one that many runs hear of is looked at once. */
const knownEffects = new WeakMap<RunEvent, readonly Effect[]>();

/** Counted from `dispatched`, like everything that restricts: a call that fails may have done half of its work. */
export function powerAfter(power: Power, event: RunEvent): Power {
  if (event.kind !== "dispatched") return power;
  const effects = knownEffects.get(event) ?? effectsOfCall(event);
  knownEffects.set(event, effects);
  return joined(power, effects);
}

/** Power gathered so far: what `runs` shows. */
export function powerGathered(power: Power, weights: ReadonlyMap<Effect, number>): number {
  return powerOf(power.effects, weights);
}

/** Power of the run once this call is made. */
export function powerWith(power: Power, call: PowerCall, weights: ReadonlyMap<Effect, number>): number {
  return powerOf(joined(power, effectsOfCall(call)).effects, weights);
}

/** Power that can be reached from here with these tools: how dangerous a list is. */
export function powerReachable(
  power: Power,
  contracts: readonly ToolContract[],
  weights: ReadonlyMap<Effect, number>,
): number {
  return powerOf(joined(power, contracts.flatMap(effectsOfTool)).effects, weights);
}

/**
 * The question that a call over the budget raises; undefined where there is no budget, it is kept, or the call adds
 * nothing. So a user who agrees to one mail is not asked about the second: the question comes when power is gathered.
 * A run whose history is lost may have gathered everything, and each addition to its known power raises the question.
 */
export function powerReason(
  power: Power,
  call: PowerCall,
  settings: Regulation["power"],
  lost: boolean,
): Reason | undefined {
  const { budget, weights } = settings;
  if (budget === undefined) return undefined;
  const known = powerWith(power, call, weights);
  const gathered = powerGathered(power, weights);
  const after = lost ? powerOf(new Set(everyEffect), weights) : known;
  if (after <= budget || known <= gathered) return undefined;
  return {
    mechanism: "regulate",
    code: "SG-POWER",
    verdict: "confirm",
    facts: { gathered, after, budget, effects: newEffects(power, call) },
    way: "do this part in a new run, or ask the person",
  };
}

/** Effects that the call would add, for the card. */
function newEffects(power: Power, call: PowerCall): readonly Effect[] {
  return [...new Set(effectsOfCall(call))].filter((effect) => !power.effects.has(effect)).toSorted();
}
