/**
 * Something a server said, on its way to the agent: judged, recorded with its label, and only then passed on. The
 * event that records it is appended in the turn of the decision; `durable` says when it may be delivered.
 */
import type { ToolContract } from "../core/contract.ts";
import type { Decision } from "../core/decision.ts";
import type { Json } from "../core/json.ts";
import { decidingCodes } from "../core/render.ts";
import type { CallOption, ReleaseMoment } from "../core/moment.ts";
import type { Answers } from "../core/opinion.ts";
import { isObserved, notesOf } from "./call.ts";
import { endingDecision, endsRun } from "./commitment.ts";
import type { WrittenJson } from "../wire/message.ts";
import { appendBatch, Batch } from "./journal.ts";
import { denial, judge } from "./judge.ts";
import type { Judged } from "./judge.ts";
import type { ReleaseLabel } from "./labels.ts";
import { redacted, releaseLabel } from "./labels.ts";
import type { LiveRun } from "./live-run.ts";
import type { Shared } from "./scene.ts";

export type ReleaseQuery<Q> = {
  readonly live: LiveRun<Q>;
  /** Id of the decision; for a result the id of its call. */
  readonly id: string;
  /** The call that ends with this release; undefined for text beside an answer. */
  readonly call: string | undefined;
  /** The call that is still under way while its server says this: what it did so far is judged, and not yet over. */
  readonly during?: string;
  /** The call that it belongs to, for the record: a replay labels it as that call's. */
  readonly beside?: string | undefined;
  readonly contract: ToolContract;
  readonly option: CallOption | undefined;
  readonly outcome: "succeeded" | "failed";
  readonly value: Json;
  readonly written?: WrittenJson | undefined;
  /** What is known of it beforehand: what the call did in its projection. */
  readonly known?: Answers | undefined;
  /** `outputSchema` of the tool, for blanks that satisfy it. */
  readonly schema?: Json | undefined;
};

export type Ruling = {
  readonly how: "pass" | "withhold" | "reject";
  /** What is passed; the very value that was judged unless something was redacted. */
  readonly value: Json;
  readonly label: ReleaseLabel;
  readonly decision: Decision;
  /** False when the log could not be written: then nothing may be passed on. */
  readonly durable: Promise<boolean>;
};

/** Judges a release. `before` holds events folded in this turn that must be in the log ahead of it. */
export function judgeRelease<Q>(shared: Shared<Q>, query: ReleaseQuery<Q>, before?: Batch<Q>): Judged<Ruling> {
  const { live, call, during, contract, option, outcome, value } = query;
  const at = shared.services.clock.monotonicMs();
  const under = during === undefined ? {} : { during };
  const moment: ReleaseMoment = { kind: "release", at, call, ...under, contract, option, outcome, value };
  let batch = before ?? new Batch<Q>();
  const bench = { oracle: shared.services.oracle, known: query.known };
  const ruling = judge(live, bench, moment, (decision, answers) =>
    rule({ shared, query, batch, at }, decision, answers),
  );
  if (ruling instanceof Promise && batch.parts.length > 0) {
    // Somebody is asked. What has already been folded goes into the log now, or its order would be another.
    void appendBatch(shared.services.log, batch);
    batch = new Batch();
  }
  return ruling;
}

type Ground<Q> = {
  readonly shared: Shared<Q>;
  readonly query: ReleaseQuery<Q>;
  readonly batch: Batch<Q>;
  readonly at: number;
};

function rule<Q>({ shared, query, batch, at }: Ground<Q>, judged: Decision, answers: Answers): Ruling {
  const { live, contract, option } = query;
  const observed = isObserved(live, contract.server);
  const ends = !observed && endsRun(judged);
  let decision = ends ? endingDecision(judged) : judged;
  let how: Ruling["how"] = ends
    ? "reject"
    : observed || judged.verdict === "allow"
      ? "pass"
      : judged.verdict === "confirm"
        ? "withhold"
        : "reject";
  let value = query.value;
  if (how === "pass" && !observed && judged.obligations.length > 0) {
    const met = discharged(shared, query, judged);
    if (met === undefined) {
      how = "reject";
      decision = denial("SG-OBLIGATION");
    } else value = met;
  }
  const label = releaseLabel(judged.obligations, contract, option);
  const folded = shared.runs.fold(
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
  const durable = appendBatch(shared.services.log, batch, { decision, answers, notes, written: query.written });
  if (ends) shared.runs.stop(live);
  return { how, value, label, decision, durable };
}

function codesOf(decision: Decision): { readonly codes?: readonly string[] } {
  const codes = decidingCodes(decision);
  return codes.length === 0 ? {} : { codes };
}

/** Meets the obligations of a passing release; undefined when one cannot be met. */
function discharged<Q>(shared: Shared<Q>, query: ReleaseQuery<Q>, decision: Decision): Json | undefined {
  for (const obligation of decision.obligations) {
    switch (obligation.kind) {
      case "label":
      case "redact":
        break;
      case "notify":
        shared.services.human.notify(obligation.text);
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
