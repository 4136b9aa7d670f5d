/**
 * Calls whose argument labels decide nothing. Where no rule, hazard, store or default looks at the labels of a tool's
 * arguments, they only reach the label of its result; and where that result is labelled with everything the agent holds
 * anyway, comparing the arguments with all that was released could change nothing. Most reads are such calls, and the
 * text that they bring is then indexed when a call first depends on it.
 */
import type { OutputContract, ToolContract } from "../../core/contract.ts";
import { atMost, joinRanges } from "../../core/label.ts";
import type { LabelRange } from "../../core/label.ts";
import type { ProvenanceIndex } from "./provenance-index.ts";

/**
 * A range that holds for every argument of the call without looking at it: from nothing to everything held. Undefined
 * where some result of the tool is declared to be less restricted than that, so that it would become too restricted.
 */
export function coarseRange(
  index: ProvenanceIndex,
  context: LabelRange,
  contract: ToolContract,
): LabelRange | undefined {
  const held = joinRanges(context, index.accounted);
  if (!takes(contract.output, held)) return undefined;
  for (const { output } of contract.cases) if (output !== undefined && !takes(output, held)) return undefined;
  return { lo: index.lattice.bottom, hi: held.hi };
}

function takes(output: OutputContract, held: LabelRange): boolean {
  for (const field of output.fields) if (!absorbs(field.label, held)) return false;
  return absorbs(output.label, held);
}

function absorbs(label: LabelRange, held: LabelRange): boolean {
  return atMost(held.hi, label.hi) && atMost(held.lo, label.lo);
}
