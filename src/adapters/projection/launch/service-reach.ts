/**
 * Paths that the service user can reach by itself: where no mapping of file owners exists, it cannot reach files that
 * only root may read.
 */
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { err, ok, type Result } from "../../../core/result.ts";
import { printable } from "../../net/printable.ts";
import type { ServiceUser } from "./support.ts";

/** The error is a sentence that names the first path that the user cannot reach. */
export function reachable(paths: readonly string[], user: ServiceUser): Result<void, string> {
  const closed = paths
    .filter((path) => existsSync(path))
    .map((path) => closedAt(path, user))
    .find((path) => path !== undefined);
  if (closed === undefined) return ok(undefined);
  const place = printable(closed, 80);
  return err(
    `Servers of root run as uid ${user.uid}, to whom \`${place}\` is closed: run the gateway as an ordinary user, or install bubblewrap and koffi.`,
  );
}

/** Whether a folder around the path is closed to the user, so that neither the path nor a mount on it can be reached. */
export function isBehindClosed(path: string, user: ServiceUser): boolean {
  for (let folder = dirname(path); folder !== "/"; folder = dirname(folder)) {
    if (existsSync(folder) && !may(folder, user, 1)) return true;
  }
  return false;
}

function closedAt(path: string, user: ServiceUser): string | undefined {
  if (!may(path, user, 4)) return path;
  for (let folder = dirname(path); folder !== "/"; folder = dirname(folder)) {
    if (!may(folder, user, 1)) return folder;
  }
  return undefined;
}

/** One of the three rights of a file mode (4 read, 1 pass), for its owner, its group or other users. */
function may(path: string, { uid, gid }: ServiceUser, right: number): boolean {
  const facts = statSync(path);
  const shift = facts.uid === uid ? 6 : facts.gid === gid ? 3 : 0;
  return ((facts.mode >> shift) & right) !== 0;
}
