/**
 * Predictions about a list become events of their run, so that the run remembers what was hidden, also over a restart, and
 * no model is asked twice about one state.
 */
import type { Answers } from "../../core/opinion.ts";
import { filtersAmong } from "../../core/questions/prediction.ts";
import { appendBatch, EventBatch } from "./event-batch.ts";
import type { LiveRun } from "./live-run.ts";
import type { RunRegistry } from "./run-registry.ts";
import type { Services } from "../ports/services.ts";

/** Answers that a moment was decided with, at an instant of the monotonic clock, in milliseconds. */
export type Foreseeing = { readonly answers: Answers; readonly at: number };

/** Folds the filter of the present list that is among the answers; false where there is none. */
export function foldForeseen(
  { runs }: { readonly runs: Pick<RunRegistry, "fold"> },
  live: LiveRun,
  { answers, at }: Foreseeing,
  batch: EventBatch,
): boolean {
  const list = answers.size === 0 ? undefined : filtersAmong(answers).list;
  if (list === undefined) return false;
  const filter = { ...list, policy: live.policy.digest };
  return runs.fold(live, { kind: "foreseen", at, filter }, batch).ok;
}

/** The same for a list that a client is about to be shown; resolves when it is on record, with the answers. */
export async function recordForeseen(
  { runs, services }: { readonly runs: Pick<RunRegistry, "fold">; readonly services: Pick<Services, "log"> },
  live: LiveRun,
  foreseeing: Foreseeing,
): Promise<void> {
  const batch = new EventBatch();
  if (!foldForeseen({ runs }, live, foreseeing, batch)) return;
  await appendBatch(services.log, batch, { answers: foreseeing.answers });
}
