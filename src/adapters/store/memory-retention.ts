/** Retention in memory, with the promises of the port. */
import type { Result } from "../../core/result.ts";
import type { EndedRun, MarkedRun, Place, PruneWanted, SumUpWanted } from "../../gateway/ports/retention.ts";
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

function isThere(tables: Tables, kind: string, { writer, seq }: Place): boolean {
  return tables.records.some(
    (record) => record.writer === writer && record.seq === seq && record.kind === kind && record.run === "",
  );
}

/** Whether a run needs neither row nor mark any more. */
function isGone(tables: Tables, { run, mark }: MarkedRun, endedBefore: number): boolean {
  const row = tables.runs.get(run);
  const marked = tables.prunedRuns.get(run);
  return (
    marked?.writer === mark.writer &&
    marked.seq === mark.seq &&
    (row === undefined || (row.endedWallMs !== undefined && row.endedWallMs < endedBefore)) &&
    ![...tables.records, ...tables.openCalls.values(), ...tables.approvals.values()].some((one) => one.run === run) &&
    ![...tables.sessions.values()].some((session) => session.run === run) &&
    ![...tables.runs.values()].some(({ parent }) => parent === run)
  );
}

function sumUp(
  tables: Tables,
  { prunings, checkpoints, ranges, nameless, endedBefore }: SumUpWanted,
  write: (gone: ReadonlySet<string>) => Place | undefined,
): boolean {
  if (!prunings.every((place) => isThere(tables, "pruned", place))) return false;
  if (!checkpoints.every((place) => isThere(tables, "checkpoint", place))) return false;
  const gone = nameless.filter((one) => isGone(tables, one, endedBefore)).map(({ run }) => run);
  const place = write(new Set(gone));
  if (place === undefined) return false;
  const left = [...prunings, ...checkpoints].map(({ writer, seq }) => `${writer}/${seq}`);
  const isLeft = ({ writer, seq }: Place): boolean => left.includes(`${writer}/${seq}`);
  const newest = tables.checkpoints.at(-1);
  const kept = {
    records: tables.records.filter((record) => !isLeft(record)),
    prunings: [...tables.prunings.filter((one) => !isLeft(one)), place],
    signatures: tables.checkpoints.filter(
      (one) =>
        one === newest ||
        !ranges.some(({ writer, from, to }) => one.writer === writer && one.seq >= from && one.seq <= to),
    ),
  };
  tables.records.splice(0, tables.records.length, ...kept.records);
  tables.prunings.splice(0, tables.prunings.length, ...kept.prunings);
  tables.checkpoints.splice(0, tables.checkpoints.length, ...kept.signatures);
  for (const run of gone) {
    tables.runs.delete(run);
    tables.prunedRuns.delete(run);
  }
  return true;
}

/** What a record needs beside its body and payload. */
const rowBytes = 200;

function bytesOf({ body, payload }: StoredRecord): number {
  return body.length + (payload?.length ?? 0) + rowBytes;
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
): Pick<Store, "endedRuns" | "runHeads" | "prune" | "prunings" | "prunedBy" | "sumUp" | "bytes" | "shrink"> {
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
          .map((record) => {
            const { writer, seq, fingerprint } = record;
            return { writer, seq, fingerprint, bytes: bytesOf(record) };
          }),
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
    sumUp: (wanted, batch) =>
      read(() =>
        sumUp(tables, wanted, (gone) => {
          const rows = batch(gone);
          const [first] = rows.records;
          return first !== undefined && append(rows).ok ? { writer: first.writer, seq: first.seq } : undefined;
        }),
      ).then((done) => {
        const failure = fail();
        return done.ok && failure !== undefined ? { ok: false, error: failure } : done;
      }),
    bytes: () => lookUp(() => tables.records.reduce((sum, record) => sum + bytesOf(record), 0)),
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
