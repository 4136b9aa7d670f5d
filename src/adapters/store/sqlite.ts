/** The embedded store: one SQLite file, one owner, group commit (node:sqlite, WAL). */
import { attempt } from "../attempt.ts";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import type { DatabaseSync } from "node:sqlite";
import { type Result, err, ok } from "../../core/result.ts";
import type { Opening, Store, StoreFailure } from "../../gateway/ports/store.ts";
import { failureFrom, storeFailure } from "./failure.ts";
import { type GroupCommit, groupCommit } from "./group-commit.ts";
import { sql } from "./sqlite-dialect.ts";
import { type OpenedFile, type SqliteFile, openFile, openForReading, setAside } from "./sqlite-open.ts";
import { type Reader, sqliteReader } from "./sqlite-read.ts";
import { DamagedRow } from "./sqlite-rows.ts";
import { type Writer, sqliteWriter } from "./sqlite-write.ts";

export type SqliteOptions = {
  readonly path: string;
  readonly durability: "normal" | "full";
  readonly wallMs: () => number;
  /** Identity of this boot of the machine. A log that was not closed cleanly in another boot means a power cut. */
  readonly bootId?: string;
  /** `read` looks at the log beside its owner (audit, export) and cannot write. */
  readonly mode?: "own" | "read";
  /** Beside mode `read`: all reads see the log as it was when it was opened. */
  readonly steady?: boolean;
  /**
   * Keep a file aside and start a log whose runs are all at top: never, where it is damaged, or in any case, since its
   * keys are gone.
   */
  readonly setAside?: "damaged" | "any";
  readonly busyWaitMsMax?: number;
  /** A limit for tests of a full disk. */
  readonly pagesMax?: number;
  /** Rewrite a file that cannot give back its free space, however long that takes. */
  readonly compact?: boolean;
};

const busyWaitMsDefault = 2_000;
const bootMinuteMs = 60_000;

/** Time that long work leaves to calls between two stretches of it: a call has several turns of the event loop. */
const idleMs = 10;

/** Linux has an id for each start; elsewhere the minute of the start stands for it. */
export function currentBootId(wallMs: number): string {
  return attempt(
    () => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
    `started ${Math.round((wallMs - uptime() * 1_000) / bootMinuteMs)}`,
  );
}

function enter(database: DatabaseSync, reader: Reader, options: SqliteOptions, keptAside: string | undefined): Opening {
  const wallMs = options.wallMs();
  const boot = options.bootId ?? currentBootId(wallMs);
  database.exec("BEGIN IMMEDIATE");
  const cut = Number(database.prepare(sql.cutWriters).get(boot)?.["cut"] ?? 0) > 0;
  if (cut) {
    // In the same transaction as the note that the cut was dealt with: a crash right now must not forget it.
    database.exec(sql.topRuns);
    database.exec(sql.topShared);
  }
  database.prepare(sql.settleWriters).run(boot);
  const writer = Number(database.prepare(sql.insertWriter).get(boot, options.durability, wallMs)?.["writer"]);
  const previous = reader.lastHead();
  const inFlight = reader.openCalls();
  database.exec("COMMIT");
  const aside = keptAside === undefined ? {} : { keptAside };
  return { writer, previous, resumeAtTop: cut || keptAside !== undefined, inFlight, ...aside };
}

type Parts = {
  readonly file: OpenedFile;
  readonly path: string;
  readonly opening: Opening;
  readonly reader: Reader;
  readonly writer: Writer;
  readonly group: GroupCommit;
};

/** Runs a read; damage found on the way stops the store, because nothing read from it can be trusted. */
function reading({ path, group }: Parts): <T>(work: () => T) => Promise<Result<T, StoreFailure>> {
  return (work) => {
    try {
      return Promise.resolve(ok(work()));
    } catch (cause) {
      const failure = cause instanceof DamagedRow ? storeFailure("damaged", path) : failureFrom(cause, path);
      if (failure.kind === "damaged") group.fail(failure);
      return Promise.resolve(err(failure));
    }
  };
}

function rollback(database: DatabaseSync): void {
  try {
    if (database.isTransaction) database.exec("ROLLBACK");
  } catch {
    // SQLite has rolled back by itself (disk full, I/O error), or the file is closed.
  }
}

