/**
 * Facts about one entry of a folder, read without following links. The `stamp` of a file changes with every change that
 * the kernel sees, since a server may set a modification time but never a change time.
 */
import { type BigIntStats, lstatSync } from "node:fs";

export type EntryType = "file" | "folder" | "link" | "special";

export type EntryFacts = {
  readonly type: EntryType;
  /**
   * Equal stamps mean equal state. For a folder it covers only identity and mode: its entries have stamps of their own.
   */
  readonly stamp: string;
  /** Permission bits with setuid, setgid and sticky. */
  readonly mode: number;
  readonly bytes: number;
  readonly changedMs: number;
  readonly modifiedMs: number;
  /** 0 where the file system does not keep it. */
  readonly bornMs: number;
  readonly inode: string;
  /** Character device 0:0, by which an overlay says that an entry of its lower layer is gone. */
  readonly whiteout: boolean;
};

/** Stamp of an entry that does not exist. */
export const absent = "none";

/** `/proc/self/fd/N/x/y` and the like; undefined where nothing is, or where it cannot be looked at. */
export function factsOf(path: string): EntryFacts | undefined {
  // An option instead of a thrown error: absence is the usual case here, and an exception costs 20 µs.
  const stats = lstat(path);
  return stats === undefined ? undefined : fromStats(stats);
}

function lstat(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    // A missing folder on the way, or no permission: treated as absent.
    return undefined;
  }
}

export function fromStats(stats: BigIntStats): EntryFacts {
  const type = typeOf(stats);
  const mode = Number(stats.mode & 0o7777n);
  const times = `${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
  return {
    type,
    stamp: `${type}:${stats.dev}:${stats.ino}:${mode.toString(8)}${type === "folder" ? "" : `:${times}`}`,
    mode,
    bytes: type === "file" ? Number(stats.size) : 0,
    changedMs: Number(stats.ctimeNs / 1_000n) / 1_000,
    modifiedMs: Number(stats.mtimeNs / 1_000n) / 1_000,
    bornMs: Number(stats.birthtimeNs / 1_000n) / 1_000,
    inode: String(stats.ino),
    whiteout: stats.isCharacterDevice() && stats.rdev === 0n,
  };
}

function typeOf(stats: BigIntStats): EntryType {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "folder";
  return stats.isSymbolicLink() ? "link" : "special";
}

const stampParts = /^(file|folder|link|special):\d+:\d+:([0-7]+)/;

/** Type and mode of the entry that a stamp describes; undefined for `absent`. */
export function readStamp(stamp: string): { readonly type: EntryType; readonly mode: number } | undefined {
  const found = stampParts.exec(stamp);
  // The pattern lists exactly the types.
  return found === null ? undefined : { type: found[1] as EntryType, mode: Number.parseInt(found[2] ?? "0", 8) };
}
