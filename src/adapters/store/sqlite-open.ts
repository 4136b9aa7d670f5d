/**
 * Opening the database file. Order: private folder, sole ownership, an inspection that changes nothing, then opening
 * for writing. A file that is damaged, foreign or newer is left unchanged: SQLite would otherwise begin to repair it
 * from its write-ahead log, and the evidence would be gone.
 */
import {
  accessSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { err, ok, type Result } from "../../core/result.ts";
import type { StoreFailure } from "../../gateway/ports/store.ts";
import { privateFolder } from "../keys/key-files.ts";
import { failureFrom, LogGone, storeFailure } from "./failure.ts";
import { makeShrinkable } from "./sqlite-compact.ts";
import { additions, applicationId, schema, schemaVersion, sql } from "./sqlite-dialect.ts";

export type SqliteFile = {
  readonly path: string;
  /** `full` waits for the disk at every commit; `normal` survives our crash, not a power cut. */
  readonly durability: "normal" | "full";
  /** How long to wait for another process that holds the file, in ms. */
  readonly busyWaitMsMax: number;
  /** Identity of this boot of the machine. */
  readonly bootId: string;
  /** Pages the file may have; a limit for tests of a full disk. */
  readonly pagesMax?: number;
  /** Rewrite a file that cannot give back its free space, however long that takes. */
  readonly compact?: boolean;
};

/**
 * Files above this size are looked through only where a writer had no clean end in an earlier boot of the machine, since it
 * takes seconds per gigabyte: a process that is killed leaves a file that is sound.
 */
const checkBytesMax = 64 * 1024 * 1024;

/**
 * Size of a page, fixed when the file is made. Records are a few kilobytes and more: with SQLite's 4 KiB each would
 * occupy pages of its own, and a large result would cost a fifth more.
 */
const pageBytes = 8_192;

/** Pages of the write-ahead log between two copies into the database: 16 MiB. */
const walPages = 2_048;

const header = "SQLite format 3\0";

function startsLikeSqlite(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const start = Buffer.alloc(header.length);
    readSync(file, start, 0, header.length, 0);
    return start.toString("latin1") === header;
  } finally {
    closeSync(file);
  }
}

function numberOf(database: DatabaseSync, query: string): number {
  const row = database.prepare(query).get() ?? {};
  return Number(Object.values(row)[0] ?? 0);
}

function isSound(database: DatabaseSync): boolean {
  const rows = database.prepare("PRAGMA quick_check(1)").all();
  return rows.length === 1 && Object.values(rows[0] ?? {})[0] === "ok";
}

function judge(database: DatabaseSync, { path, bootId }: Inspected): StoreFailure | "fresh" | undefined {
  const tables = numberOf(database, "SELECT count(*) FROM sqlite_schema");
  const owner = numberOf(database, "PRAGMA application_id");
  if (owner === 0 && tables === 0) return "fresh";
  if (owner !== applicationId) return storeFailure("foreign", path);
  if (numberOf(database, "PRAGMA user_version") > schemaVersion) return storeFailure("newer", path);
  const small = statSync(path).size <= checkBytesMax;
  const cut = database.prepare(sql.uncleanWriters).get(bootId) ?? {};
  const unclean = Number(cut["unclean"] ?? 0) > 0;
  return (small || unclean) && !isSound(database) ? storeFailure("damaged", path) : undefined;
}

type Inspected = Pick<SqliteFile, "path" | "bootId">;

/** Inspects the file without changing it. `fresh`: there is no database yet. */
function inspect({ path, bootId }: Inspected, place: string | URL = path): Result<"fresh" | "ours", StoreFailure> {
  if (!existsSync(path)) return ok("fresh");
  let database: DatabaseSync | undefined;
  try {
    if (statSync(path).size === 0) {
      // An empty file beside a write-ahead log was a database once.
      const log = `${path}-wal`;
      return existsSync(log) && statSync(log).size > 0 ? err(storeFailure("damaged", path)) : ok("fresh");
    }
    if (!startsLikeSqlite(path)) return err(storeFailure("damaged", path));
    database = new DatabaseSync(place, { readOnly: true });
    const found = judge(database, { path, bootId });
    if (found === undefined) return ok("ours");
    return found === "fresh" ? ok("fresh") : err(found);
  } catch (cause) {
    return err(failureFrom(cause, path));
  } finally {
    database?.close();
  }
}

function create(database: DatabaseSync): void {
  database.exec(
    `BEGIN IMMEDIATE; ${schema} ${additions} PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}; COMMIT`,
  );
}

function configure(database: DatabaseSync, file: SqliteFile): void {
  database.exec(`PRAGMA page_size = ${pageBytes}; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = ${file.durability === "full" ? "FULL" : "NORMAL"};
    PRAGMA wal_autocheckpoint = ${walPages}; PRAGMA journal_size_limit = 67108864; PRAGMA trusted_schema = OFF;
    PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY`);
  if (file.pagesMax !== undefined) database.exec(`PRAGMA max_page_count = ${file.pagesMax}`);
}

/**
 * Ownership is a transaction on a small file of its own, held for as long as the process lives: the kernel releases it
 * however the process ends, so no stale lock can remain, and it does not block readers of the log.
 */
