/**
 * The only place where a call becomes dispatched. A request of a client comes here as
 * `session/client-session > session/message-router > calls/client-calls > commitCall`, and leaves as
 * `calls/client-calls > upstream/upstream-link`; unattended calls, hooks and data of the client come from their own
 * files of `calls`. A table (`attendance.ts`) says which guards apply to which call.
 */
import type { Decision } from "../../core/decision.ts";
import type { RunEvent } from "../../core/event.ts";
import { decidingCodes, risksIn, warningsIn } from "../../core/explain/render.ts";
import type { JsonObject } from "../../core/json.ts";
import type { CallOption } from "../../core/moment.ts";
import type { Answers, Obligation } from "../../core/opinion.ts";
import { filtersAmong, forecastAmong } from "../../core/questions/prediction.ts";
import { type Result, ok } from "../../core/result.ts";
import { outboxMoment } from "../log/waiting.ts";
import type { PerformOrder } from "../ports/conversation.ts";
import { lateRecordMsMax } from "../ports/limits.ts";
import type { Services } from "../ports/services.ts";
import { appendBatch, EventBatch, deferRecord, flushDeferred, type Basis } from "../runs/event-batch.ts";
import type { LiveRun } from "../runs/live-run.ts";
import { foldForeseen } from "../runs/foreseen-lists.ts";
import { denial, decide, type MaybePromise } from "./ask-loop.ts";
import { attendances, type Attendance } from "./attendance.ts";
import { type Call, type Consent, callMoment, isObserved, notesOf } from "./call.ts";
import {
  type Accepted,
  type GuardNeeds,
  covers,
  foldRisks,
  guarded,
  otherRunsReady,
  settledAtHold,
  settledBy,
  settleDoubt,
} from "./guards.ts";
import { endedRun, ordersOf, scopeOf, unmetObligation } from "./obligations.ts";
import { notice } from "./notice.ts";

export type CommitNeeds = GuardNeeds;

/** The outcome of `commitCall`, in the turn in which the call was decided. */
export type Committed =
  | Recorded
  /** An approver has to consent; the call is not on record yet. */
  | { readonly kind: "confirm"; readonly decision: Decision; readonly answers: Answers }
  /** Other calls must be made first; then it is decided again. */
  | { readonly kind: "perform"; readonly orders: readonly (PerformOrder & { readonly rule: string })[] }
  /** It must wait in the outbox. */
  | { readonly kind: "held"; readonly decision: Decision; readonly hold: Hold }
  /** Its client gave it up before it was decided. */
  | { readonly kind: "dropped" };

export type Hold = Extract<Obligation, { kind: "hold" }>;

/** A call that is on record with its decision. */
export type Recorded =
  | { readonly kind: "dispatched"; readonly decision: Decision; readonly durable: Promise<boolean> }
  | Refused;

export type Refused = { readonly kind: "refused"; readonly decision: Decision; readonly durable: Promise<boolean> };

/**
 * Decides a call and puts the decision on record, in one turn: between the engine's last word and the record nothing
 * waits, so no event of any run comes in between. Enforces, in this order:
 *
 * 1. the engine's decision, with the answers that it asks for;
 * 2. self-protection: a call that touches the gateway's own files asks;
 * 3. in-doubt repeats: a call that may have happened, or whose result is lost, asks;
 * 4. other runs of the owner: each must be fine with what the call changes for it;
 * 5. run end: a decision that ends the run refuses, and ends it;
 * 6. consent: a confirm needs one that names each of its risks;
 * 7. obligations: one that cannot be met refuses, before any question of 6; `hold` keeps the call back, `perform` wants
 *    other calls first;
 * 8. the record: refused, or dispatched with the risks that the consent accepts.
 *
 * In observe mode nothing in 1 to 7 stops a call that the model can classify: the decision is recorded, and the call
 * goes out.
 */
export function commitCall(needs: CommitNeeds, call: Call, attendance: Attendance): MaybePromise<Committed> {
  const ready = otherRunsReady(needs, call.live, call.contract);
  return ready === undefined ? decided(needs, call, attendance) : ready.then(() => decided(needs, call, attendance));
}

function decided(needs: CommitNeeds, call: Call, attendance: Attendance): MaybePromise<Committed> {
  const moment = callMoment(call, needs.services.clock.monotonicMs());
  return decide(call.live, needs.services, moment, (decision, answers) =>
    enforced(needs, call, { attendance, decision, answers }),
  );
}

type Judgement = { readonly attendance: Attendance; readonly decision: Decision; readonly answers: Answers };

