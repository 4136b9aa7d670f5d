/**
 * A decision in its two parts. Codes, rules, verdicts and labels stay readable for as long as the log exists; facts and
 * ways may quote arguments, so they are payload.
 */
import type { Decision } from "../../core/decision.ts";
import type { CallOption } from "../../core/moment.ts";
import type { Obligation, Reason } from "../../core/opinion.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { splitOption, type NameContract } from "./option-codec.ts";
import type { EntryHead } from "./record.ts";

function reasonInClear(reason: Reason): JsonObject {
  const { facts: _facts, way: _way, ...rest } = reason;
  return rest;
}

function obligationInClear(obligation: Obligation): Json {
  switch (obligation.kind) {
    case "isolate":
      return { kind: obligation.kind, scope: obligation.scope };
    case "label":
      return { kind: obligation.kind, range: [obligation.range.lo, obligation.range.hi] };
    case "redact":
      return { kind: obligation.kind };
    case "perform":
      return { kind: obligation.kind, rule: obligation.rule, server: obligation.server, tool: obligation.tool };
    case "revoke":
      return { kind: obligation.kind, rule: obligation.rule, server: obligation.server, end: obligation.end };
    case "hold":
    case "end-run":
    case "notify":
      return { kind: obligation.kind, rule: obligation.rule };
  }
}

function obligationInPayload(obligation: Obligation): Json {
  switch (obligation.kind) {
    case "redact":
      return { pointer: obligation.pointer };
    case "perform":
      return { arguments: obligation.arguments };
    case "notify":
      return { text: obligation.text };
    case "label": {
      const { fields } = obligation;
      return fields.length === 0 ? null : { fields: fields.map(({ pointer, range }) => [pointer, range.lo, range.hi]) };
    }
    case "isolate":
    case "hold":
    case "end-run":
    case "revoke":
      return null;
  }
}

/** A decision in its two parts; the payload is undefined if there is nothing to hide. */
export type SplitDecision = { readonly clear: JsonObject; readonly payload: JsonObject | undefined };

/** What a decision says of itself is written only where it says something: most say no more than `allow`. */
export function splitDecision(
  decision: Decision,
  known: { readonly option: CallOption | undefined; readonly entry: EntryHead },
  name: NameContract,
): SplitDecision {
  const { verdict, unobserved, reasons, obligations } = decision;
  const clear: Record<string, Json> = { verdict };
  const payload: Record<string, Json> = {};
  if (unobserved !== verdict) clear["unobserved"] = unobserved;
  if (reasons.length > 0) {
    clear["reasons"] = reasons.map(reasonInClear);
    payload["reasons"] = reasons.map((reason) => ({ facts: { ...reason.facts }, way: reason.way ?? null }));
  }
  if (obligations.length > 0) {
    clear["obligations"] = obligations.map(obligationInClear);
    const hidden = obligations.map(obligationInPayload);
    if (hidden.some((one) => one !== null)) payload["obligations"] = hidden;
  }
  // The option of an `allowed` event of the same entry is not written twice.
  if (decision.option !== undefined && decision.option !== known.option) {
    const option = splitOption(decision.option, name, known.entry);
    clear["option"] = option.clear;
    payload["option"] = option.payload;
  }
  return { clear, payload: Object.keys(payload).length === 0 ? undefined : payload };
}
