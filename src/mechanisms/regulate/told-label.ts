/**
 * The label of all that the arguments of a call may hold, for whoever is told of the call. A judge's bound is compared
 * with it, so it must not rest on what was allowed for the call alone.
 */
import type { Label } from "../../core/label.ts";
import { join } from "../../core/label.ts";
import type { CallOption } from "../../core/moment.ts";
import type { Ir } from "../../policy/ir.ts";
import type { Q } from "../../policy/state.ts";
import { contextOf } from "../../policy/state.ts";

/**
 * A person who releases a value lets it go to the one sink on the card, not to whoever runs a model: what their grants
 * took away is put back. Where values are not followed, all that is held may be in an argument.
 */
export function heldInArguments(ir: Ir, q: Q, option: CallOption): Label {
  if (option.arguments.size === 0) return ir.lattice.bottom;
  let label = ir.flow === "none" ? contextOf(ir, q).hi : ir.lattice.bottom;
  for (const { range } of option.arguments.values()) label = join(label, range.hi);
  for (const grant of q.grants) if (grant.kind === "declassify") label = join(label, grant.from.hi);
  return label;
}
