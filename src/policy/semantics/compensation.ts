/**
 * Calls that the gateway compensates at the end of a run (formal.md 4.3, M4 `compensate`): each call that `after` matches
 * owes a success of `by` that was dispatched later, for each of its keys. What was not met until then is made up for by a
 * call of the policy, one for each. Debts are followed one by one, since a compensation that is made twice, or for what was
 * met, does harm. A success of the very call that would compensate settles the debt too, also one that the agent made.
 */
import { type Json, type JsonObject, isObject } from "../../core/json.ts";
import type { CallOption } from "../../core/moment.ts";
import type { GatewayCall, Temporal } from "../ir/ir.ts";
import type { Slot } from "./monitors.ts";
import { type Context, type PatternScene, matches } from "./patterns.ts";
import { type InFlight, type Owing, type Q, globalKey, keysOf } from "./state.ts";
import { filledFrom } from "../values/references.ts";

/** Debts of one run that may wait for a compensation; a call that would make one more is refused. */
export const owingMax = 256;

/** A rule that compensates calls. */
export type Compensating = Extract<Temporal, { kind: "by-end" }> & { readonly call: GatewayCall };

export function compensates(temporal: Temporal): temporal is Compensating {
  return temporal.kind === "by-end" && temporal.action === "compensate" && temporal.call !== undefined;
}

/** The rule of a debt. */
function ruleOf(slots: readonly Slot[], { slot }: Owing): (Slot & { readonly temporal: Compensating }) | undefined {
  const found = slots[slot];
  return found === undefined || !compensates(found.temporal) ? undefined : { ...found, temporal: found.temporal };
}

type Seen = { readonly context: Context<boolean>; readonly scene: PatternScene<boolean> };
type Dispatch = { readonly call: string; readonly option: CallOption; readonly arguments: JsonObject };

/** The debts after a dispatch. */
export function withDebts(
  slots: readonly Slot[],
  q: Q,
  { call, option, arguments: given }: Dispatch,
  { context, scene }: Seen,
): readonly Owing[] {
  const made = slots.flatMap((slot): readonly Owing[] => {
    const { temporal } = slot;
    if (!compensates(temporal) || !matches(context, temporal.after, "restrict", scene)) return [];
    const filled = filledFrom(temporal.call.arguments, given);
    const keys = keysOf(slot, option);
    // No success is for the key of all: what has no readable key of its own is met by nothing.
    const left = keys.length === 0 ? [globalKey] : keys;
    return [{ slot: slot.index, call, since: q.dispatches, left, arguments: filled.ok ? filled.value : undefined }];
  });
  return made.length === 0 ? q.owing : [...q.owing, ...made];
}

/** The debt that a dispatch compensates, as the id of the call that owes it; one that is being compensated is not. */
export function paidBy(slots: readonly Slot[], q: Q, { option, arguments: given }: Dispatch): string | undefined {
  const { server, tool } = option.contract;
  const taken = new Set([...q.inFlight.values()].flatMap(({ settled, pays }) => (settled ? [] : (pays ?? []))));
  const isPaid = (debt: Owing): boolean => {
    const call = ruleOf(slots, debt)?.temporal.call;
    if (call?.server !== server || call.tool !== tool || debt.arguments === undefined) return false;
    return sortedText(debt.arguments) === sortedText(given) && !taken.has(debt.call);
  };
  return q.owing.find(isPaid)?.call;
}

/** Equal for equal arguments, in whatever order their members come. */
function sortedText(value: Json): string {
  const inOrder = ([left]: readonly [string, Json], [right]: readonly [string, Json]): number =>
    left < right ? -1 : 1;
  return JSON.stringify(value, (_, each: Json) =>
    isObject(each) ? Object.fromEntries(Object.entries(each).sort(inOrder)) : each,
  );
}

/** The debts after the success of a call. */
export function withoutMet(
  slots: readonly Slot[],
  owing: readonly Owing[],
  { option, number, pays }: InFlight,
  { context, scene }: Seen,
): readonly Owing[] {
  const { server, tool } = option.contract;
  return owing.flatMap((debt): readonly Owing[] => {
    const rule = ruleOf(slots, debt);
    if (rule === undefined) return [debt];
    const { by, call } = rule.temporal;
    if (pays === debt.call && call.server === server && call.tool === tool) return [];
    if (number <= debt.since || !matches(context, by, "permit", scene)) return [debt];
    const keys = keysOf(rule, option);
    const left = debt.left.filter((key) => !keys.includes(key));
    return left.length === 0 ? [] : [{ ...debt, left }];
  });
}

/** A compensating call, with the rule that wants it; without arguments it cannot be written. */
export type OwedCall = {
  readonly rule: string;
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject | undefined;
};

/** What would have to be made up for if the run ended now; the newest call first, as one undoes. */
export function owedCalls(slots: readonly Slot[], { owing }: Q): readonly OwedCall[] {
  return owing.toReversed().flatMap((debt): readonly OwedCall[] => {
    const rule = ruleOf(slots, debt);
    if (rule === undefined) return [];
    const { server, tool } = rule.temporal.call;
    return [{ rule: rule.id, server, tool, arguments: debt.arguments }];
  });
}
