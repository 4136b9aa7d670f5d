/** Putting a decision about a call on record: an entry before anything is sent, or one refusal. */
import type { Decision } from "../core/decision.ts";
import type { JsonObject } from "../core/json.ts";
import { decidingCodes, warningsIn } from "../core/render.ts";
import type { Answers } from "../core/opinion.ts";
import { forecastAmong } from "../core/prediction.ts";
import type { Call } from "./call.ts";
import { isObserved, notesOf } from "./call.ts";
import { endsRun, foldRisks } from "./commitment.ts";
import type { Consent } from "./consent.ts";
import { appendBatch, Batch, keepLate, recordLate } from "./journal.ts";
import type { Basis } from "./journal.ts";
import { lateRecordMsMax } from "./limits.ts";
import type { LiveRun } from "./live-run.ts";
import { outboxMoment } from "./log/waiting.ts";
import { denial } from "./judge.ts";
import type { Shared } from "./scene.ts";
import { scopeOf } from "./windows.ts";

export type Dispatched =
  | { readonly kind: "refused"; readonly decision: Decision }
  | { readonly kind: "allowed"; readonly durable: Promise<boolean> };

export type Ground = {
  readonly decision: Decision;
  readonly answers: Answers;
  readonly consent: Consent | undefined;
};

/** Folds and appends `requested`, `allowed`, `sent`; a call that is no move of the model is refused instead (R3). */
export function recordDispatch<Q>(shared: Shared<Q>, call: Call<Q>, ground: Ground): Dispatched {
  const { decision, answers, consent } = ground;
  const { live, contract, id, method, digest, manifestDigest } = call;
  const { option } = decision;
  if (option === undefined) return recordRefusal(shared, call, denial("SG-INTERNAL"), answers);
  const at = shared.services.clock.monotonicMs();
  const batch = new Batch<Q>();
  const { server, tool } = contract;
  const approval = consent === undefined ? {} : { consent: consent.approval };
  const forecast = answers.size === 0 ? undefined : forecastAmong(answers);
  const expected = forecast === undefined ? {} : { forecast };
  shared.runs.fold(live, { kind: "requested", at, call: id, server, tool, digest }, batch);
  if (consent !== undefined) foldRisks(shared, { use: call, decision, consent }, batch);
  const allowed = shared.runs.fold(
    live,
    { kind: "allowed", at, call: id, method, option, arguments: call.arguments, digest, ...approval, ...expected },
    batch,
  );
  if (!allowed.ok) return recordRefusal(shared, call, denial("SG-NO-MOVE", { detail: allowed.error }), answers);
  shared.runs.fold(live, { kind: "sent", at, call: id }, batch);
  call.option = option;
  call.scope = scopeOf(decision.obligations);
  call.warnings = warningsIn(decision);
  for (const text of call.warnings) shared.services.human.notify(`${server}.${tool}: ${text}.`.slice(0, 240));
  if (consent !== undefined) {
    shared.uncertain.get(live.key)?.delete(digest);
    shared.withheld.settle(live.key, digest);
  }
  const notes = { ...notesOf(id, decision, isObserved(live, server)), ...fromOutbox(call) };
  const basis = { decision, answers, notes, manifestDigest };
  if (mayBeLate(shared, call, ground, batch)) {
    keepForLater(shared, live, batch, basis);
    return { kind: "allowed", durable: sentFirst };
  }
  return { kind: "allowed", durable: appendBatch(shared.services.log, batch, basis) };
}

/** What is true at once: nobody waits for a record that may come later. */
const sentFirst = Promise.resolve(true);

/**
 * A plain read need not wait for the log (docs/decisions/0008): it is recorded together with what it brings, and before
 * that. Not where somebody was asked, something is owed or another run learns of it, and not when the log has stopped.
 */
function mayBeLate<Q>({ services }: Shared<Q>, call: Call<Q>, ground: Ground, batch: Batch<Q>): boolean {
  const { live, contract, held } = call;
  const { decision, answers, consent } = ground;
  // Sent before it is on record as sent, it would be held again after a crash.
  if (held !== undefined) return false;
  const free = decision.obligations.every(({ kind }) => kind === "isolate");
  const plain = decision.verdict === "allow" && decision.unobserved === "allow" && free;
  if (!plain || consent !== undefined || answers.size > 0) return false;
  if (batch.parts.length !== 1 || batch.absent.length > 0 || batch.shared !== undefined || batch.runs !== undefined)
    return false;
  return live.policy.mayRecordLate(contract) && services.log.health().kind === "ok";
}

function keepForLater<Q>({ services }: Shared<Q>, live: LiveRun<Q>, batch: Batch<Q>, basis: Basis): void {
  // One clock for all that waits: it is set by the first, and what comes after it is recorded early.
  if (live.late.length === 0 && !live.lateIsTimed) {
    live.lateIsTimed = true;
    services.clock.after(lateRecordMsMax, () => {
      live.lateIsTimed = false;
      if (live.late.length > 0) void recordLate(services.log, live);
    });
  }
  keepLate(batch, basis);
}

/** Folds and appends `requested`, `refused`. Not awaited: a refusal releases nothing, and its place is already taken. */
export function recordRefusal<Q>(shared: Shared<Q>, call: Call<Q>, decision: Decision, answers: Answers): Dispatched {
  const { live, contract, id, digest } = call;
  const at = shared.services.clock.monotonicMs();
  const batch = new Batch<Q>();
  const { server, tool } = contract;
  shared.runs.fold(live, { kind: "requested", at, call: id, server, tool, digest }, batch);
  shared.runs.fold(live, { kind: "refused", at, call: id, codes: decidingCodes(decision) }, batch);
  const details = { method: call.method, arguments: call.arguments };
  const notes = { decision: id, ...fromOutbox(call) };
  void appendBatch(shared.services.log, batch, { decision, answers, notes, details });
  if (endsRun(decision)) shared.runs.stop(live);
  return { kind: "refused", decision };
}

/** Which call of the outbox this one is: in the record that lets it go, so that it can leave only once. */
function fromOutbox({ held }: Call<unknown>): JsonObject {
  return held === undefined ? {} : { outbox: held };
}

/**
 * Appends that a call waits in the outbox: no event of the run yet, and whole, so that a restart holds it again. False
 * when that is not durable; then nobody may be told that it waits.
 */
export function recordHeld<Q>(shared: Shared<Q>, call: Call<Q>, decision: Decision): Promise<boolean> {
  const batch = new Batch<Q>();
  batch.parts.push({ live: call.live, events: [] });
  const { server, tool, toolDigest } = call.contract;
  const listed = toolDigest === undefined ? {} : { toolDigest };
  const what = { held: `${server}.${tool}`, server, tool, digest: call.digest, ...listed };
  const notes = { decision: call.id, moment: outboxMoment, ...what };
  const details = { method: call.method, arguments: call.arguments };
  const at = shared.services.clock.monotonicMs();
  return appendBatch(shared.services.log, batch, { decision, notes, details, at });
}
