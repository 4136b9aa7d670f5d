/**
 * The symbolic world model at a call (foresight.md 2): the call is judged a second time with the effects that its arguments
 * reveal. Where rules and hazards object to that, and not to the call by its labels, consent is asked. It never refuses by
 * itself: the server decides how it runs its arguments, and proofs know labels alone.
 */
import type { ToolContract } from "../../../core/contract.ts";
import type { CallMoment, CallOption } from "../../../core/moment.ts";
import type { Reason } from "../../../core/opinion.ts";
import { contractFor } from "../../../policy/ir/ir.ts";
import { nothingRead } from "../../../policy/semantics/argument-tests.ts";
import type { PolicyModel } from "../../../policy/semantics/model.ts";
import type { Q } from "../../../policy/semantics/state.ts";
import type { Frame } from "../../../policy/semantics/transition.ts";
import { addedEffects, argumentEffects, argumentReason, revealedContract } from "./argument-effects.ts";
import { actingReason } from "./acting-arguments.ts";
import { objectionTo } from "../guard.ts";

type Around = { readonly frame: Frame; readonly model: PolicyModel };
type Asked = { readonly moment: Pick<CallMoment, "at" | "arguments">; readonly option: CallOption };

/** Reasons against a call from what its arguments reveal; only ever more than without them. */
export function revealedReasons({ frame, model }: Around, q: Q, { moment, option }: Asked): readonly Reason[] {
  const declared = contractFor(option.contract, option.class.truths);
  const acting = actingReason(frame.read ?? nothingRead, declared, moment.arguments);
  const more = labelledReasons({ frame, model }, q, { moment, option }, declared);
  return acting === undefined ? more : [acting, ...more];
}

function labelledReasons(
  { frame, model }: Around,
  q: Q,
  { moment, option }: Asked,
  declared: ToolContract,
): readonly Reason[] {
  const found = argumentEffects(declared, moment.arguments);
  if (found.flags.length === 0 && addedEffects(declared, found).length === 0) return [];
  const own = { ...declared, cases: [] };
  const reason = argumentReason(own, found);
  const reasons = reason === undefined ? [] : [reason];
  const contract = revealedContract(own, found);
  if (contract === undefined) return reasons;
  const { at } = moment;
  const plain = objectionTo({ frame, q, option, at }, model.relevant(option.contract), "call");
  if (plain.verdict !== "allow") return reasons;
  const more = objectionTo({ frame, q, option: { ...option, contract }, at }, model.relevant(contract), "call");
  if (more.verdict === "allow") return reasons;
  return [
    ...reasons,
    {
      mechanism: "regulate",
      code: "SG-ARGUMENTS",
      verdict: "confirm",
      ...(more.rule === undefined ? {} : { rule: more.rule }),
      ...(more.why === "" ? {} : { why: more.why }),
      facts: { effects: found.effects.filter((effect) => !own.effects.must.includes(effect)) },
      way: "do it with simpler arguments, or leave that part out",
    },
  ];
}
