/** One process at a time works on a staged change; a process that ended lets go of it. */
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, ownIdentity } from "./process-owner.ts";

/** Returns a function that unlocks the change, or undefined while a living process holds the lock. */
export function lockChange(folder: string): (() => void) | undefined {
  const path = join(folder, "lock");
  const own = `${path}.${process.pid}`;
  try {
    const { pid, startedAt } = ownIdentity();
    writeFileSync(own, `${pid}\n${startedAt}`, { mode: 0o600 });
    for (let attempt = 0; attempt < 2; attempt += 1) {
      // A link appears together with its content, so that no process takes a lock that is still being written for an
      // abandoned one.
      if (linked(own, path)) return () => rmSync(path, { force: true });
      if (holderLives(path)) return undefined;
      rmSync(path, { force: true });
    }
    return undefined;
  } catch {
    return undefined;
  } finally {
    rmSync(own, { force: true });
  }
}

function linked(own: string, path: string): boolean {
  try {
    linkSync(own, path);
    return true;
  } catch {
    return false;
  }
}

function holderLives(path: string): boolean {
  try {
    const [pid, startedAt] = readFileSync(path, "utf8").split("\n");
    return isAlive({ pid: Number(pid), startedAt: startedAt ?? "" });
  } catch {
    return false;
  }
}
