/**
 * Folders for temporary files that one projection needs, and their removal when the gateway could not do it: each is
 * on record in the state folder with the process that made it.
 */
import { attempt } from "../attempt.ts";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Result, err, ok } from "../../core/result.ts";
import { isWithin } from "../../core/isolation/scope-patterns.ts";
import { isAlive, ownIdentity } from "./commit/process-owner.ts";
import { reasonOf, short } from "./system-reason.ts";

const scratchPrefix = "sluicegate-";

/**
 * A new private folder outside of the workspace. Not in the state folder: where the gateway is root and its servers are
 * not, they could not enter it.
 */
export function makeScratch(workspace: string, stateFolder: string): Result<string, string> {
  try {
    const temporary = realpathSync(tmpdir());
    if (isWithin(temporary, workspace)) {
      return err(
        `The workspace ${short(workspace)} holds the folder for temporary files, so there is no place beside it for a projection: start the client in the folder of one project.`,
      );
    }
    const base = mkdtempSync(join(temporary, scratchPrefix));
    rememberScratch(stateFolder, base);
    return ok(base);
  } catch (cause) {
    return err(
      `No folder for temporary files could be made in ${short(tmpdir())} (${reasonOf(cause)}), so the workspace has no projection: make it writable, or set TMPDIR to one that is.`,
    );
  }
}

function recordsFolder(stateFolder: string): string {
  return join(stateFolder, "projections");
}

function rememberScratch(stateFolder: string, base: string): void {
  mkdirSync(recordsFolder(stateFolder), { recursive: true, mode: 0o700 });
  const { pid, startedAt } = ownIdentity();
  writeFileSync(join(recordsFolder(stateFolder), basename(base)), `${pid}\n${startedAt}\n${base}`, { mode: 0o600 });
}

/** Deletes the record of a scratch folder, but not the folder itself. */
export function forgetScratch(stateFolder: string, base: string): void {
  rmSync(join(recordsFolder(stateFolder), basename(base)), { force: true });
}

/** Removes what projections of ended gateways left in the folder for temporary files. */
export function sweepScratch(stateFolder: string): void {
  for (const name of namesIn(recordsFolder(stateFolder))) {
    try {
      const [pid, startedAt, base] = readFileSync(join(recordsFolder(stateFolder), name), "utf8").split("\n");
      if (isAlive({ pid: Number(pid), startedAt: startedAt ?? "" })) continue;
      // The record is in the gateway's private folder; the name is still checked before anything is removed.
      if (base !== undefined && basename(base) === name && name.startsWith(scratchPrefix) && isOwn(base)) {
        rmSync(base, { recursive: true, force: true });
      }
      forgetScratch(stateFolder, name);
    } catch {
      // Another gateway may have swept it at the same time; what remains is tried again next time.
    }
  }
}

/**
 * True if this user owns the folder. After the gateway's folder is gone, another user may create a folder of that name
 * and swap its content during the removal.
 */
function isOwn(base: string): boolean {
  const facts = lstatSync(base, { throwIfNoEntry: false });
  return facts?.isDirectory() === true && facts.uid === process.getuid?.();
}

function namesIn(folder: string): readonly string[] {
  return attempt(() => readdirSync(folder), []);
}
