/** Which folder counts as the workspace of a client: where it works, unless that folder is the whole of the user's. */
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { attempt } from "../../adapters/attempt.ts";

/**
 * The working directory as a fact of a connection; none for `/`, the home folder and the folders above it. A client that
 * is started from a desktop begins there without any choice of its user, and a workspace is where writes need no question.
 */
export function workFolder(folder: string | undefined, homes = userHomes()): { readonly workingDirectory?: string } {
  if (folder === undefined || folder === "" || !isAbsolute(folder)) return {};
  const holdsHome = ["/", ...homes].some(
    (home) => isWithin(home, folder) || isWithin(trueName(home), trueName(folder)),
  );
  return holdsHome ? {} : { workingDirectory: folder };
}

/** Whether a root that a client reports, a path or a URI, may be its workspace. */
export function isWorkFolder(root: string, homes = userHomes()): boolean {
  if (!/^file:/i.test(root)) return !isAbsolute(root) || workFolder(root, homes).workingDirectory !== undefined;
  const path = attempt(() => fileURLToPath(root), "/");
  return workFolder(path, homes).workingDirectory !== undefined;
}

function userHomes(): readonly string[] {
  return [homedir(), process.env["HOME"] ?? ""].filter((home) => isAbsolute(home));
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (!isAbsolute(way) && way.split(/[\\/]/)[0] !== "..");
}

function trueName(path: string): string {
  return attempt(() => realpathSync(path), path);
}
