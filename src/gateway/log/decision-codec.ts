/**
 * A decision in its two parts. Codes, rules, verdicts and labels stay readable for as long as the log exists; facts and
 * ways may quote arguments, so they are payload.
 */
import type { Decision } from "../../core/decision.ts";
import type { CallOption } from "../../core/moment.ts";
import type { Obligation, Reason } from "../../core/opinion.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { CleanText, Pen } from "./clean-text.ts";
import { rangeText } from "./event-codec.ts";
import { hiddenOption, optionText } from "./option-codec.ts";
import type { EntryHead } from "./record.ts";

function reasonInClear(reason: Reason): JsonObject {
  const { facts: _facts, way: _way, ...rest } = reason;
  return rest;
}

function obligationText(obligation: Obligation, text: CleanText): string {
  switch (obligation.kind) {
    case "label":
      return `{"kind":"label","range":${rangeText(obligation.range)}}`;
    case "redact":
      return `{"kind":"redact"}`;
    case "isolate":
      return text.json({ kind: obligation.kind, scope: obligation.scope });
    case "perform":
      return text.json({
        kind: obligation.kind,
        rule: obligation.rule,
        server: obligation.server,
        tool: obligation.tool,
      });
    case "revoke":
      return text.json({
        kind: obligation.kind,
        rule: obligation.rule,
        server: obligation.server,
        end: obligation.end,
      });
    case "hold":
    case "end-run":
    case "notify":
      return text.json({ kind: obligation.kind, rule: obligation.rule });
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

/** The option of a decision where it has to be written: that of an `allowed` event of its entry is not written twice. */
function ownOption({ option }: Decision, allowed: CallOption | undefined): CallOption | undefined {
  return option === allowed ? undefined : option;
}

/** The clear part of a decision. It is written only where it says something: most say no more than `allow`. */
export function decisionText(decision: Decision, allowed: CallOption | undefined, pen: Pen, entry: EntryHead): string {
  const { verdict, unobserved, reasons, obligations } = decision;
  const truth = unobserved === verdict ? "" : `,"unobserved":"${unobserved}"`;
  const why = reasons.length === 0 ? "" : `,"reasons":${pen.json(reasons.map(reasonInClear))}`;
  const duties = obligations.map((obligation) => obligationText(obligation, pen)).join(",");
  const option = ownOption(decision, allowed);
  const judged = option === undefined ? "" : `,"option":${optionText(option, pen, entry)}`;
  return `{"verdict":"${verdict}"${truth}${why}${duties === "" ? "" : `,"obligations":[${duties}]`}${judged}}`;
}

/** The payload of a decision; undefined if there is nothing to hide. */
export function hiddenDecision(
  decision: Decision,
  allowed: CallOption | undefined,
  text: CleanText,
): string | undefined {
  const { reasons, obligations } = decision;
  const members: string[] = [];
  if (reasons.length > 0) {
    const facts = reasons.map((reason) => ({ facts: { ...reason.facts }, way: reason.way ?? null }));
    members.push(`"reasons":${text.json(facts)}`);
  }
  const hidden = obligations.map(obligationInPayload);
  if (hidden.some((one) => one !== null)) members.push(`"obligations":${text.json(hidden)}`);
  const option = ownOption(decision, allowed);
  if (option !== undefined) members.push(`"option":{${hiddenOption(option, text).slice(1)}}`);
  return members.length === 0 ? undefined : `{${members.join(",")}}`;
}
