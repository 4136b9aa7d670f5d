/**
 * One trial of a call on the state, with the transition function that the gateway runs. It gives the state after the call
 * with nothing shown to the agent, and with the least that its result can bring (Φ of formal.md 4.5: every outcome can be
 * dealt with, and some success is of use). A refused result leaves the state as the dispatch made it, so larger outcomes
 * need no trial: they are decided when they come.
 */
import { type LabelRange, join, joinRanges } from "../../../core/label.ts";
import type { CallOption } from "../../../core/moment.ts";
import { ok } from "../../../core/result.ts";
import { stricter } from "../../../core/verdict.ts";
import { contractFor } from "../../../policy/ir/ir.ts";
import { type Q, hold, reservedHeld, storeRange } from "../../../policy/semantics/state.ts";
import { type Frame, next } from "../../../policy/semantics/transition.ts";
import type { Scene } from "../../../policy/semantics/verdicts.ts";
import type { Game, StateSafety } from "./state-safety.ts";

/** Name of the tried call among those in flight; no real call has it. */
const trial = "";

/** The safety of the state after the call; undefined where the call is not a move, which the core refuses by itself. */
export function safetyAfterTrial(game: Game, { frame, q, option, at }: Scene): StateSafety | undefined {
  const { writes, opens } = option.contract;
  const reserved = reservedHeld(frame.ir, q);
  // A call that leaves the stores alone leaves everything as it is that the game looks at.
  const leaves = writes.length === 0 && opens.length === 0 && !game.looksAtHistory;
  const event = { kind: "dispatched", at, call: trial, method: "", option, arguments: {}, digest: "" } as const;
  const moved = leaves ? ok(q) : next(frame, q, event);
  if (!moved.ok) return undefined;
  const dispatched = game.safetyOf(moved.value, at, reserved);
  if (dispatched.verdict === "deny" || !game.looksAtHeld) return dispatched;
  // Labels that only a success brings are judged after its unlocking, or a call could never meet its own debt.
  const succeeded = leaves ? moved : next(frame, moved.value, { kind: "succeeded", at, call: trial });
  if (!succeeded.ok) return undefined;
  const held = hold(reserved, leastResult(frame, moved.value, option));
  if (leaves && held === reserved) return dispatched;
  const shown = game.safetyOf(succeeded.value, at, held);
  return stricter(dispatched.verdict, shown.verdict) === dispatched.verdict ? dispatched : shown;
}

/** The least that a success can bring; what it was sent and what it read are in it in any case. */
function leastResult({ ir }: Frame, q: Q, option: CallOption): LabelRange {
  const { output, reads } = contractFor(option.contract, option.class.truths);
  const lo = output.fields.reduce((all, field) => join(all, field.label.lo), output.label.lo);
  let range: LabelRange = { lo, hi: lo };
  for (const argument of option.arguments.values()) range = joinRanges(range, argument.range);
  for (const name of reads) {
    const label = storeRange(ir, q, name);
    if (label !== undefined) range = joinRanges(range, label);
  }
  return range;
}
