/** What the store says of runs whose records left must fit the records that say so (docs/decisions/0044). */
import { type Result, ok } from "../../../core/result.ts";
import type { Place } from "../../ports/retention.ts";
import type { Store, StoreFailure } from "../../ports/store.ts";
import type { Finding } from "../chain-check.ts";
import type { LeftRecords } from "./left-records.ts";

/** Runs that are looked up between two pauses. */
const runsAtOnce = 100;

/** How fast to go: called with a number of records; false ends the check. */
type Pace = { readonly pace?: (records: number) => Promise<boolean> };

/**
 * A run of which records left is marked, or it would pass for one that never held anything; and none of them is open,
 * except with a history that began after.
 */
export async function checkMarks(
  store: Store,
  { runs }: Pick<LeftRecords, "runs">,
  { pace }: Pace,
  note: (finding: Finding) => void,
): Promise<Result<void, StoreFailure>> {
  if (runs.size === 0) return ok(undefined);
  const open = await store.openRuns();
  if (!open.ok) return open;
  for (const { key } of open.value) {
    const by = runs.get(key);
    const since = by === undefined ? ok([]) : await store.runHeads(key, by, 1);
    if (!since.ok) return since;
    if (by !== undefined && since.value.length === 0) note(openRun(key, by));
  }
  let looked = 0;
  for (const [run, by] of runs) {
    const mark = await store.prunedBy(run);
    if (!mark.ok) return mark;
    if (mark.value?.writer !== by.writer || mark.value.seq !== by.seq) note(unmarked(run, by));
    looked += 1;
    if (pace !== undefined && looked % runsAtOnce === 0 && !(await pace(0))) break;
  }
  return ok(undefined);
}

function openRun(run: string, { writer, seq }: Place): Finding {
  const sentence = `Record ${writer}/${seq} says that records of the run ${run} left, but that run is open: what it held is gone.`;
  return { kind: "pruned-open", writer, seq, sentence };
}

function unmarked(run: string, { writer, seq }: Place): Finding {
  const sentence = `Records of the run ${run} left, as record ${writer}/${seq} says, but its mark was removed or changed: it could pass for a run that held nothing.`;
  return { kind: "pruned-unmarked", writer, seq, sentence };
}
