/**
 * The options that the agent has with a tool (formal.md 4.1): one for each combination of truths of the argument predicates
 * that matter, with the least labels that the flow mode leaves to it. If none of these would be let through, none is: larger
 * labels never loosen. Arguments that the tool can do without are left out, amounts fit, and keys are fresh, so the list may
 * show a tool whose every useful call is refused, but hides none that could be called.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { LabelRange } from "../../core/label.ts";
import { confidentiality, exactly } from "../../core/label.ts";
import type { ArgumentLabel, CallOption } from "../../core/moment.ts";
import type { Ir } from "../../policy/ir.ts";
import { contextOf, isKeyed, unmediated } from "../../policy/state.ts";
import type { Q } from "../../policy/state.ts";
import type { Frame } from "../../policy/transition.ts";

/** Predicates of one tool whose truths are combined; beyond it the tool is shown, and its calls are decided one by one. */
export const predicatesMax = 8;

/** A key that no call has had. An agent that gives it as an id all the same only makes its own list shorter. */
const freshKey = "\u0000";

/** Undefined where there are too many combinations to look at. */
export function optionsOf(
  { ir, slots }: Frame,
  q: Q,
  contract: ToolContract,
  predicates: readonly number[],
): readonly CallOption[] | undefined {
  if (predicates.length > predicatesMax) return undefined;
  const label: ArgumentLabel = { range: leastLabel(ir, q), digest: "", path: [] };
  const given = new Map((contract.required ?? []).map((name) => [name, label] as const));
  const { server, tool } = contract;
  const keys = new Map(slots.filter(isKeyed).map(({ id }) => [id, [freshKey]]));
  return Array.from({ length: 2 ** predicates.length }, (_, vector) => {
    const truths = new Map(predicates.map((index, bit) => [index, (vector & (1 << bit)) !== 0]));
    return { class: { server, tool, truths, keys, amounts: new Map() }, contract, arguments: given };
  });
}

function leastLabel(ir: Ir, q: Q): LabelRange {
  const nothing = exactly(ir.lattice.bottom);
  // A value that a person vouched for may have any label down to the least.
  if (ir.flow === "none" || q.grants.some(({ kind }) => kind === "endorse" || kind === "declassify")) return nothing;
  if (ir.flow === "strict") return contextOf(ir, q);
  // A value that stands in no result is free of them, but not of what came past all releases.
  const past = unmediated(ir, q);
  return { lo: confidentiality(ir.lattice, past.lo), hi: confidentiality(ir.lattice, past.hi) };
}
