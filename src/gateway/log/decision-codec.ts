/**
 * A decision in its two parts. Codes, rules, verdicts and labels stay readable for as long as the log exists; facts and
 * ways may quote arguments, so they are payload.
 */
import type { Decision } from "../../core/decision.ts";
import type { CallOption } from "../../core/moment.ts";
import type { Obligation, Reason } from "../../core/opinion.ts";
import { type Json, type JsonObject, isArray, isObject, member, stringMember } from "../../core/json.ts";
import type { Verdict } from "../../core/verdict.ts";
import type { EntryHead, Pen } from "./json-text.ts";
import { hiddenOption, joinOption, optionText, rangeText, type ReadContext } from "./option-codec.ts";
import type { ReadEntry } from "./record.ts";

function reasonInClear(reason: Reason): JsonObject {
  const { facts: _facts, way: _way, ...rest } = reason;
  return rest;
}

function obligationText(obligation: Obligation, pen: Pen): string {
  switch (obligation.kind) {
    case "label":
      return `{"kind":"label","range":${rangeText(obligation.range)}}`;
    case "redact":
      return `{"kind":"redact"}`;
    case "isolate":
      return pen.json({ kind: obligation.kind, scope: obligation.scope });
    case "perform": {
      const { arguments: _hidden, ...rest } = obligation;
      return pen.json(rest);
    }
    case "revoke": {
      const { kind, rule, server, end } = obligation;
      return pen.json({ kind, rule, server, end });
    }
    case "hold":
    case "end-run":
    case "notify":
      return pen.json({ kind: obligation.kind, rule: obligation.rule });
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

/** The option of a decision where it has to be written: that of a `dispatched` event of its entry is not repeated. */
function ownOption({ option }: Decision, dispatched: CallOption | undefined): CallOption | undefined {
  return option === dispatched ? undefined : option;
}

/** The clear part of a decision: the verdict alone where it says no more, as most do. */
export function decisionText(
  decision: Decision,
  dispatched: CallOption | undefined,
  pen: Pen,
  entry: EntryHead,
): string {
  const { verdict, enforcedVerdict, reasons, obligations } = decision;
  const own = ownOption(decision, dispatched);
  if (enforcedVerdict === verdict && reasons.length === 0 && obligations.length === 0 && own === undefined) {
    return `"${verdict}"`;
  }
  const truth = enforcedVerdict === verdict ? "" : `,"unobserved":"${enforcedVerdict}"`;
  const why = reasons.length === 0 ? "" : `,"reasons":${pen.json(reasons.map(reasonInClear))}`;
  const duties = obligations.map((obligation) => obligationText(obligation, pen)).join(",");
  const judged = own === undefined ? "" : `,"option":${optionText(own, pen, entry)}`;
  return `{"verdict":"${verdict}"${truth}${why}${duties === "" ? "" : `,"obligations":[${duties}]`}${judged}}`;
}

/** The payload of a decision; undefined if there is nothing to hide. */
export function hiddenDecision(decision: Decision, dispatched: CallOption | undefined, pen: Pen): string | undefined {
  const { reasons, obligations } = decision;
  const members: string[] = [];
  if (reasons.length > 0) {
    const facts = reasons.map((reason) => ({ facts: { ...reason.facts }, way: reason.way ?? null }));
    members.push(`"reasons":${pen.json(facts)}`);
  }
  const hidden = obligations.map(obligationInPayload);
  if (hidden.some((one) => one !== null)) members.push(`"obligations":${pen.json(hidden)}`);
  const option = ownOption(decision, dispatched);
  if (option !== undefined) members.push(`"option":{${hiddenOption(option, pen).slice(1)}}`);
  return members.length === 0 ? undefined : `{${members.join(",")}}`;
}

/** A decision as it stands in the log. */
export type RecordedDecision = {
  readonly verdict: Verdict;
  readonly enforcedVerdict: Verdict;
  readonly reasons: readonly Reason[];
  /** Kinds of its obligations. */
  readonly obligations: readonly string[];
  /** The option that was judged, where no event of the entry has it. */
  readonly option: CallOption | undefined;
};

function isVerdict(text: string | undefined): text is Verdict {
  return text === "allow" || text === "confirm" || text === "deny";
}

/** The decision of an entry, read back; `context` undefined leaves the option away. */
export function readDecision(
  { head, payload }: { readonly head: ReadEntry; readonly payload: Json | undefined },
  context: ReadContext | undefined,
): RecordedDecision | undefined {
  const clear = member(head.clear, "decision");
  const verdict = stringMember(clear, "verdict");
  if (!isVerdict(verdict)) return undefined;
  const enforcedVerdict = stringMember(clear, "unobserved") ?? verdict;
  const hidden = member(payload, "decision");
  const said = member(clear, "option");
  const subject = { server: head.server ?? "", tool: head.tool ?? "" };
  const option =
    isObject(said) && context !== undefined
      ? joinOption({ ...subject, ...(said as JsonObject) }, member(hidden, "option"), context) // narrowed
      : undefined;
  const obligations = member(clear, "obligations");
  return {
    verdict,
    enforcedVerdict: isVerdict(enforcedVerdict) ? enforcedVerdict : verdict,
    reasons: reasonsOf(member(clear, "reasons"), member(hidden, "reasons")),
    obligations: (isArray(obligations) ? obligations : []).flatMap((one) => stringMember(one, "kind") ?? []),
    option,
  };
}

/** Reasons with their facts; they serve only as text for readers of the log. */
function reasonsOf(clear: Json | undefined, hidden: Json | undefined): readonly Reason[] {
  if (!isArray(clear)) return [];
  return clear.flatMap((said, index): readonly Reason[] => {
    const mechanism = stringMember(said, "mechanism");
    const code = stringMember(said, "code");
    const verdict = stringMember(said, "verdict");
    if (mechanism === undefined || code === undefined || !isVerdict(verdict)) return [];
    const more = isArray(hidden) ? hidden[index] : undefined;
    const facts = member(more, "facts");
    const rule = stringMember(said, "rule");
    const why = stringMember(said, "why");
    const way = stringMember(more, "way");
    return [
      {
        mechanism,
        code,
        verdict,
        facts: isObject(facts) ? factsOf(facts as JsonObject) : {}, // narrowed
        ...(rule === undefined ? {} : { rule }),
        ...(why === undefined ? {} : { why }),
        ...(way === undefined ? {} : { way }),
        ...(member(said, "observed") === true ? { observed: true as const } : {}),
      },
    ];
  });
}

function factsOf(facts: JsonObject): Reason["facts"] {
  const kept: Record<string, string | number | readonly string[]> = {};
  for (const [name, fact] of Object.entries(facts)) {
    if (typeof fact === "string" || typeof fact === "number") kept[name] = fact;
    else if (isArray(fact)) kept[name] = fact.filter((one) => typeof one === "string");
  }
  return kept;
}
