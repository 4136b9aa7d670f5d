/** What is left when the runs of a lineage end: its stream, for as long as what ended sessions held has to count. */
import type { EndCause } from "../../../core/event.ts";
import { rebuildTriesMax } from "../../ports/limits.ts";
import type { RunRow } from "../../ports/store.ts";
import { inheritedFrom } from "../conversation-history.ts";
import { appendBatch, EventBatch, flushDeferred } from "../event-batch.ts";
import { type HeritageSetup, leaveBehind } from "../heritage.ts";
import type { LineageStream } from "./lineage-stream.ts";
import { type LiveRun, asSpent, rowOf } from "../live-run.ts";

/**
 * Whether what restricts a run is in the stream of its lineage, or is put there now; then the run may end. A run that
 * belongs to no lineage leaves it to no run.
 */
export async function outlives(needs: HeritageSetup, live: LiveRun): Promise<boolean> {
  const { lineage } = live;
  if (lineage === undefined || !live.groups.includes(lineage) || !live.restricts) return true;
  const { log } = needs.services;
  for (let tries = 0; tries < rebuildTriesMax && live.stream === undefined; tries += 1) {
    const before = live.state;
    if (!(await flushDeferred(log, live))) return false;
    const { images, whole } = await inheritedFrom(log, [live.key], live.policy.lattice);
    if (!whole || live.ended) return false;
    // What happened in between is not among these.
    if (live.state !== before || needs.relatives.streamOf(live) !== undefined) continue;
    const batch = new EventBatch();
    leaveBehind(needs, live, { lineage, held: images }, batch);
    return appendBatch(log, batch);
  }
  return live.stream !== undefined;
}

/** How a run ends. `clears`: by a trusted act, after which runs begin clean. */
export type Ending = {
  readonly cause: EndCause;
  readonly clears: boolean;
  /** Ms for which what it held is kept for later runs of its lineage. */
  readonly keptMs: number;
};

/**
 * A run has left its stream. Without any open run the stream waits for the time that what ended sessions held is kept,
 * or it ends in this very append.
 */
export function leftBehind(
  { services, streams, relatives }: HeritageSetup,
  stream: LineageStream,
  { keptMs, clears }: Omit<Ending, "cause">,
  batch: EventBatch,
): void {
  const keptUntil = keptMs === 0 ? 0 : services.clock.wallMs() + keptMs;
  stream.keptUntilWallMs = Math.max(stream.keptUntilWallMs, keptUntil);
  const isLast = relatives.keysOf(stream.lineage).length === 0;
  if (isLast && clears) stream.keptUntilWallMs = 0;
  if (isLast) streams.settle(stream, batch);
  else if (keptUntil > 0) batch.addRows(stream.row());
}

/** Other runs of a conversation that was cleared keep what they hold to themselves from now on; gives their rows. */
export function separate(
  { services, dormant, relatives, find }: HeritageSetup,
  live: LiveRun,
  rows: readonly RunRow[],
  batch: EventBatch,
): readonly RunRow[] {
  return rows
    .filter(({ key }) => key !== live.key)
    .map((row) => {
      const spent = asSpent(row);
      const open = find(row.key);
      if (open === undefined) {
        if (row.endedWallMs === undefined) dormant.note(spent);
        return spent;
      }
      open.spent = true;
      relatives.leave(open, batch);
      return rowOf(open, services.clock.wallMs());
    });
}
