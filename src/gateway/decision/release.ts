/**
 * A message of a server on its way to the agent: judged, recorded with its label, and only then passed on. The event
 * that records it is appended in the turn of the decision; `durable` says when it may be delivered.
 */
import type { ToolContract } from "../../core/contract.ts";
import type { Decision } from "../../core/decision.ts";
import type { Json } from "../../core/json.ts";
import { decidingCodes } from "../../core/explain/render.ts";
import type { CallOption, ReleaseMoment } from "../../core/moment.ts";
import type { Answers } from "../../core/opinion.ts";
import { isObserved, notesOf } from "./call.ts";
import type { WrittenJson } from "../../wire/message.ts";
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import { denial, decide, type MaybePromise } from "./ask-loop.ts";
import { type ReleaseLabel, redacted, releaseLabel, scopeOf } from "./release-label.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { RunRegistry } from "../runs/run-registry.ts";
import type { Services } from "../ports/services.ts";
import { endedRun, withRunEnd } from "./obligations.ts";

export type ReleaseNeeds = {
  readonly runs: RunRegistry;
  readonly services: Services;
};

export type ReleaseQuery = {
  readonly live: LiveRun;
  /** Id of the decision; for a result the id of its call. */
  readonly id: string;
  /** The call that ends with this release; undefined for text beside an answer. */
  readonly call: string | undefined;
  /** The call that is still under way while its server says this: its effects so far are judged, and it is not over. */
  readonly during?: string;
  /** The call that it belongs to, for the record: a replay labels it as that call's. */
  readonly beside?: string | undefined;
  readonly contract: ToolContract;
  readonly option: CallOption | undefined;
  readonly outcome: "succeeded" | "failed";
  readonly value: Json;
  readonly written?: WrittenJson | undefined;
  /** Answers known beforehand: the effects of the call in its projection. */
  readonly known?: Answers | undefined;
  /** `outputSchema` of the tool, for blanks that satisfy it. */
  readonly schema?: Json | undefined;
};

export type Ruling = {
  readonly how: "pass" | "withhold" | "reject";
  /** The value that passes; the very value that was judged unless something was redacted. */
  readonly value: Json;
  readonly label: ReleaseLabel;
  readonly decision: Decision;
  /** False when the log could not be written: then nothing may be passed on. */
  readonly durable: Promise<boolean>;
};

/** Judges a release. `before` holds events folded in this turn that must be in the log ahead of it. */
export function judgeRelease(needs: ReleaseNeeds, query: ReleaseQuery, before?: EventBatch): MaybePromise<Ruling> {
  const { live, call, during, contract, option, outcome, value } = query;
  const at = needs.services.clock.monotonicMs();
  const under = during === undefined ? {} : { during };
  const moment: ReleaseMoment = { kind: "release", at, call, ...under, contract, option, outcome, value };
  let batch = before ?? new EventBatch();
  const bench = { oracle: needs.services.oracle, known: query.known };
  const ruling = decide(live, bench, moment, (decision, answers) =>
    rule({ needs, query, batch, at }, decision, answers),
  );
  if (ruling instanceof Promise && batch.parts.length > 0) {
    // An oracle is asked. Events that are folded already go into the log now, or their order would change.
    void appendBatch(needs.services.log, batch);
    batch = new EventBatch();
  }
  return ruling;
}

type Ground = {
  readonly needs: ReleaseNeeds;
  readonly query: ReleaseQuery;
  readonly batch: EventBatch;
  readonly at: number;
};

function rule({ needs, query, batch, at }: Ground, judged: Decision, answers: Answers): Ruling {
  const { live, contract, option } = query;
  const observed = isObserved(live, contract.server);
  let decision = withRunEnd(judged, observed);
  let how = howOf(decision, observed);
  let value = query.value;
  if (how === "pass" && !observed && judged.obligations.length > 0) {
    const met = discharged(needs, query, judged);
    if (met === undefined) {
      how = "reject";
      decision = denial("SG-OBLIGATION");
    } else value = met;
  }
  const label = releaseLabel(judged.obligations, contract, option);
  const folded = needs.runs.fold(
    live,
    {
      kind: "released",
      at,
      call: query.call,
      server: contract.server,
      tool: contract.tool,
      how,
      label: label.range,
      fields: label.fields,
      ...scopeOf(label),
      ...(how === "pass" ? { value } : codesOf(decision)),
    },
    batch,
  );
  if (!folded.ok) {
    how = "reject";
    decision = denial("SG-NO-MOVE", { detail: folded.error });
  }
  const { beside } = query;
  const notes = { ...notesOf(query.id, decision, observed), ...(beside === undefined ? {} : { beside }) };
  const basis = { decision, answers, notes, written: query.written };
  const durable = needs.runs.record(batch, basis, endedRun(live, judged, observed));
  return { how, value, label, decision, durable };
}

/** The ruling of a decision: allow passes, confirm withholds, deny rejects; in observe mode everything passes. */
export function howOf({ verdict }: Pick<Decision, "verdict">, observed: boolean): Ruling["how"] {
  if (observed || verdict === "allow") return "pass";
  return verdict === "confirm" ? "withhold" : "reject";
}

function codesOf(decision: Decision): { readonly codes?: readonly string[] } {
  const codes = decidingCodes(decision);
  return codes.length === 0 ? {} : { codes };
}

/** Meets the obligations of a passing release; undefined when one cannot be met. */
function discharged(needs: ReleaseNeeds, query: ReleaseQuery, decision: Decision): Json | undefined {
  for (const obligation of decision.obligations) {
    switch (obligation.kind) {
      case "label":
      case "redact":
        break;
      case "notify":
        needs.services.human.notify(obligation.text);
        break;
      case "isolate":
      case "perform":
      case "hold":
      case "end-run":
      case "revoke":
        return undefined;
    }
  }
  return redacted(query.value, decision.obligations, query.schema);
}
