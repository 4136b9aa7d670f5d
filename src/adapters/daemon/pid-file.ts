/**
 * The daemon's process, on file: a daemon that answers on no socket (frozen, or its socket is gone) is still found, and
 * can be ended. The lock guarantees a single daemon; this file only names it.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identify, isAlive } from "./process-identity.ts";
import { parseIdentity, parseJson, type ProcessIdentity } from "./protocol.ts";

const fileOf = (home: string): string => join(home, "daemon.pid");

/** Call with the daemon's lock held. Without the file the daemon runs as well, so a failure is none. */
export function writePid(home: string): void {
  try {
    writeFileSync(fileOf(home), `${JSON.stringify(identify(process.pid))}\n`, { mode: 0o600 });
  } catch {
    // A disk that is full or read-only has been reported already where it matters.
  }
}

export function removePid(home: string): void {
  rmSync(fileOf(home), { force: true });
}

/** The daemon of a state folder that runs now; undefined where none does, also where its number went to another process. */
export function runningDaemon(home: string): ProcessIdentity | undefined {
  try {
    const found = parseIdentity(parseJson(readFileSync(fileOf(home), "utf8")));
    if (found === undefined || !isAlive(found.pid)) return undefined;
    return identify(found.pid).startedAt === found.startedAt ? found : undefined;
  } catch {
    return undefined;
  }
}
