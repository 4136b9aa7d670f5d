/** Effects that the arguments of a call add to what its contract says. */
import type { ToolContract } from "../../core/contract.ts";
import type { Effect } from "../../core/effect.ts";
import type { JsonObject } from "../../core/json.ts";

export function argumentEffects(_contract: ToolContract, _given: JsonObject): { readonly effects: readonly Effect[] } {
  return { effects: [] };
}