function assemble(parts: Parts): Store {
  const { file, path, opening, reader, writer, group } = parts;
  const read = reading(parts);
  return {
    opening,
    append: (batch) => group.write(() => writer.append(typeof batch === "function" ? batch() : batch)),
    hurry: group.hurry,
    idle: (urgent) =>
      new Promise((resolve) => void (urgent ? setImmediate(resolve) : setTimeout(resolve, idleMs).unref())),
    records: (query) => read(() => reader.records(query)),
    writers: () => read(reader.writers),
    checkpoints: (number) => read(() => reader.checkpoints(number)),
    document: (digest) => read(() => reader.document(digest)),
    head: (number) => read(() => reader.head(number)),
    openCalls: () => read(reader.openCalls),
    putRun: (row) => group.write(() => writer.putRun(row)),
    run: (key) => read(() => reader.run(key)),
    openRuns: () => read(reader.openRuns),
    distrust: () => group.write(writer.distrust),
    runsEnding: (principal, ending) => read(() => reader.runsEnding(principal, ending)),
    shared: (owner) => read(() => reader.shared(owner)),
    sharedRows: (limit) => read(() => reader.sharedRows(limit)),
    createApproval: (row) => group.write(() => writer.createApproval(row)),
    approval: (id) => read(() => reader.approval(id)),
    approvals: (wallMs, limit) => read(() => reader.approvals(wallMs, limit)),
    decideApproval: (decision) => group.write(() => writer.decideApproval(decision)),
    takeApproval: (match, wallMs) => group.write(() => writer.takeApproval(match, wallMs)),
    putSession: (row) => group.write(() => writer.putSession(row)),
    session: (id) => read(() => reader.session(id)),
    dropSession: (id) => group.write(() => writer.dropSession(id)),
    dropSessionsBefore: (wallMs) => group.write(() => writer.dropSessionsBefore(wallMs)),
    putManifest: (row) => group.write(() => writer.putManifest(row)),
    manifest: (key) => read(() => reader.manifest(key)),
    putSnapshot: (snapshot) => group.write(() => writer.putSnapshot(snapshot)),
    snapshot: (run) => read(() => reader.snapshot(run)),
    snapshotRuns: (after, limit) => read(() => reader.snapshotRuns(after, limit)),
    endedRuns: (query) => read(() => reader.endedRuns(query)),
    runHeads: (run, after, limit) => read(() => reader.runHeads(run, after, limit)),
    prune: (wanted, batch) => group.write(() => writer.prune(wanted, batch)),
    prunings: (number) => read(() => reader.prunings(number)),
    prunedBy: (run) => read(() => reader.prunedBy(run)),
    sumUp: (wanted, batch) => group.write(() => writer.sumUp(wanted, batch)),
    bytes: () => read(reader.bytes),
    shrink: () => group.write(writer.shrink),
    health: group.health,
    recover: async () => {
      const health = group.health();
      if (health.kind === "ok") return ok(undefined);
      if (health.failure.kind === "damaged" || health.failure.kind === "closed") return err(health.failure);
      if (health.failure.kind === "full" && !hasRoom(path)) return err(health.failure);
      rollback(file.database);
      group.reset();
      return group.write(() => undefined);
    },
    close: async (clean) => {
      group.flush();
      if (clean) await group.write(() => writer.markClean(opening.writer));
      group.fail(storeFailure("closed", path));
      file.database.close();
      file.release();
    },
  };
}

function groupOf({ database, stillThere }: OpenedFile, path: string): GroupCommit {
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  return groupCommit({
    begin: () => void begin.run(),
    commit: () => {
      stillThere();
      commit.run();
    },
    rollback: () => rollback(database),
    failureOf: (cause) => (cause instanceof DamagedRow ? storeFailure("damaged", path) : failureFrom(cause, path)),
    overload: storeFailure("unreachable", path),
    nowMs: () => performance.now(),
  });
}

const nothingOpened: Opening = { writer: 0, previous: undefined, resumeAtTop: false, inFlight: [] };

function openedStore(file: OpenedFile, options: SqliteOptions, keptAside: string | undefined): Store {
  const { path } = options;
  const reader = sqliteReader(file.database);
  const group = groupOf(file, path);
  const isOwner = options.mode !== "read";
  const opening = isOwner ? enter(file.database, reader, options, keptAside) : nothingOpened;
  if (!isOwner) group.fail(storeFailure("closed", path));
  // The snapshot is taken by the first read.
  if (!isOwner && options.steady === true) {
    file.database.exec("BEGIN");
    reader.openCalls();
  }
  return assemble({ file, path, opening, reader, writer: sqliteWriter(file.database), group });
}

/** Opens the store. A failure leaves an existing file unchanged, unless it was to be set aside. */
export function openSqliteStore(options: SqliteOptions): Result<Store, StoreFailure> {
  const { path, durability, busyWaitMsMax = busyWaitMsDefault, pagesMax, compact = false } = options;
  const bootId = options.bootId ?? currentBootId(options.wallMs());
  const place: SqliteFile = {
    path,
    durability,
    busyWaitMsMax,
    bootId,
    compact,
    ...(pagesMax === undefined ? {} : { pagesMax }),
  };
  let file = options.mode === "read" ? openForReading(place) : openFile(place);
  let keptAside: string | undefined;
  if (file.ok ? options.setAside === "any" : file.error.kind === "damaged" && options.setAside !== undefined) {
    if (file.ok) {
      file.value.database.close();
      file.value.release();
    }
    const moved = setAside(path);
    if (!moved.ok) return moved;
    keptAside = moved.value;
    file = openFile(place);
  }
  if (!file.ok) return file;
  try {
    return ok(openedStore(file.value, options, keptAside));
  } catch (cause) {
    file.value.database.close();
    file.value.release();
    return err(failureFrom(cause, path));
  }
}

/**
 * Free space that the disk must have before a log that was full accepts records again: a few calls with their results.
 */
const roomBytes = 1_048_576;

/**
 * True if the disk of that file accepts more data. A small transaction is no proof: it fits into pages that the file
 * already has, and the next call would be refused again.
 */
function hasRoom(path: string): boolean {
  const trial = `${path}-room`;
  let taken = true;
  try {
    writeFileSync(trial, Buffer.alloc(roomBytes), { mode: 0o600 });
  } catch {
    taken = false;
  }
  try {
    rmSync(trial, { force: true });
  } catch {
    return false; // a folder in which nothing can be removed is none to write to
  }
  return taken;
}
