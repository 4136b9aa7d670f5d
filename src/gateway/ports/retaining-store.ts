/** What a store does for retention: whole runs leave it, and records say so (docs/decisions/0044). */
import type { EndedQuery, EndedRun, Place, PruneWanted, SizedHead, SumUpWanted } from "./retention.ts";
import type { Result } from "../../core/result.ts";

/** The rows of runs, the batches, the records and the failures of the store. */
export type StoreKinds = {
  readonly row: unknown;
  readonly batch: unknown;
  readonly record: unknown;
  readonly failure: unknown;
};

export interface RetainingStore<S extends StoreKinds> {
  /** Runs that have ended, those that ended first first. */
  endedRuns(query: EndedQuery): Promise<Result<readonly EndedRun<S["row"]>[], S["failure"]>>;
  /** Places and fingerprints of the records of a run, oldest first, after a place. */
  runHeads(run: string, after: Place | undefined, limit: number): Promise<Result<readonly SizedHead[], S["failure"]>>;
  /**
   * Writes a batch and removes records, all or nothing; false, and `batch` is not called, where one of them is missing or
   * may not leave. Marks the runs with the place of the batch's first record; their approvals and snapshots leave too.
   */
  prune(wanted: PruneWanted, batch: () => S["batch"]): Promise<Result<boolean, S["failure"]>>;
  /** Records of a writer that say what left, oldest first, without their payloads. */
  prunings(writer: number): Promise<Result<readonly S["record"][], S["failure"]>>;
  /** The newest record that says that records of this run left; the run has only what is after it. */
  prunedBy(run: string): Promise<Result<Place | undefined, S["failure"]>>;
  /**
   * Replaces records that say what left by one, all or nothing; false, and `batch` is not called, where one of them is not
   * there or is another record. `batch` is told which of the nameless runs leave with their rows and marks: those without a
   * record, a call, an approval, a session or a run that they began, whose mark is the given one.
   */
  sumUp(wanted: SumUpWanted, batch: (gone: ReadonlySet<string>) => S["batch"]): Promise<Result<boolean, S["failure"]>>;
  /** Bytes that the log needs, without free space that it can use again. */
  bytes(): Promise<Result<number, S["failure"]>>;
  /** Gives a part of the free space back to the file system; true where there is more to give back. */
  shrink(): Promise<Result<boolean, S["failure"]>>;
}
