/**
 * Ordinary `keep:`: a call that costs a tool which the policy wants to keep passes, and is reported (formal.md 4.5).
 * Leaving out what it returns, or doing things in another order, is the alternative.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { CallOption } from "../../core/moment.ts";
import type { Reason } from "../../core/opinion.ts";
import { hold, resultRange, type Q } from "../../policy/semantics/state.ts";
import { next } from "../../policy/semantics/transition.ts";
import { type Board, exposureOf } from "./game/exposure.ts";

/** Tools of ordinary keeps that are usable now and would not be after the call has returned what it may. */
export function keepsLost(
  board: Board,
  q: Q,
  option: CallOption,
  { kept, at }: { readonly kept: readonly ToolContract[]; readonly at: number },
): readonly ToolContract[] {
  if (kept.length === 0) return [];
  const usable = kept.filter((one) => exposureOf(board, q, one, at).verdict === "allow");
  if (usable.length === 0) return [];
  const event = { kind: "dispatched", at, call: "", method: "", option, arguments: {}, digest: "" } as const;
  const moved = next(board.frame, q, event);
  if (!moved.ok) return [];
  const { inFlight: _inFlight, ...rest } = moved.value;
  const after: Q = {
    ...rest,
    inFlight: q.inFlight,
    held: hold(q.held, resultRange(board.frame.ir, moved.value, option)),
  };
  return usable.filter((one) => exposureOf(board, after, one, at).verdict !== "allow");
}

/** The warning: it decides nothing. */
export function keepWarning(lost: readonly ToolContract[]): Reason | undefined {
  if (lost.length === 0) return undefined;
  const tools = lost.map(({ server, tool }) => `${server}.${tool}`);
  return {
    mechanism: "regulate",
    code: "SG-KEEP-LOST",
    verdict: "allow",
    observed: true,
    facts: { tools },
    way: `call ${tools.join(" and ")} first`,
  };
}
