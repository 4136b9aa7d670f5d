/** Retention in memory, with the promises of the port. */
import type { Result } from "../../core/result.ts";
import type { EndedRun, Place, PruneWanted } from "../../gateway/ports/retention.ts";
import type { AppendBatch, RunRow, Store, StoredRecord, StoreFailure } from "../../gateway/ports/store.ts";
import type { Tables } from "./memory-tables.ts";

type Run = <T>(work: () => T) => Promise<Result<T, StoreFailure>>;

export type RetentionWay = {
  readonly read: Run;
  readonly lookUp: Run;
  /** Writes a batch, and refuses all later writes where there is no room for it. */
  readonly append: (batch: AppendBatch) => Result<void, StoreFailure>;
  readonly fail: () => StoreFailure | undefined;
};

/** Why a run that has ended may not leave now. */
function heldIn({ openCalls, approvals }: Tables, run: string, wallMs: number): EndedRun<RunRow>["held"] {
  if ([...openCalls.values()].some((call) => call.run === run)) return "call";
  const isOpen = [...approvals.values()].some(
    (row) => row.run === run && (row.status === "pending" || row.status === "approved") && row.expiresWallMs > wallMs,
  );
  return isOpen ? "approval" : undefined;
}

function mayLeave(tables: Tables, { ranges, runs, endedBefore, wallMs }: PruneWanted): boolean {
  const leaving = (record: StoredRecord): boolean => {
    const ended = tables.runs.get(record.run)?.endedWallMs;
    const isOld = ended !== undefined && ended < endedBefore;
    return isOld && runs.includes(record.run) && heldIn(tables, record.run, wallMs) === undefined;
  };
  return ranges.every((range) => {
    const found = tables.records.filter((record) => isIn(record, range));
    return found.length === range.to - range.from + 1 && found.every(leaving);
  });
}

function isIn(record: StoredRecord, { writer, from, to }: PruneWanted["ranges"][number]): boolean {
  return record.writer === writer && record.seq >= from && record.seq <= to;
}

function remove(tables: Tables, { ranges, runs }: PruneWanted, place: Place): void {
  const kept = tables.records.filter((record) => !ranges.some((range) => isIn(record, range)));
  tables.records.splice(0, tables.records.length, ...kept);
  tables.prunings.push(place);
  for (const run of runs) {
    tables.prunedRuns.set(run, place);
    tables.snapshots.delete(run);
    for (const row of tables.approvals.values()) if (row.run === run) tables.approvals.delete(row.id);
  }
}

function isAfter(left: Place, right: Place | undefined): boolean {
  return right === undefined || left.writer > right.writer || (left.writer === right.writer && left.seq > right.seq);
}

type Ended = RunRow & { readonly endedWallMs: number };

function byEnd(left: Ended, right: Ended): number {
  return left.endedWallMs - right.endedWallMs || (left.key < right.key ? -1 : 1);
}

export function retentionMethods(
  tables: Tables,
  { read, lookUp, append, fail }: RetentionWay,
): Pick<Store, "endedRuns" | "runHeads" | "prune" | "prunings" | "prunedBy" | "shrink"> {
  return {
    endedRuns: ({ before, after, limit, wallMs }) =>
      lookUp(() =>
        [...tables.runs.values()]
          .filter((row): row is Ended => row.endedWallMs !== undefined && row.endedWallMs < before)
          .filter((row) => after === undefined || byEnd(row, { ...row, ...after }) > 0)
          .toSorted(byEnd)
          .slice(0, limit)
          .map((row) => ({
            row,
            hasRecords: tables.records.some(({ run }) => run === row.key),
            held: heldIn(tables, row.key, wallMs),
          })),
      ),
    runHeads: (run, after, limit) =>
      lookUp(() =>
        tables.records
          .filter((record) => record.run === run && run !== "" && isAfter(record, after))
          .slice(0, limit)
          .map(({ writer, seq, fingerprint }) => ({ writer, seq, fingerprint })),
      ),
    prune: (wanted, batch) =>
      read(() => {
        if (!mayLeave(tables, wanted)) return false;
        const rows = batch();
        const [first] = rows.records;
        if (first === undefined || !append(rows).ok) return false;
        remove(tables, wanted, { writer: first.writer, seq: first.seq });
        return true;
      }).then((done) => {
        const failure = fail();
        return done.ok && failure !== undefined ? { ok: false, error: failure } : done;
      }),
    prunings: (writer) =>
      lookUp(() =>
        tables.prunings
          .flatMap((place) => tables.records.filter((one) => one.writer === place.writer && one.seq === place.seq))
          .filter((record) => record.writer === writer)
          .map((record) => ({ ...record, payload: undefined })),
      ),
    prunedBy: (run) => lookUp(() => tables.prunedRuns.get(run)),
    shrink: () => read(() => false),
  };
}
