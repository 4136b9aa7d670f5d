/**
 * What a call did, judged where no result of it is released: nobody waits for it, or its answer never came, or it asks
 * before it answers. A server that does what it may not and then falls silent, or ends, is held to account as one that
 * answers.
 */
import type { Decision } from "../core/decision.ts";
import { isolationClause } from "../core/isolation-cause.ts";
import type { Json } from "../core/json.ts";
import type { ReleaseMoment } from "../core/moment.ts";
import type { Answers } from "../core/opinion.ts";
import { decidingCodes } from "../core/render.ts";
import type { Call } from "./call.ts";
import { isObserved, notesOf } from "./call.ts";
import { appendBatch, Batch } from "./journal.ts";
import { judge } from "./judge.ts";
import { judgeRelease, type Ruling } from "./releases.ts";
import type { Scene } from "./scene.ts";
import { closeWindow, concludeWrites, evidenceOf, revokeTrust } from "./windows.ts";

export type Deeds = Pick<Ruling, "how" | "decision">;

type Outcome = { readonly outcome: ReleaseMoment["outcome"]; readonly value: Json };

/** The verdict on what a call did; undefined where it ran in no projection. */
export async function judgeDeeds<Q>(scene: Scene<Q>, call: Call<Q>, outcome: Outcome): Promise<Deeds | undefined> {
  const evidence = evidenceOf(scene, call);
  if (evidence === undefined) return undefined;
  const known = await evidence;
  const { clock, oracle } = scene.services;
  const { id, contract, option } = call;
  const at = clock.monotonicMs();
  const moment: ReleaseMoment = { kind: "release", at, call: id, contract, option, ...outcome };
  const decision = await judge(call.live, { oracle, known }, moment, (decided) => decided);
  const passes = isObserved(call.live, contract.server) || decision.verdict === "allow";
  return { decision, how: passes ? "pass" : decision.verdict === "confirm" ? "withhold" : "reject" };
}

/** A call that goes on, also as a task of its server. */
export type GoingOn<Q> = Pick<Call<Q>, "live" | "id" | "contract" | "option" | "scope">;

/** A call goes on, and what its server says meanwhile is judged by what it did so far, as its result will be. */
export async function judgeInterim<Q>(
  scene: Scene<Q>,
  call: GoingOn<Q>,
  value: Json,
): Promise<{ readonly known: Answers | undefined; readonly ruling: Ruling }> {
  const { live, id, contract, option } = call;
  const known = await evidenceOf(scene, call);
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
  const ruling = await judgeRelease(scene, query);
  revokeTrust(scene, call, ruling);
  return { known, ruling };
}

/** A call is over and nobody will learn its outcome: what it did is judged, and what it wrote waits for a person. */
export function keepWrites<Q>(scene: Scene<Q>, call: Call<Q>): void {
  closeWindow(scene, call);
  const judged = judgeDeeds(scene, call, { outcome: "failed", value: null });
  // Evidence that cannot be judged leaves the writes with a person all the same.
  void judged.then(
    (deeds) => {
      if (deeds !== undefined) recordDeeds(scene, call, deeds);
      return concludeWrites(scene, call, "withhold");
    },
    () => concludeWrites(scene, call, "withhold"),
  );
}

function recordDeeds<Q>(scene: Scene<Q>, call: Call<Q>, deeds: Deeds): void {
  if (deeds.how !== "reject" || !speaksOfDeeds(deeds.decision)) return;
  const batch = new Batch<Q>();
  const { server, tool, output } = call.contract;
  const at = scene.services.clock.monotonicMs();
  const codes = decidingCodes(deeds.decision);
  const release = { call: call.id, server, tool, how: "reject", label: output.label, fields: [], codes } as const;
  scene.runs.fold(call.live, { kind: "released", at, ...release }, batch);
  void appendBatch(scene.services.log, batch, { notes: notesOf(call.id, deeds.decision, false) });
  revokeTrust(scene, call, deeds);
}

/** What others say of a result that is not there counts for nothing. */
function speaksOfDeeds({ reasons }: Decision): boolean {
  return reasons.some(
    (reason) =>
      reason.verdict === "deny" && reason.observed !== true && isolationClause(reason, reason.mechanism) !== undefined,
  );
}
