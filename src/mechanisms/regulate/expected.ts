/** What models expect of calls that are under way, compared with what comes (foresight.md 1). */
import type { EffectRange } from "../../core/effect.ts";
import type { RunEvent } from "../../core/event.ts";
import { joinRanges } from "../../core/label.ts";
import type { Forecast } from "../../core/prediction.ts";
import type { Ir } from "../../policy/ir.ts";
import { contractFor } from "../../policy/ir.ts";
import type { Q } from "../../policy/state.ts";
import { contextOf } from "../../policy/state.ts";
import type { Surprise } from "./surprise.ts";
import { isWrong, noSurprise, surpriseAfter } from "./surprise.ts";

export type Expected = Surprise & {
  readonly waiting: ReadonlyMap<string, { readonly forecast: Forecast; readonly effects: EffectRange }>;
};

export const nothingExpected: Expected = { ...noSurprise, waiting: new Map() };

export function expectedAfter(ir: Ir, memory: Expected, event: RunEvent, q: Q): Expected {
  if (event.kind === "allowed" && event.forecast !== undefined) {
    const { effects } = contractFor(event.option.contract, event.option.class.truths);
    return { ...memory, waiting: new Map(memory.waiting).set(event.call, { forecast: event.forecast, effects }) };
  }
  if (event.kind !== "released" && event.kind !== "unknown") return memory;
  const waiting = event.call === undefined ? undefined : memory.waiting.get(event.call);
  if (event.call === undefined || waiting === undefined) return memory;
  const rest = new Map(memory.waiting);
  rest.delete(event.call);
  // What was withheld, or never came, says nothing of the forecast.
  if (event.kind === "unknown" || event.how !== "pass") return { ...memory, waiting: rest };
  const brought = event.fields.reduce((all, field) => joinRanges(all, field.range), event.label);
  const wrong = isWrong(ir.lattice, waiting.forecast, { brought, held: contextOf(ir, q), effects: waiting.effects });
  return { ...surpriseAfter(memory, wrong), waiting: rest };
}
