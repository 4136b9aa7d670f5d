/**
 * Guards between a decision about a call and its record. Each takes a decision and gives a decision that is equal or
 * stricter; `commitCall` runs them in one turn and in its own order.
 */
import { type ToolContract, harmsTwice } from "../../core/contract.ts";
import type { Decision } from "../../core/decision.ts";
import type { Grant, RunEvent } from "../../core/event.ts";
import type { Reason } from "../../core/opinion.ts";
import { riskParts } from "../../core/explain/regulation-cause.ts";
import { risksIn } from "../../core/explain/render.ts";
import { type Result, ok } from "../../core/result.ts";
import type { Services } from "../ports/services.ts";
import type { EventBatch } from "../runs/event-batch.ts";
import type { InDoubt } from "../runs/in-doubt.ts";
import { plainKey } from "../runs/cross-run-check.ts";
import type { LiveRun } from "../runs/live-run.ts";
import { wouldMove } from "../runs/refold.ts";
import type { RunRegistry } from "../runs/run-registry.ts";
import type { GuardRow } from "./attendance.ts";
import { type Call, type DoubtSettled, isObserved } from "./call.ts";
import { protectSelf } from "./self-protection.ts";
import type { WithheldResults } from "./withheld-results.ts";
import { withRunEnd } from "./obligations.ts";

export type GuardNeeds = {
  readonly runs: RunRegistry;
  readonly services: Services;
  readonly inDoubt: InDoubt;
  readonly withheld: WithheldResults;
};

/** A call as it was judged, and the event that would put it on record; undefined for what was never labelled. */
export type Planned = { readonly call: Call; readonly decision: Decision; readonly event: RunEvent | undefined };

/** The guards that change a decision, in the order of `commitCall`: 2 to 5. */
export function guarded(needs: GuardNeeds, row: GuardRow, { call, decision: judged, event }: Planned): Decision {
  let decision = judged;
  if (row.selfProtection.way === "on") decision = protectSelf(needs, call, decision);
  if (row.inDoubt.way === "on") decision = askInDoubt(needs, call, decision);
  if (row.otherRuns.way === "on") decision = checkOtherRuns(needs, call, { decision, event });
  if (row.runEnd.way === "on") decision = withRunEnd(decision, isObserved(call.live, call.contract.server));
  return namingUnread(call.live, decision);
}

/** Reasons that data or history of the run decides; the others would be the same in a clean one. */
const aboutTheRun: ReadonlySet<string> = new Set([
  "SG-RULE-BLOCK",
  "SG-RULE-UNSURE",
  "SG-RULE-CONFIRM",
  "SG-HAZARD",
  "SG-HAZARD-ASK",
  "SG-ASK-BOUND",
  "SG-ASK-UNTRUSTED",
  "SG-ASK-UNTRACED",
  "SG-UNSAFE-STATE",
  "SG-LOOMING",
  "SG-OTHER-RUN",
  "SG-OWED",
  "SG-MUST-FIRST",
  "SG-MUST-NOT-FOLLOW",
  "SG-LIMIT",
  "SG-BUDGET",
]);

/** A run that holds everything for another one says which, or a user looks for the cause in the call. */
function namingUnread({ unread }: LiveRun, decision: Decision): Decision {
  const [key] = unread;
  if (key === undefined || decision.verdict === "allow") return decision;
  const named = plainKey.test(key) ? key : "unnamed";
  const reasons = decision.reasons.map((reason) =>
    aboutTheRun.has(reason.code) ? { ...reason, facts: { ...reason.facts, unread: named } } : reason,
  );
  return { ...decision, reasons };
}

/** The same call has happened, or may have: it needs consent. Where consent is required, this reason is added. */
function askInDoubt(needs: GuardNeeds, call: Call, decision: Decision): Decision {
  if (decision.verdict === "deny" || call.consent !== undefined) return decision;
  const [doubt] = doubtsAbout(needs, call);
  if (doubt === undefined) return decision;
  const { code, wallMs } = doubt;
  const reason = gatewayReason(code, wallMs === undefined ? {} : { at: new Date(wallMs).toISOString() });
  const enforcedVerdict = decision.enforcedVerdict === "deny" ? "deny" : "confirm";
  return { ...decision, verdict: "confirm", enforcedVerdict, reasons: [reason, ...decision.reasons] };
}

type Doubt = { readonly code: "SG-MAYBE-DONE" | "SG-RESULT-LOST"; readonly wallMs: number | undefined };

/**
 * It may have happened before a crash or a lost connection (gateway.md 9), or it has and its result is lost; without the
 * doubts that an approver settled for this one call before it was held.
 */
