/** Folds a run again out of its log: under another policy, or once a log that stopped can be written again. */
import { begin } from "../../core/mechanism.ts";
import { rebuildTriesMax, refoldMsMax, resumeMsMax } from "../ports/limits.ts";
import type { LoadedPolicy } from "../ports/policy.ts";
import type { Services } from "../ports/services.ts";
import type { ReplayWay } from "../ports/store.ts";
import type { DormantRuns } from "./dormant-runs.ts";
import { appendBatch, EventBatch, flushDeferred } from "./event-batch.ts";
import { type LiveRun, rowOf, toTop } from "./live-run.ts";
import { foldHistory, lastRunIn } from "./refold.ts";
import { type RelatedRuns, settleArrived } from "./related-runs.ts";
import type { Abandoned } from "./resume.ts";
import type { SharedStates } from "./shared-store-state.ts";

export type RefoldingSetup = {
  readonly services: Services;
  readonly shared: SharedStates;
  readonly dormant: DormantRuns;
  readonly relatives: RelatedRuns;
  readonly moved: (live: LiveRun) => void;
  /** Calls that will get no answer become unknown. */
  readonly abandon: (live: LiveRun, abandoned: Abandoned, batch: EventBatch) => void;
};

/** What a run has folded of its stream by now; the rest is folded from memory afterwards. */
function seenBy(live: LiveRun): ReplayWay["until"] {
  const { stream } = live;
  stream?.catchUp(live);
  return stream === undefined ? undefined : { of: stream.key, n: live.seen };
}

/** A new policy: the run is folded again under it; labels never fall by it (gateway.md 9). */
export async function refoldRun(needs: RefoldingSetup, live: LiveRun, policy: LoadedPolicy): Promise<void> {
  const { services, shared, dormant } = needs;
  const until = seenBy(live);
  live.arrived = []; // relatives go on meanwhile
  await flushDeferred(services.log, live);
  const history = await services.log.replay(live.key, policy.lattice, { until });
  const common = await shared.of(live.principal, policy);
  void dormant.prepare(live.principal, policy);
  live.policy = policy;
  live.state = begin(policy.engine, live.key, common);
  const events = history.ok ? lastRunIn(history.value.events) : [];
  const folded = history.ok && foldHistory(live, events, { clock: services.clock, msMax: refoldMsMax }).ok;
  settleArrived(live, events);
  if (live.lost || !folded || !history.value.complete) toTop(live, [live.key]);
  needs.moved(live);
}

/** The log can be written again: the run is what its log says, and what has no outcome there is unknown. */
export async function rebuildRun(needs: RefoldingSetup, live: LiveRun): Promise<void> {
  const { services, shared } = needs;
  const { log, clock } = services;
  for (let tries = 0; tries < rebuildTriesMax && !live.ended; tries += 1) {
    const before = live.state;
    const until = seenBy(live);
    // Events folded so far are durable or refused once an append behind it has its answer.
    if (!(await flushDeferred(log, live))) return;
    const history = await log.replay(live.key, live.policy.lattice, { until });
    const common = await shared.of(live.principal, live.policy);
    const open = await log.store.openCalls();
    if (live.state !== before) continue; // an event came in between that the history may lack
    live.inFlight.clear();
    live.state = begin(live.policy.engine, live.key, common);
    const events = history.ok ? lastRunIn(history.value.events) : [];
    const folded = history.ok && foldHistory(live, events, { clock, msMax: resumeMsMax }).ok;
    const batch = new EventBatch();
    const { stream } = live;
    if (stream !== undefined && history.ok && history.value.member !== stream.key) unjoined(needs, live, batch);
    if (live.lost || !folded || !open.ok || !history.value.complete) toTop(live, [live.key]);
    const cause = "the event log stopped while it ran";
    needs.abandon(live, { open: open.ok ? open.value : [], cause }, batch);
    needs.moved(live);
    if (batch.parts.length > 0 || batch.runs !== undefined) await appendBatch(log, batch);
    return;
  }
}

/** That a run is a member never reached the log, and perhaps not with what: until it ends it holds everything. */
function unjoined({ services, relatives }: RefoldingSetup, live: LiveRun, batch: EventBatch): void {
  live.lost = true;
  const stream = relatives.streamOf(live);
  if (stream !== undefined) stream.lost = true;
  batch.addRows(rowOf(live, services.clock.wallMs()));
}
