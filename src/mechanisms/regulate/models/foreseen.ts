/**
 * The filter of the next list (foresight.md 1). A prediction is about a state, so its filter is kept as long as the run is
 * there: one about the list until anything happens, one about a call until something else happens than the call that was
 * predicted. Then the models are asked anew.
 */
import type { ToolContract } from "../../../core/contract.ts";
import type { RunEvent } from "../../../core/event.ts";
import type { ForeseenFilter } from "../../../core/questions/prediction.ts";

/** A filter that is in force; `call` is the call after which it was predicted, undefined for the list as it was. */
export type Foreseen = ForeseenFilter & { readonly call: string | undefined };

/** `moved`: the steps that models see changed. `surprised`: the last result was not what a model expected. */
type After = { readonly moved: boolean; readonly surprised: boolean; readonly policy: string };

/** The filter in force after an event, under the policy of a digest; undefined where models have to be asked. */
export function foreseenAfter(
  memory: Foreseen | undefined,
  event: RunEvent,
  { moved, surprised, policy }: After,
): Foreseen | undefined {
  const told = filterTold(event);
  // Another policy may ask other models, and an operator who exchanges a model wants its word.
  if (told !== undefined) return told.policy === undefined || told.policy === policy ? told : undefined;
  if (!moved) return memory;
  return isPredicted(memory?.call, event) && !surprised ? memory : undefined;
}

/** The filter that an event brings, of whatever policy it was. */
export function filterTold(event: RunEvent): Foreseen | undefined {
  if (event.kind === "foreseen") return { ...event.filter, call: undefined };
  // What was predicted for another run was predicted from what that run holds.
  if (event.kind !== "dispatched" || event.filter === undefined || event.from !== undefined) return undefined;
  return { ...event.filter, call: event.call };
}

/** The call went as a prediction about it supposes. */
function isPredicted(call: string | undefined, event: RunEvent): boolean {
  return (event.kind === "succeeded" || event.kind === "released") && call !== undefined && event.call === call;
}

/** Names that a model hides, of the tools that it may hide: one that alone can meet a debt is asked about instead. */
export function hiddenByModel(
  foreseen: Foreseen | undefined,
  tools: readonly ToolContract[],
  mayPay: (contract: ToolContract) => boolean,
): readonly string[] {
  if (foreseen === undefined || foreseen.hides.length === 0) return [];
  const hides = new Set(foreseen.hides);
  return tools.flatMap((contract) => {
    const name = `${contract.server}.${contract.tool}`;
    return hides.has(name) && !mayPay(contract) ? [name] : [];
  });
}