function own(file: SqliteFile): Result<DatabaseSync, StoreFailure> {
  const path = `${file.path}.owner`;
  let lock: DatabaseSync | undefined;
  try {
    closeSync(openSync(path, "a", 0o600));
    lock = new DatabaseSync(path, { timeout: file.busyWaitMsMax });
    lock.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
    return ok(lock);
  } catch (cause) {
    lock?.close();
    return err(failureFrom(cause, file.path));
  }
}

export type OpenedFile = {
  readonly database: DatabaseSync;
  readonly release: () => void;
  /** Throws `LogGone` if a file of the log no longer has its name; called before each commit. */
  readonly stillThere: () => void;
};

/**
 * Writes to a file that was unlinked or renamed succeed, and are lost. The write-ahead log counts as well: without it
 * the database lacks its newest records.
 */
function presence(path: string): () => void {
  // Windows removes no open file.
  if (process.platform === "win32") return () => undefined;
  const identities = [path, `${path}-wal`].flatMap((name) => {
    const found = statSync(name, { throwIfNoEntry: false });
    return found === undefined ? [] : [{ name, device: found.dev, inode: found.ino }];
  });
  return () => {
    for (const { name, device, inode } of identities) {
      const found = statSync(name, { throwIfNoEntry: false });
      if (found?.ino !== inode || found.dev !== device) throw new LogGone();
    }
  };
}

/** Opens the file for writing as its only owner; creates it with its schema if it does not exist. */
export function openFile(file: SqliteFile): Result<OpenedFile, StoreFailure> {
  const folder = privateFolder(dirname(file.path));
  if (!folder.ok) return err({ ...storeFailure("unreachable", file.path), sentence: folder.error });
  const lock = own(file);
  if (!lock.ok) return lock;
  const found = inspect(file);
  if (!found.ok) {
    lock.value.close();
    return found;
  }
  let database: DatabaseSync | undefined;
  try {
    // Made by us first, because SQLite would give it the mode of the umask; its companion files copy the mode.
    closeSync(openSync(file.path, "a", 0o600));
    database = new DatabaseSync(file.path, { timeout: file.busyWaitMsMax });
    configure(database, file);
    if (found.value === "fresh") create(database);
    else {
      database.exec(`BEGIN IMMEDIATE; ${additions} PRAGMA user_version = ${schemaVersion}; COMMIT`);
      makeShrinkable(database, file.path, file.compact === true);
    }
    return ok({ database, release: () => lock.value.close(), stillThere: presence(file.path) });
  } catch (cause) {
    database?.close();
    lock.value.close();
    return err(failureFrom(cause, file.path));
  }
}

/** A file that can be opened as it is, and how to leave it again. */
type Readable = { readonly place: string | URL; readonly leave: () => void };

/**
 * SQLite reads a log in write-ahead mode only where it can write beside it. On a medium or in a folder that is read-only
 * nothing changes the file, so it is read as immutable; where records are still in the write-ahead log, which SQLite
 * would then leave out, a private copy of both is read.
 */
function readable(path: string): Readable {
  const asItIs = { place: path, leave: () => undefined };
  if (isWritable(dirname(path))) return asItIs;
  const wal = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if (wal === undefined || wal.size === 0) {
    const place = pathToFileURL(path);
    place.searchParams.set("immutable", "1");
    return { place, leave: () => undefined };
  }
  const folder = mkdtempSync(join(tmpdir(), "sluicegate-log-"));
  const copy = join(folder, "log.db");
  for (const part of ["", "-wal"]) copyFileSync(path + part, copy + part);
  return { place: copy, leave: () => rmSync(folder, { recursive: true, force: true }) };
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Opens an existing file for reading beside its owner, also one that nothing can be written beside. */
export function openForReading(file: SqliteFile): Result<OpenedFile, StoreFailure> {
  let open: Readable | undefined;
  try {
    open = existsSync(file.path) ? readable(file.path) : undefined;
    const found = open === undefined ? err(storeFailure("unreachable", file.path)) : inspect(file, open.place);
    if (open === undefined || !found.ok || found.value === "fresh") {
      open?.leave();
      return found.ok ? err(storeFailure("unreachable", file.path)) : found;
    }
    const database = new DatabaseSync(open.place, { readOnly: true, timeout: file.busyWaitMsMax });
    return ok({ database, release: open.leave, stillThere: () => undefined });
  } catch (cause) {
    open?.leave();
    return err(failureFrom(cause, file.path));
  }
}

/** Names tried for a file that is kept aside. */
const asideNamesMax = 1_000;

/** Moves a damaged database and its companions to a free name beside it, and gives that name. Nothing is deleted. */
export function setAside(path: string): Result<string, StoreFailure> {
  for (let index = 1; index <= asideNamesMax; index += 1) {
    const target = `${path}.damaged-${index}`;
    if (existsSync(target)) continue;
    try {
      renameSync(path, target);
      for (const part of ["-wal", "-shm"]) if (existsSync(path + part)) renameSync(path + part, target + part);
      return ok(target);
    } catch (cause) {
      return err(failureFrom(cause, path));
    }
  }
  return err(storeFailure("unreachable", path));
}
