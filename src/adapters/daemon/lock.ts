/**
 * One daemon per state folder. Node has no file locks, but SQLite does, and the kernel lets go of them when a process
 * dies in whatever way: there are no stale lock files, and no check is needed whether a pid in a file still belongs to
 * its writer.
 */
import { DatabaseSync } from "node:sqlite";
import { chmodSync } from "node:fs";
import { type Result, err, ok } from "../../core/result.ts";

/**
 * Held until `release` or the end of the process. The error is the reason; `held` means that another daemon holds the
 * lock.
 */
export function takeLock(path: string): Result<{ readonly release: () => void }, string> {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    chmodSync(path, 0o600);
    database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    const held = database;
    return ok({ release: () => held.close() });
  } catch (error) {
    const message = error instanceof Error ? error.message : "unknown error";
    database?.close();
    return err(message.includes("locked") ? "held" : message);
  }
}
