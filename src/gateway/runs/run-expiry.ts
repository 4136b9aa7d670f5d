/** The end of what was idle for longer than its policy allows: runs, in memory or not, and streams without a run. */
import type { EndCause } from "../../core/event.ts";
import type { Services } from "../ports/services.ts";
import type { LoadedPolicy } from "../ports/policy.ts";
import type { RunRow } from "../ports/store.ts";
import { isHandedOn } from "./client-exit.ts";
import { idleIn, idleMsOf, type LiveRun } from "./live-run.ts";
import type { DormantRuns } from "./dormant-runs.ts";
import type { LineageStream } from "./streams/lineage-stream.ts";
import type { LineageStreams } from "./streams/lineage-streams.ts";

export type ExpirySetup = {
  readonly services: Pick<Services, "clock">;
  readonly registry: {
    readonly dormant: DormantRuns;
    readonly streams: LineageStreams;
    readonly waitingStreams: () => Iterable<LineageStream>;
    readonly end: (live: LiveRun, cause: EndCause) => Promise<unknown>;
    readonly endDormant: (key: string, cause: EndCause) => Promise<unknown>;
  };
  readonly live: ReadonlyMap<string, LiveRun>;
  /** The policy that a run which is not resumed would have now. */
  readonly policyOf: (row: Pick<RunRow, "principal" | "resume">) => LoadedPolicy;
};

/** Ends all of them, and the runs whose facts others have taken over. */
export async function endIdle({ services, registry, live, policyOf }: ExpirySetup): Promise<void> {
  const { clock } = services;
  const { dormant, streams } = registry;
  const now = clock.monotonicMs();
  for (const run of live.values()) {
    if (now - run.lastAt >= idleMsOf(run)) await registry.end(run, "expired");
    else if (isHandedOn(run, live)) await registry.end(run, "closed");
  }
  for (const run of dormant.all()) {
    const since = clock.wallMs() - idleMsOf({ idleMs: idleIn(run.resume), policy: policyOf(run) });
    if (run.begunWallMs > since || (await dormant.activeWallMs(run)) > since) continue;
    await registry.endDormant(run.key, "expired");
  }
  for (const stream of registry.waitingStreams()) {
    if (stream.keptUntilWallMs <= clock.wallMs()) await streams.end(stream);
  }
}
