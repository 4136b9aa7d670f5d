/** The log turned out to be altered, cut or lost: nothing that was folded from it may loosen a decision any more. */
import type { Result } from "../../core/result.ts";
import type { StoreFailure } from "../ports/store.ts";
import type { Services } from "../ports/services.ts";
import { toTop } from "./live-run.ts";
import type { RunRegistry } from "./run-registry.ts";

/**
 * Every open run, live or dormant, and every store of an owner counts as holding everything, until a user ends the runs
 * and resets the stores. The marks are durable, so a restart keeps them.
 */
export async function distrustRuns(runs: RunRegistry, { log }: Services): Promise<Result<void, StoreFailure>> {
  runs.shared.distrust();
  runs.dormant.distrust();
  runs.streams.distrust();
  for (const live of runs.all()) {
    live.lost = true;
    // The rows of the stores are of the same log.
    live.storesLost = true;
    toTop(live);
  }
  return log.store.distrust();
}
