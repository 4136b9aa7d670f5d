/**
 * Judges the effects of a call where no result of it is released: no client waits for it, or its answer never came, or
 * it asks before it answers. A server with a forbidden effect that then falls silent, or ends, is treated like one that
 * answers.
 */
import type { Decision } from "../../core/decision.ts";
import { isolationClause } from "../../core/explain/cause.ts";
import type { Json } from "../../core/json.ts";
import type { ReleaseMoment } from "../../core/moment.ts";
import type { Answers } from "../../core/opinion.ts";
import { decidingCodes } from "../../core/explain/render.ts";
import { type Call, isObserved, notesOf } from "./call.ts";
import { appendBatch, EventBatch } from "../runs/event-batch.ts";
import { decide } from "./ask-loop.ts";
import { howOf, judgeRelease, type Ruling, type ReleaseNeeds } from "./release.ts";
import {
  closeTraceWindow,
  concludeWrites,
  evidenceOf,
  revokeTrust,
  type EffectNeeds,
  type EffectVerdict,
} from "./effect-window.ts";

type Needs = ReleaseNeeds & EffectNeeds;

type Outcome = { readonly outcome: ReleaseMoment["outcome"]; readonly value: Json };

/** The verdict on what a call did; undefined where it ran in no projection. */
export async function checkEffects(needs: Needs, call: Call, outcome: Outcome): Promise<EffectVerdict | undefined> {
  const evidence = evidenceOf(needs, call);
  if (evidence === undefined) return undefined;
  const known = await evidence;
  const { clock, oracle } = needs.services;
  const { id, contract, option } = call;
  const at = clock.monotonicMs();
  const moment: ReleaseMoment = { kind: "release", at, call: id, contract, option, ...outcome };
  const decision = await decide(call.live, { oracle, known }, moment, (decided) => decided);
  return { decision, how: howOf(decision, isObserved(call.live, contract.server)) };
}

/** A call that goes on, also as a task of its server. */
export type GoingOn = Pick<Call, "live" | "id" | "contract" | "option" | "scope">;

/** A call goes on, and what its server says meanwhile is judged by what it did so far, as its result will be. */
export async function checkInterimEffects(
  needs: Needs,
  call: GoingOn,
  value: Json,
): Promise<{ readonly known: Answers | undefined; readonly ruling: Ruling }> {
  const { live, id, contract, option } = call;
  const known = await evidenceOf(needs, call);
  const query = {
    live,
    id,
    call: undefined,
    during: id,
    contract,
    option,
    outcome: "succeeded",
    value,
    known,
  } as const;
  const ruling = await judgeRelease(needs, query);
  revokeTrust(needs, call, ruling);
  return { known, ruling };
}

/** Ends a call whose outcome no client will learn: its effects are judged, and its writes wait for an approver. */
export function keepWrites(needs: Needs, call: Call): void {
  closeTraceWindow(needs, call);
  const judged = checkEffects(needs, call, { outcome: "failed", value: null });
  // Evidence that cannot be judged leaves the writes to an approver all the same.
  void judged.then(
    (deeds) => {
      if (deeds !== undefined) recordDeeds(needs, call, deeds);
      return concludeWrites(needs, call, "withhold");
    },
    () => concludeWrites(needs, call, "withhold"),
  );
}

function recordDeeds(needs: Needs, call: Call, deeds: EffectVerdict): void {
  if (deeds.how !== "reject" || !speaksOfDeeds(deeds.decision)) return;
  const batch = new EventBatch();
  const { server, tool, output } = call.contract;
  const at = needs.services.clock.monotonicMs();
  const codes = decidingCodes(deeds.decision);
  const release = { call: call.id, server, tool, how: "reject", label: output.label, fields: [], codes } as const;
  needs.runs.fold(call.live, { kind: "released", at, ...release }, batch);
  void appendBatch(needs.services.log, batch, { notes: notesOf(call.id, deeds.decision, false) });
  revokeTrust(needs, call, deeds);
}

/** Whether a deny is about the isolation of the call; reasons about the absent result do not count. */
function speaksOfDeeds({ reasons }: Decision): boolean {
  return reasons.some(
    (reason) =>
      reason.verdict === "deny" && reason.observed !== true && isolationClause(reason, reason.mechanism) !== undefined,
  );
}
