/** The transition system of a policy behind the port of the decision core. */
import { unknownRange } from "../../core/label.ts";
import type { Model } from "../../core/mechanism.ts";
import type { ArgumentLabel } from "../../core/moment.ts";
import type { Json } from "../../core/json.ts";
import { classify } from "./classify.ts";
import { type Relevant, relevance } from "./relevance.ts";
import type { ToolContract } from "../../core/contract.ts";
import { initialState, stateOf } from "./state.ts";
import { type Frame, next } from "./transition.ts";

/** The policy's model, and the memo of what each tool's decision must look at. */
export type PolicyModel = Model & { readonly relevant: (contract: ToolContract) => Relevant };

export function makeModel(frame: Frame, digest: (value: Json) => string): PolicyModel {
  const relevant = relevance(frame);
  return {
    relevant,
    initial: (shared) => initialState(frame.ir, frame.slots, shared === undefined ? undefined : stateOf(shared)),
    classify: (moment) => classify(frame, relevant(moment.contract), moment),
    unknownLabels: (moment) => {
      const range = unknownRange(frame.ir.lattice);
      const worst = (value: Json): ArgumentLabel => ({ range, digest: digest(value), path: [] });
      return new Map(Object.entries(moment.arguments).map(([name, value]) => [name, worst(value)]));
    },
    next: (q, event) => next(frame, stateOf(q), event),
  };
}