function enforced(needs: CommitNeeds, call: Call, { attendance, decision: judged, answers }: Judgement): Committed {
  if (call.cancelled) return { kind: "dropped" };
  const { option } = judged;
  const event = option === undefined ? undefined : dispatchOf(call, option, needs.services.clock.monotonicMs());
  const row = attendances[attendance];
  const decision = guarded(needs, row, { call, decision: judged, event });
  const consent = covers(call.consent, decision) ? call.consent : undefined;
  const ground = { attendance, decision, answers, consent, event };
  if (isObserved(call.live, call.contract.server)) return dispatched(needs, call, ground);
  if (decision.verdict === "deny") return recordRefusal(needs, call, { decision, answers });
  const unmet = unmetObligation(decision.obligations, call.isolated, row);
  if (unmet !== undefined)
    return recordRefusal(needs, call, { decision: denial("SG-OBLIGATION", { kind: unmet }), answers });
  if (decision.verdict === "confirm" && consent === undefined) {
    if (row.consent.way === "refuse") return recordRefusal(needs, call, { decision, answers });
    call.option = option;
    return { kind: "confirm", decision, answers };
  }
  // A held call is not sent now, so no other call is injected for it yet.
  const hold = decision.obligations.find((obligation) => obligation.kind === "hold");
  if (hold !== undefined) {
    call.settled = settledAtHold(needs, call, consent);
    return { kind: "held", decision, hold };
  }
  const orders = row.perform.way === "first" ? ordersOf(decision.obligations, call.performed) : [];
  if (orders.length > 0) return { kind: "perform", orders };
  for (const obligation of decision.obligations) {
    if (obligation.kind === "notify") needs.services.human.notify(obligation.text);
  }
  return dispatched(needs, call, ground);
}

type Ground = {
  readonly attendance: Attendance;
  readonly decision: Decision;
  readonly answers: Answers;
  readonly consent: Consent | undefined;
  readonly event: Dispatch | undefined;
};

/** Folds the dispatch and appends it; a call that is not a move of the model is refused instead (R3). */
function dispatched(needs: CommitNeeds, call: Call, ground: Ground): Recorded {
  const { attendance, decision, answers, consent, event } = ground;
  const { live, contract, id } = call;
  if (event === undefined) return recordRefusal(needs, call, { decision: denial("SG-INTERNAL"), answers });
  const batch = new EventBatch();
  foldForeseen(needs, live, { answers, at: event.at }, batch);
  const moved = foldDispatch(needs, call, { decision, consent, event: withForecast(event, live, answers) }, batch);
  if (!moved.ok) {
    return recordRefusal(needs, call, { decision: denial("SG-NO-MOVE", { detail: moved.error }), answers }, batch);
  }
  const { mayBeLate, hasOutcome } = attendances[attendance];
  if (!hasOutcome) {
    needs.runs.fold(live, { kind: "unknown", at: event.at, call: id, cause: "an answer has no outcome" }, batch);
  }
  call.option = event.option;
  call.scope = scopeOf(decision.obligations);
  call.warnings = warningsIn(decision);
  const { services } = needs;
  for (const text of call.warnings) services.human.notify(notice(`${contract.server}.${contract.tool}: ${text}.`));
  const notes = { ...notesOf(id, decision, isObserved(live, contract.server)), ...fromOutbox(call) };
  const basis = { decision, answers, notes, manifestDigest: call.manifestDigest };
  if (mayBeLate && isPlainRead(services, call, ground, batch)) {
    keepForLater(services, live, batch, basis);
    return { kind: "dispatched", decision, durable: sentFirst };
  }
  return { kind: "dispatched", decision, durable: appendBatch(services.log, batch, basis) };
}

type Dispatch = Extract<RunEvent, { kind: "dispatched" }>;

/** The event that puts a call on record as dispatched. */
function dispatchOf({ id, method, digest, arguments: given }: Call, option: CallOption, at: number): Dispatch {
  return { kind: "dispatched", at, call: id, method, option, arguments: given, digest };
}

/** The event with what models predicted about its call. */
function withForecast(event: Dispatch, { policy }: LiveRun, answers: Answers): Dispatch {
  if (answers.size === 0) return event;
  const forecast = forecastAmong(answers);
  const { call } = filtersAmong(answers);
  const filter = call === undefined ? {} : { filter: { ...call, policy: policy.digest } };
  return { ...event, ...(forecast === undefined ? {} : { forecast }), ...filter };
}

type Folding = {
  readonly decision: Decision;
  readonly consent: Accepted | undefined;
  readonly event: Dispatch;
};

/** Folds a dispatch into its run, behind the risks that its consent accepts. */
function foldDispatch(
  needs: CommitNeeds,
  call: Call,
  { decision, consent, event }: Folding,
  batch: EventBatch,
): Result<void, string> {
  const { live } = call;
  // The decision belongs to the first run of a batch, and a risk may be of another one.
  if (batch.parts.length === 0) batch.parts.push({ live, events: [] });
  const approval = consent?.approval ?? settledBy(needs, call);
  const folded = approval === undefined ? event : { ...event, consent: approval };
  const granted =
    consent === undefined ? ok(undefined) : foldRisks(needs, { live, decision, consent, event: folded }, batch);
  const moved = granted.ok ? needs.runs.fold(live, folded, batch) : granted;
  if (!moved.ok) return moved;
  if (approval !== undefined) settleDoubt(needs, call);
  return moved;
}

