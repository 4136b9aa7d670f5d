/**
 * Many writers, one transaction. Jobs collect until the event loop has handed out everything that is ready (that is
 * what `setImmediate` waits for; with a microtask each job would commit alone, ten times slower), then run together.
 *
 * A job's result is given out after the commit: a caller that gets a success can rely on it. If one job fails, the
 * whole group is not written, and every later job is refused until `recover`: records form a chain, so none may be
 * missing before the next.
 */
import { type Result, err, ok } from "../../core/result.ts";
import type { StoreFailure, StoreHealth } from "../../gateway/ports/store.ts";

/** Jobs of one transaction; bounds how long the event loop stands still. */
const groupJobsMax = 1_024;

/**
 * Longest wait of a job for others, in milliseconds, checked whenever `hurry` is called. While the event loop hands out
 * hundreds of large answers, the first of them would otherwise wait until the last one is judged.
 */
const patienceMs = 5;

/** Jobs that may wait; beyond it the disk is far too slow for the load, and the store stops. */
const waitingJobsMax = 65_536;

type Job = {
  /** Runs inside the transaction; gives a function that hands out the result after the commit. */
  readonly run: () => () => void;
  readonly fail: (failure: StoreFailure) => void;
};

export type Transactions = {
  readonly begin: () => void;
  readonly commit: () => void;
  /** Must not throw: SQLite may have rolled back by itself. */
  readonly rollback: () => void;
  readonly failureOf: (cause: unknown) => StoreFailure;
  readonly overload: StoreFailure;
  /** Milliseconds of a clock that only goes forward. */
  readonly nowMs: () => number;
};

export type GroupCommit = {
  readonly write: <T>(work: () => T) => Promise<Result<T, StoreFailure>>;
  readonly health: () => StoreHealth;
  readonly fail: (failure: StoreFailure) => void;
  /** Lets writing go on after the cause of a failure was removed. */
  readonly reset: () => void;
  /** Runs what is waiting, if that has waited for long. */
  readonly hurry: () => void;
  /** Runs what is waiting, now. */
  readonly flush: () => void;
};

export function groupCommit(transactions: Transactions): GroupCommit {
  let waiting: Job[] = [];
  let scheduled = false;
  /** When the oldest waiting job came. */
  let since = 0;
  let failed: StoreFailure | undefined;

  const refuseAll = (failure: StoreFailure, jobs: readonly Job[]): void => {
    failed ??= failure;
    for (const job of [...jobs, ...waiting.splice(0)]) job.fail(failure);
  };

  const runGroup = (jobs: readonly Job[]): void => {
    const deliveries: (() => void)[] = [];
    try {
      transactions.begin();
      for (const job of jobs) deliveries.push(job.run());
      transactions.commit();
    } catch (cause) {
      transactions.rollback();
      refuseAll(transactions.failureOf(cause), jobs);
      return;
    }
    for (const deliver of deliveries) deliver();
  };

  const drain = (): void => {
    scheduled = false;
    const jobs = waiting.length <= groupJobsMax ? waiting : waiting.slice(0, groupJobsMax);
    waiting = waiting.slice(jobs.length);
    if (waiting.length > 0) schedule();
    if (jobs.length > 0) runGroup(jobs);
  };

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    since = transactions.nowMs();
    setImmediate(drain);
  }

  return {
    write: (work) => {
      if (failed !== undefined) return Promise.resolve(err(failed));
      if (waiting.length >= waitingJobsMax) refuseAll(transactions.overload, []);
      if (failed !== undefined) return Promise.resolve(err(failed));
      return new Promise((resolve) => {
        waiting.push({
          run: () => {
            const value = work();
            return () => resolve(ok(value));
          },
          fail: (failure) => resolve(err(failure)),
        });
        schedule();
      });
    },
    health: () => (failed === undefined ? { kind: "ok" } : { kind: "failed", failure: failed }),
    fail: (failure) => refuseAll(failure, []),
    reset: () => {
      failed = undefined;
    },
    hurry: () => {
      if (waiting.length > 0 && transactions.nowMs() - since > patienceMs) drain();
    },
    flush: () => {
      while (waiting.length > 0) drain();
    },
  };
}
