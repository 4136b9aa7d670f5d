/** Obligations of a call: what the gateway must do if the verdict stands (DESIGN 3). One it cannot meet denies. */
import type { Obligation } from "../core/opinion.ts";
import { isObject } from "../core/json.ts";
import type { PerformOrder } from "./scene.ts";

/**
 * The kind of an obligation that cannot be met for a call: no projection to isolate in (`isolates` says whether there
 * is one), no result to redact yet.
 */
export function unmetObligation(obligations: readonly Obligation[], isolates = false): string | undefined {
  for (const obligation of obligations) {
    switch (obligation.kind) {
      case "isolate":
        if (!isolates) return obligation.kind;
        break;
      case "redact":
        return obligation.kind;
      case "perform":
        if (!isObject(obligation.arguments)) return obligation.kind;
        break;
      // A run that must end is ended with the refusal; whoever asks only here refuses the call, which is no less.
      case "end-run":
        return obligation.kind;
      // Speaks of a result, and a call has none yet.
      case "revoke":
        return obligation.kind;
      case "label":
      case "hold":
      case "notify":
        break;
    }
  }
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
