/**
 * Free space of a database file goes back to the file system page by page (`shrink`) where the file was made for that. A file
 * of an earlier release was not: it is rewritten once, when its owner opens it and there is something to gain.
 */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";

/** Free space for which a file is rewritten, and data that is rewritten at most before anything is served: a second. */
const freeBytesMin = 16 * 1024 * 1024;
const dataBytesMax = 128 * 1024 * 1024;

function pragma(database: DatabaseSync, name: string): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
}

/** Bytes of the file, and how many of them hold nothing. */
export function spaceOf(database: DatabaseSync): { readonly bytes: number; readonly free: number } {
  const page = pragma(database, "page_size");
  return { bytes: pragma(database, "page_count") * page, free: pragma(database, "freelist_count") * page };
}

/**
 * Rewrites a file that cannot give back its free space, so that it can from then on; `thorough`: however large it is, and
 * also where little is free. A crash meanwhile leaves the file as it was.
 */
export function makeShrinkable(database: DatabaseSync, path: string, thorough: boolean): void {
  if (pragma(database, "auto_vacuum") === 2) return;
  const { bytes, free } = spaceOf(database);
  const data = bytes - free;
  if (!thorough && (free < freeBytesMin || data > dataBytesMax)) return;
  const { bavail, bsize } = statfsSync(dirname(path));
  // The data are written twice: into a temporary file, and into the write-ahead log.
  if (bavail * bsize < 2 * data) return;
  database.exec("PRAGMA auto_vacuum = INCREMENTAL; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
}
