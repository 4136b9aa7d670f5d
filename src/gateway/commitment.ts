/**
 * What stands between a decision about a call and its commit, in one turn: what the call does to other runs, which
 * risks a consent has to name, and whether the run must end.
 */
import type { ToolContract } from "../core/contract.ts";
import type { Decision } from "../core/decision.ts";
import type { Grant, RunEvent } from "../core/event.ts";
import type { JsonObject } from "../core/json.ts";
import type { CallOption } from "../core/moment.ts";
import type { Reason } from "../core/opinion.ts";
import { riskParts } from "../core/regulation-cause.ts";
import { risksIn } from "../core/render.ts";
import type { Batch } from "./journal.ts";
import type { LiveRun } from "./live-run.ts";
import type { Shared } from "./scene.ts";

/** What is about to be dispatched, however it came. */
export type Use<Q> = {
  readonly live: LiveRun<Q>;
  readonly id: string;
  readonly method: string;
  readonly arguments: JsonObject;
  readonly digest: string;
};

/** The event that would put a use on record; undefined for what was never labelled. */
export function dispatchOf<Q>(use: Use<Q>, option: CallOption | undefined, at: number): RunEvent | undefined {
  if (option === undefined) return undefined;
  const { id, method, digest } = use;
  return { kind: "allowed", at, call: id, method, option, arguments: use.arguments, digest };
}

/**
 * What has to be known of other runs before a call can be tested for them; undefined where nothing has, so that the
 * common call waits for nothing.
 */
export function othersReady<Q>(
  { runs }: Shared<Q>,
  { principal, policy }: LiveRun<Q>,
  { writes, opens }: ToolContract,
): Promise<void> | undefined {
  return writes.length === 0 && opens.length === 0 ? undefined : runs.dormant.prepare(principal, policy);
}

/** The decision with what the use would mean for the other live runs of its owner (formal.md 4.5). */
export function forAllRuns<Q>({ runs, services }: Shared<Q>, use: Use<Q>, decision: Decision): Decision {
  // What leaves no trace in the state changes nothing for anybody: most calls end here.
  if (decision.option === undefined || use.live.policy.mayRecordLate(decision.option.contract)) return decision;
  const event = dispatchOf(use, decision.option, services.clock.monotonicMs());
  return runs.others.tested(use.live, event, decision);
}

/** A consent covers the risks that its card named, and no other: what came up since is asked about anew. */
export function covers(consent: { readonly risks: readonly string[] } | undefined, decision: Decision): boolean {
  return consent !== undefined && risksIn(decision).every((risk) => consent.risks.includes(risk));
}

export type Accepted = { readonly approval: string; readonly by: string };

/**
 * Folds the risks that the consent to a decision accepts, each in the run that it was named for, and no other. They come
 * before the call in the same batch, so no log has the one without the other.
 */
export function foldRisks<Q>(
  { runs, services }: Shared<Q>,
  { use, decision, consent }: { readonly use: Use<Q>; readonly decision: Decision; readonly consent: Accepted },
  batch: Batch<Q>,
): void {
  const at = services.clock.monotonicMs();
  for (const risk of risksIn(decision)) {
    const { run } = riskParts(risk);
    const live = run === undefined ? use.live : runs.find(run);
    // A run that nobody has taken up speaks for itself when somebody does; then what looms there is asked about.
    if (live !== undefined) runs.fold(live, { kind: "granted", at, grant: acceptedRisk(risk, consent) }, batch);
  }
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

/** Whether the policy wants the run to end with this decision. */
export function endsRun(decision: Decision): boolean {
  return decision.obligations.some(({ kind }) => kind === "end-run");
}

/** The refusal with which a run ends: its cause, and how to start anew in place of any other way on. */
export function endingDecision(decision: Decision): Decision {
  const way = "the run has ended; start anew with `sluicegate runs new`";
  const ended: Reason = { mechanism: "gateway", code: "SG-RUN-ENDED", verdict: "deny", facts: {}, way };
  const causes = decision.reasons
    .filter(({ observed }) => observed !== true)
    .map(({ way: _way, ...reason }): Reason => ({ ...reason, verdict: "deny" }));
  return { ...decision, verdict: "deny", unobserved: "deny", reasons: [...causes, ended] };
}
