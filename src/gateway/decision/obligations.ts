/** Obligations of a call: the duties of the gateway if the verdict stands (system.md 3). One it cannot meet denies. */
import type { Obligation, Reason } from "../../core/opinion.ts";
import { isObject } from "../../core/json.ts";
import type { PerformOrder } from "../ports/conversation.ts";
import type { GuardRow } from "./attendance.ts";
import type { Decision } from "../../core/decision.ts";
import type { LiveRun } from "../runs/live-run.ts";

/**
 * The kind of an obligation that cannot be met for a call: nothing isolates it, it cannot wait or have others made
 * first, or there is no result to redact yet.
 */
export function unmetObligation(
  obligations: readonly Obligation[],
  isolated: () => boolean,
  { hold, perform }: Pick<GuardRow, "hold" | "perform">,
): string | undefined {
  return obligations.find((obligation) => !canBeMet(obligation, isolated, { hold, perform }))?.kind;
}

function canBeMet(
  obligation: Obligation,
  isolated: () => boolean,
  { hold, perform }: Pick<GuardRow, "hold" | "perform">,
): boolean {
  switch (obligation.kind) {
    case "isolate":
      return isolated();
    case "hold":
      return hold.way !== "refuse";
    case "perform":
      return perform.way !== "refuse" && isObject(obligation.arguments);
    case "label":
    case "notify":
      return true;
    // A run that must end is ended before that; `redact` and `revoke` speak of a result, and a call has none yet.
    case "end-run":
    case "redact":
    case "revoke":
      return false;
  }
}

/** The scope that a call must run in; undefined where nothing isolates it. */
export function scopeOf(obligations: readonly Obligation[]): string | undefined {
  for (const obligation of obligations) if (obligation.kind === "isolate") return obligation.scope;
  return undefined;
}

/** Calls that must be made first, without those already made for this call. */
export function ordersOf(
  obligations: readonly Obligation[],
  performed: ReadonlySet<string> | undefined,
): readonly (PerformOrder & { readonly rule: string })[] {
  const orders: (PerformOrder & { readonly rule: string })[] = [];
  for (const obligation of obligations) {
    if (obligation.kind !== "perform" || performed?.has(obligation.rule) === true) continue;
    if (!isObject(obligation.arguments)) continue;
    const { rule, server, tool } = obligation;
    orders.push({ rule, server, tool, arguments: obligation.arguments });
  }
  return orders;
}

/** The decision as it is enforced: where it ends the run it denies, with how to start anew as the only way on. */
export function withRunEnd(decision: Decision, observed: boolean): Decision {
  if (observed || !endsRun(decision)) return decision;
  const way = "the run has ended; start anew with `sluicegate runs new`";
  const ended: Reason = { mechanism: "gateway", code: "SG-RUN-ENDED", verdict: "deny", facts: {}, way };
  const causes = decision.reasons
    .filter(({ observed: only }) => only !== true)
    .map(({ way: _way, ...reason }): Reason => ({ ...reason, verdict: "deny" }));
  return { ...decision, verdict: "deny", enforcedVerdict: "deny", reasons: [...causes, ended] };
}

/** The run that ends with a decision of it; undefined where it goes on. */
export function endedRun(live: LiveRun, decision: Decision, observed: boolean): LiveRun | undefined {
  return endsRun(decision) && !observed ? live : undefined;
}

function endsRun({ obligations }: Decision): boolean {
  return obligations.some(({ kind }) => kind === "end-run");
}
