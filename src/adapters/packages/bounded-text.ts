/** Small files that other programs wrote: bounded, and never a pipe or a device. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { attempt } from "../attempt.ts";

/** Undefined for what does not exist, cannot be read, is larger, or is not an ordinary file. */
export function boundedText(path: string, bytesMax: number): string | undefined {
  return attempt(() => {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const facts = fstatSync(descriptor);
      if (!facts.isFile() || facts.size > bytesMax) return undefined;
      const bytes = Buffer.alloc(facts.size);
      const length = readSync(descriptor, bytes, 0, facts.size, 0);
      return bytes.subarray(0, length).toString("utf8");
    } finally {
      closeSync(descriptor);
    }
  }, undefined);
}
