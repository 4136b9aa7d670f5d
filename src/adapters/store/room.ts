import { rmSync, writeFileSync } from "node:fs";

/** What a disk must take before a log that was refused for want of room goes on: a few calls with their results. */
const roomBytes = 1_048_576;

/**
 * Whether the disk of that file takes more. A transaction that says little is no proof: it fits into pages that the file
 * already has, and the next call is refused again.
 */
export function hasRoom(path: string): boolean {
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
