/** Reads and compares content: opening a file for writing copies it up unchanged, and that does not count as a change. */
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

/** The whole content of a file as Latin-1; undefined where it is longer than `bytesMax`, no file, or cannot be read. */
export function contentOf(path: string, bytesMax: number): string | undefined {
  const text = attempt(() => withFile(path, (descriptor) => wholeText(descriptor, bytesMax)), undefined);
  return text === false ? undefined : text;
}

function wholeText(descriptor: number, bytesMax: number): string | undefined {
  const buffer = Buffer.allocUnsafe(Math.min(fstatSync(descriptor).size, bytesMax) + 1);
  let bytes = 0;
  while (bytes < buffer.length) {
    const read = readSync(descriptor, buffer, bytes, buffer.length - bytes, bytes);
    if (read === 0) return buffer.toString("latin1", 0, bytes);
    bytes += read;
  }
  return undefined;
}

function withFile<T>(path: string, use: (descriptor: number) => T | false): T | false {
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
