/** Putting a decision about a call on record: one record before anything is sent, or one refusal. */
import type { Decision } from "../core/decision.ts";
import { decidingCodes } from "../core/render.ts";
import type { Answers } from "../core/opinion.ts";
import type { Call } from "./call.ts";
import { isObserved, notesOf } from "./call.ts";
import type { Consent } from "./consent.ts";
import { appendBatch, Batch } from "./journal.ts";
import { denial } from "./judge.ts";
import type { Shared } from "./scene.ts";

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
  shared.runs.fold(live, { kind: "requested", at, call: id, server, tool, digest }, batch);
  const allowed = shared.runs.fold(
    live,
    { kind: "allowed", at, call: id, method, option, arguments: call.arguments, digest, ...approval },
    batch,
  );
  if (!allowed.ok) return recordRefusal(shared, call, denial("SG-NO-MOVE", { detail: allowed.error }), answers);
  shared.runs.fold(live, { kind: "sent", at, call: id }, batch);
  call.option = option;
  if (consent !== undefined) shared.uncertain.get(live.key)?.delete(digest);
  const notes = notesOf(id, decision, isObserved(live, server));
  return {
    kind: "allowed",
    durable: appendBatch(shared.services.log, batch, { decision, answers, notes, manifestDigest }),
  };
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
  void appendBatch(shared.services.log, batch, { decision, answers, notes: { decision: id }, details });
  return { kind: "refused", decision };
}

/** Appends that a call waits in the outbox: no event of the run yet, and what it was stays on record over a restart. */
export function recordHeld<Q>(shared: Shared<Q>, call: Call<Q>, decision: Decision): void {
  const batch = new Batch<Q>();
  batch.parts.push({ live: call.live, events: [] });
  const { server, tool } = call.contract;
  const notes = { decision: call.id, moment: "outbox", held: `${server}.${tool}` };
  const details = { method: call.method, arguments: call.arguments };
  void appendBatch(shared.services.log, batch, { decision, notes, details });
}
