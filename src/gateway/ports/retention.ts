/**
 * Removal of old runs from the log (docs/decisions/0044). A store removes records only in one transaction with the record
 * that says which ones; what is removed without such a record is a gap that `audit verify` reports.
 */

/** A place on a chain. */
export type Place = { readonly writer: number; readonly seq: number };

/** Records of one writer that follow each other, both ends included. */
export type PlaceRange = { readonly writer: number; readonly from: number; readonly to: number };

/** Where a list of ended runs goes on: after this one. */
export type EndedPlace = { readonly endedWallMs: number; readonly key: string };

export type EndedQuery = {
  /** Only runs that ended before (ms since 1970). */
  readonly before: number;
  readonly after: EndedPlace | undefined;
  readonly limit: number;
  /** Now, in ms since 1970: approvals that have not expired keep their run. */
  readonly wallMs: number;
};

/** An ended run, and why nothing of it may leave now. */
export type EndedRun<Row> = {
  readonly row: Row;
  readonly hasRecords: boolean;
  /** `call`: one of its calls has no outcome. `approval`: one of its approvals can still be decided or used. */
  readonly held: "call" | "approval" | undefined;
};

/** What is to leave in one transaction. Every record in the ranges must be of one of these runs. */
export type PruneWanted = {
  readonly ranges: readonly PlaceRange[];
  readonly runs: readonly string[];
  /** Each of the runs must have ended before (ms since 1970). */
  readonly endedBefore: number;
  /** Now, in ms since 1970. */
  readonly wallMs: number;
};

/** A record of a run, and about how many bytes the store needs for it. */
export type SizedHead = Place & { readonly fingerprint: string; readonly bytes: number };

/** A record that is to leave, with its run. */
export type Leaving = Place & { readonly fingerprint: string; readonly run: string };

/** A run with the place of the record that says last that records of it left. */
export type MarkedRun = { readonly run: string; readonly mark: Place };

/** Records of the log itself that one summary takes the place of, and what else leaves with them. */
export type SumUpWanted = {
  /** Records that say what left. */
  readonly prunings: readonly Place[];
  /** Records between them that hold nothing but a signed head. */
  readonly checkpoints: readonly Place[];
  /** What the summary names: signatures in there leave, but for the newest of each writer. */
  readonly ranges: readonly PlaceRange[];
  /** Runs that these records name and that no key leads to again: rows and marks of those that need none may leave. */
  readonly nameless: readonly MarkedRun[];
  /** Only rows of runs that ended before (ms since 1970). */
  readonly endedBefore: number;
};

/** How records that say what left are summed up. */
export type SumUpWay = {
  /** Those that were written longer ago than that. */
  readonly keepDays: number;
  /** All that would give back bytes. */
  readonly pressing: boolean;
  /** Whether no message can lead to the run of a key again. */
  readonly isNameless: (run: string) => boolean;
  /** Now, in ms since 1970, and monotonic. */
  readonly wallMs: number;
  readonly atMs: () => number;
  /** Called after each piece of work with the ms that it took; false ends the work there. */
  readonly pause: (workedMs: number) => Promise<boolean>;
};

/** Records that leave together, in the order of the chain. */
export type PruneStep = {
  readonly leaving: readonly Leaving[];
  /** `audit.keepDays` of the policy. */
  readonly keepDays: number;
  /** Set where they leave because the log has more bytes than that. */
  readonly keepBytes?: number;
  /** The runs ended before (ms since 1970). */
  readonly endedBefore: number;
  readonly wallMs: number;
  readonly at: number;
};
