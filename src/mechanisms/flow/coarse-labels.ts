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
  const { lo, hi } = joinRanges(context, index.accounted);
  const absorbs = ({ label }: { readonly label: LabelRange }): boolean => atMost(hi, label.hi) && atMost(lo, label.lo);
  const takes = (output: OutputContract): boolean => absorbs(output) && output.fields.every(absorbs);
  const all = takes(contract.output) && contract.cases.every(({ output }) => output === undefined || takes(output));
  return all ? { lo: index.lattice.bottom, hi } : undefined;
}
