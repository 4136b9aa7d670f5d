/** Copies the content of one file between descriptors, in turns, with its digest. */
import { type Hash, createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { fromStats } from "./entry-facts.ts";

const chunkBytes = 1024 * 1024;
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
export const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

export type CopiedFile = {
  /** State of the source while it was read; undefined when it changed meanwhile. */
  readonly stamp: string | undefined;
  readonly digest: string;
  readonly bytes: number;
};

/** Reads the file at `from` to its end and writes it to a descriptor. Throws the system's errors. */
export async function copyContent(from: string, to: number): Promise<CopiedFile> {
  const source = openSync(from, readFlags);
  try {
    const before = fromStats(fstatSync(source, { bigint: true }));
    if (before.type !== "file") return { stamp: undefined, digest: "", bytes: 0 };
    const hash = createHash("sha256");
    // One byte more than its size shows the end of the file in the same read.
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, before.bytes + 1));
    let bytes = 0;
    // A file that grows while it is read would never end.
    while (bytes <= before.bytes) {
      const read = readSync(source, buffer, 0, buffer.length, null);
      if (read === 0) break;
      writeAll(to, buffer.subarray(0, read), hash);
      bytes += read;
      if (read === chunkBytes) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    const after = fromStats(fstatSync(source, { bigint: true }));
    const stamp = after.stamp === before.stamp && bytes === before.bytes ? after.stamp : undefined;
    return { stamp, digest: hash.digest("hex"), bytes };
  } finally {
    closeSync(source);
  }
}

function writeAll(to: number, bytes: Buffer, hash: Hash): void {
  hash.update(bytes);
  for (let sent = 0; sent < bytes.length;) sent += writeSync(to, bytes, sent);
}

/** SHA-256 of a file in hex, or undefined where it cannot be read. */
export function digestOf(path: string): string | undefined {
  try {
    const source = openSync(path, readFlags);
    try {
      const hash = createHash("sha256");
      const buffer = Buffer.allocUnsafe(chunkBytes);
      if (!fstatSync(source).isFile()) return undefined;
      for (let read = readSync(source, buffer); read > 0; read = readSync(source, buffer)) {
        hash.update(buffer.subarray(0, read));
      }
      return hash.digest("hex");
    } finally {
      closeSync(source);
    }
  } catch {
    return undefined;
  }
}
