import { lstatSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Like `mkdir -p`, with this mode for each folder that is new. Node's own recursive form never returns in file systems
 * that answer ENOENT, such as /proc or what an automounter keeps.
 */
export function makeFolder(folder: string, mode = 0o777): void {
  if (lstatSync(folder, { throwIfNoEntry: false }) !== undefined) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolder(parent, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) throw error;
  }
}
