/**
 * A decision in its two parts. Codes, rules, verdicts and labels stay readable for as long as the log exists; facts and
 * ways may quote arguments, so they are payload.
 */
import type { Decision } from "../../core/decision.ts";
import type { CallOption } from "../../core/moment.ts";
import type { Obligation, Reason } from "../../core/opinion.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { splitOption, type NameContract, type Split } from "./option-codec.ts";

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
    case "hold":
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
    case "label":
      return { fields: obligation.fields.map((field) => [field.pointer, field.range.lo, field.range.hi]) };
    case "isolate":
    case "hold":
      return null;
  }
}

/** `known` is the option that an `allowed` event of the same record already holds; it is not written twice. */
export function splitDecision(decision: Decision, known: CallOption | undefined, name: NameContract): Split {
  const option =
    decision.option === undefined || decision.option === known ? undefined : splitOption(decision.option, name);
  return {
    clear: {
      verdict: decision.verdict,
      ...(decision.unobserved === decision.verdict ? {} : { unobserved: decision.unobserved }),
      reasons: decision.reasons.map(reasonInClear),
      obligations: decision.obligations.map(obligationInClear),
      ...(option === undefined ? {} : { option: option.clear }),
    },
    payload: {
      reasons: decision.reasons.map((reason) => ({ facts: { ...reason.facts }, way: reason.way ?? null })),
      obligations: decision.obligations.map(obligationInPayload),
      ...(option === undefined ? {} : { option: option.payload }),
    },
  };
}