/** A decision that the user of a client consented to there, and the answers that it was decided with. */
export type Executed = Pick<Ground, "decision" | "answers"> & { readonly approval: string; readonly by: string };

/**
 * Puts a call on record that its client executed after its user consented there: `commitCall` decided it before, and
 * asked the client. Nothing is decided again, since the call has happened; a run that cannot take it records that.
 */
export function recordExecuted(needs: CommitNeeds, call: Call, executed: Executed): Recorded {
  const { decision, answers, approval, by } = executed;
  const { option } = call;
  const event = option === undefined ? undefined : dispatchOf(call, option, needs.services.clock.monotonicMs());
  const consent = { kind: "granted", approval, by, risks: risksIn(decision) } as const;
  return dispatched(needs, call, { attendance: "hook", decision, answers, consent, event });
}

/** Durability of a read that is recorded late: sending need not wait for the log. */
const sentFirst = Promise.resolve(true);

/**
 * A plain read need not wait for the log (docs/decisions/0008): it is recorded together with what it brings, and before
 * that. Not after a question or consent, with an obligation, with an effect on another run, or while the log is
 * stopped.
 */
function isPlainRead(services: Services, { live, contract }: Call, ground: Ground, batch: EventBatch): boolean {
  const { decision, answers, consent } = ground;
  const free = decision.obligations.every(({ kind }) => kind === "isolate");
  const plain = decision.verdict === "allow" && decision.enforcedVerdict === "allow" && free;
  if (!plain || consent !== undefined || answers.size > 0) return false;
  const elsewhere = [...batch.queues].some((queue) => queue !== live.deferred);
  if (batch.parts.length !== 1 || batch.absent.length > 0 || elsewhere) return false;
  if (batch.shared !== undefined || batch.runs !== undefined) return false;
  return live.policy.mayRecordLate(contract) && services.log.health().kind === "ok";
}

function keepForLater(services: Services, live: LiveRun, batch: EventBatch, basis: Basis): void {
  // One clock for all that waits: it is set by the first, and what comes after it is recorded early.
  const { deferred } = live;
  if (!deferred.isTimed) {
    deferred.isTimed = true;
    services.clock.after(lateRecordMsMax, () => {
      deferred.isTimed = false;
      if (deferred.entries.length > 0) void flushDeferred(services.log, { deferred });
    });
  }
  deferRecord(batch, basis);
}

/**
 * Puts a refusal on record, after the events that are already in `begun`. The caller need not wait for it: a refusal
 * releases nothing, and its place in the log is taken.
 */
export function recordRefusal(
  needs: Pick<CommitNeeds, "runs" | "services">,
  call: Call,
  { decision, answers }: Pick<Ground, "decision" | "answers">,
  begun?: EventBatch,
): Refused {
  const { live, contract, id, digest } = call;
  const at = needs.services.clock.monotonicMs();
  const batch = begun ?? new EventBatch();
  if (begun === undefined) foldForeseen(needs, live, { answers, at }, batch);
  const { server, tool } = contract;
  const codes = decidingCodes(decision);
  needs.runs.fold(live, { kind: "refused", at, call: id, server, tool, digest, codes }, batch);
  const details = { method: call.method, arguments: call.arguments };
  const notes = { decision: id, ...fromOutbox(call) };
  const observed = isObserved(live, server);
  const durable = needs.runs.record(batch, { decision, answers, notes, details }, endedRun(live, decision, observed));
  return { kind: "refused", decision, durable };
}

/** Which call of the outbox this one is: in the record that lets it go, so that it can leave only once. */
function fromOutbox({ held }: Call): JsonObject {
  return held === undefined ? {} : { outbox: held.id };
}

/**
 * Appends that a call waits in the outbox: no event of the run yet, and whole, so that a restart holds it again. False
 * when that is not durable; then no client may be informed that it waits.
 */
export function recordHeld(
  { services }: Pick<CommitNeeds, "services">,
  call: Call,
  decision: Decision,
  { since }: Pick<Hold, "since">,
): Promise<boolean> {
  const batch = new EventBatch();
  batch.parts.push({ live: call.live, events: [] });
  const { server, tool, toolDigest } = call.contract;
  const listed = toolDigest === undefined ? {} : { toolDigest };
  const doubt = call.settled === undefined ? {} : { doubtSettled: call.settled };
  const what = { held: `${server}.${tool}`, since, server, tool, digest: call.digest, ...listed, ...doubt };
  const notes = { decision: call.id, moment: outboxMoment, ...what };
  const details = { method: call.method, arguments: call.arguments };
  const at = services.clock.monotonicMs();
  return appendBatch(services.log, batch, { decision, notes, details, at });
}