function doubtsAbout({ inDoubt, withheld }: GuardNeeds, call: Call): readonly Doubt[] {
  const { live, digest, contract, settled } = call;
  const doubts: Doubt[] = [];
  const lost = withheld.lost(live.key, digest);
  if (lost !== undefined) doubts.push({ code: "SG-RESULT-LOST", wallMs: lost.wallMs });
  const maybeMs = harmsTwice(contract) ? inDoubt.since(live.key, digest) : undefined;
  if (maybeMs !== undefined) doubts.push({ code: "SG-MAYBE-DONE", wallMs: maybeMs });
  return doubts.filter(({ wallMs = 0 }) => settled === undefined || wallMs > settled.wallMs);
}

/** The doubt that a consent settles for a call that is held, and for no other: the next call of its digest still asks. */
export function settledAtHold(needs: GuardNeeds, call: Call, consent: Accepted | undefined): DoubtSettled | undefined {
  const doubts = doubtsAbout(needs, call);
  if (consent === undefined || doubts.length === 0) return call.settled;
  return { approval: consent.approval, wallMs: Math.max(...doubts.map(({ wallMs = 0 }) => wallMs)) };
}

/** The approval that settled the doubt about a call before it was held; undefined where a newer doubt is open. */
export function settledBy(needs: GuardNeeds, call: Call): string | undefined {
  return call.settled === undefined || doubtsAbout(needs, call).length > 0 ? undefined : call.settled.approval;
}

/** Settles the doubt: an approver wants the call once more, whatever the outcome of the one before. */
export function settleDoubt({ inDoubt, withheld }: GuardNeeds, { live, digest }: Pick<Call, "live" | "digest">): void {
  inDoubt.settle(live.key, digest);
  withheld.settle(live.key, digest);
}

/**
 * Resolves when the facts of other runs that the test of a call needs are loaded; undefined where none are needed, so
 * that the common call does not wait.
 */
export function otherRunsReady(
  { runs }: Pick<GuardNeeds, "runs">,
  { principal, policy }: LiveRun,
  { writes, opens }: ToolContract,
): Promise<void> | undefined {
  return writes.length === 0 && opens.length === 0 ? undefined : runs.dormant.prepare(principal, policy, true);
}

/** The decision with what the call would mean for the other live runs of its owner (formal.md 4.5). */
function checkOtherRuns({ runs }: GuardNeeds, { live }: Call, { decision, event }: Omit<Planned, "call">): Decision {
  const { option } = decision;
  // A call that leaves the state as it is changes nothing for other runs: most calls end here.
  if (option === undefined || live.policy.mayRecordLate(option.contract)) return decision;
  return runs.others.tested(live, event, decision);
}

/** A consent covers the risks that its card named, and no other: risks that came up since are asked about anew. */
export function covers(consent: { readonly risks: readonly string[] } | undefined, decision: Decision): boolean {
  return consent !== undefined && risksIn(decision).every((risk) => consent.risks.includes(risk));
}

export type Accepted = { readonly approval: string; readonly by: string };

/** A decision with the consent that covers it, and the event that puts its call on record. */
type Granting = {
  readonly live: LiveRun;
  readonly decision: Decision;
  readonly consent: Accepted;
  readonly event: RunEvent;
};

/**
 * Folds the risks that the consent to a decision accepts, each in the run that it was named for, and no other. They
 * come before the call in the same batch, so no log has the one without the other. Where the call would not be a move,
 * none is folded, since each of them holds until its run ends.
 */
export function foldRisks(
  { runs, services }: Pick<GuardNeeds, "runs" | "services">,
  { live: own, decision, consent, event }: Granting,
  batch: EventBatch,
): Result<void, string> {
  const at = services.clock.monotonicMs();
  const grants = risksIn(decision).flatMap((risk) => {
    const { run } = riskParts(risk);
    const live = run === undefined ? own : runs.find(run);
    const granted: RunEvent = { kind: "granted", at, grant: acceptedRisk(risk, consent) };
    // A run that is not in memory gets no grant now; its risk is asked about when it is resumed.
    return live === undefined ? [] : [{ live, granted }];
  });
  if (grants.length === 0) return ok(undefined);
  const before = grants.flatMap(({ live, granted }) => (live === own ? [granted] : []));
  const moves = wouldMove(own, [...before, event]);
  if (moves.ok) for (const { live, granted } of grants) runs.fold(live, granted, batch);
  return moves;
}

/** The grant of a risk: until the run ends, since what it lets happen does not end earlier either. */
export function acceptedRisk(risk: string, { approval, by }: Accepted): Grant {
  const { hazard, move } = riskParts(risk);
  return {
    kind: "accept",
    hazard,
    move,
    purpose: `approval ${approval}`,
    principal: by,
    expiresAt: Number.MAX_SAFE_INTEGER,
  };
}

/** A reason that the gateway itself has for asking. */
function gatewayReason(code: string, facts: Reason["facts"]): Reason {
  return { mechanism: "gateway", code, verdict: "confirm", facts };
}
