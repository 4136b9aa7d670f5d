/** Compares two files: opening a file for writing copies it up unchanged, and that does not count as a change. */
import { attempt } from "../attempt.ts";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { compareBytesMax } from "./workspace-limits.ts";

const chunkBytes = 64 * 1024;
/** A pipe that was put in a file's place must not make us wait for a writer. */
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** False too where one of them cannot be read or is larger: content that is not known to be equal counts as changed. */
export function sameContent(left: string, right: string, bytes: number, bytesMax: number = compareBytesMax): boolean {
  if (bytes > bytesMax) return false;
  return attempt(() => withFile(left, (one) => withFile(right, (other) => equal(one, other, bytesMax))), false);
}

function withFile(path: string, use: (descriptor: number) => boolean): boolean {
  const descriptor = openSync(path, readFlags);
  try {
    return fstatSync(descriptor).isFile() && use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function equal(one: number, other: number, bytesMax: number): boolean {
  const left = Buffer.allocUnsafe(chunkBytes);
  const right = Buffer.allocUnsafe(chunkBytes);
  for (let position = 0; position <= bytesMax; position += chunkBytes) {
    const read = readSync(one, left, 0, chunkBytes, position);
    if (readSync(other, right, 0, chunkBytes, position) !== read) return false;
    if (left.compare(right, 0, read, 0, read) !== 0) return false;
    if (read < chunkBytes) return true;
  }
  return false;
}
