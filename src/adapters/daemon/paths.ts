/**
 * Paths of the daemon's socket and state. Security rests on the socket's folder: Node cannot ask the kernel for the
 * peer of a unix socket, so the folder must be closed to other users.
 */
import { hash } from "node:crypto";
import { chmodSync, lstatSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Result, err, ok } from "../../core/result.ts";
import { makeFolder } from "../make-folder.ts";
import { socketPathBytesMax } from "./daemon-limits.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export type DaemonPaths = {
  /** State folder: event log, keys, the daemon's log and lock. */
  readonly home: string;
  /** Folder of the socket. */
  readonly runtime: string;
  readonly socket: string;
  readonly log: string;
};

/** `SLUICEGATE_HOME`, else the XDG state folder. */
export function stateHome(environment: Environment): string {
  const own = environment["SLUICEGATE_HOME"];
  return own !== undefined && own !== "" ? resolve(own) : usualHome(environment);
}

function usualHome(environment: Environment): string {
  const state = environment["XDG_STATE_HOME"];
  return join(state !== undefined && state !== "" ? state : join(homedir(), ".local", "state"), "sluicegate");
}

/**
 * Folder of the socket. A client started from a desktop may lack `XDG_RUNTIME_DIR` where one started from a shell has
 * it; both must reach the same daemon or labels would not cross servers, hence the guess of `/run/user/UID`. A state
 * folder that `SLUICEGATE_HOME` names has a socket folder of its own: one daemon serves one log.
 */
export function runtimeFolder(environment: Environment, uid: number): string {
  const own = environment["SLUICEGATE_RUNTIME_DIR"];
  if (own !== undefined && own !== "") return resolve(own);
  const home = stateHome(environment);
  const mark = home === usualHome(environment) ? "" : `-${hash("sha256", home).slice(0, 8)}`;
  for (const base of [environment["XDG_RUNTIME_DIR"], `/run/user/${uid}`]) {
    if (base !== undefined && base !== "" && isOwnFolder(base, uid)) return join(base, `sluicegate${mark}`);
  }
  const shared = join(tmpdir(), `sluicegate-${uid}${mark}`);
  return Buffer.byteLength(shared) + 12 > socketPathBytesMax ? `/tmp/sluicegate-${uid}${mark}` : shared;
}

/** Finds the paths and makes both folders safe to use; the error is a sentence for the user. */
export function daemonPaths(environment: Environment): Result<DaemonPaths, string> {
  const uid = process.getuid?.();
  if (uid === undefined) {
    return err("Sluicegate's daemon needs Linux or macOS: on Windows run it inside WSL.");
  }
  const home = stateHome(environment);
  const runtime = runtimeFolder(environment, uid);
  const socket = join(runtime, "daemon.sock");
  if (Buffer.byteLength(socket) > socketPathBytesMax) {
    return err(
      `The socket path is over ${socketPathBytesMax} bytes: set SLUICEGATE_RUNTIME_DIR to a shorter folder than ${shorten(runtime)}.`,
    );
  }
  const folders = [
    [home, "SLUICEGATE_HOME"],
    [runtime, "SLUICEGATE_RUNTIME_DIR"],
  ] as const;
  for (const [folder, variable] of folders) {
    const made = makePrivate(folder, uid, variable);
    if (!made.ok) return made;
  }
  return ok({ home, runtime, socket, log: join(home, "daemon.log") });
}

/**
 * Creates a folder with mode 0700 or checks an existing one: a real folder that this user owns and no other user can
 * enter.
 */
function makePrivate(folder: string, uid: number, variable: string): Result<void, string> {
  try {
    makeFolder(resolve(folder), 0o700);
    // lstat, not stat: in a shared temporary folder another user could plant a link to a folder of this user.
    const found = lstatSync(folder);
    if (!found.isDirectory() || found.uid !== uid) {
      return err(`${shorten(folder)} is not a folder of this user: remove it or set ${variable} to another one.`);
    }
    if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700);
    return ok(undefined);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return err(
      `${shorten(folder)} cannot be made (${code}): set SLUICEGATE_HOME and SLUICEGATE_RUNTIME_DIR to writable folders, or use \`run --solo\`.`,
    );
  }
}

function isOwnFolder(folder: string, uid: number): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found !== undefined && found.isDirectory() && found.uid === uid;
}

/** Keeps sentences short whatever the path. */
function shorten(path: string): string {
  return path.length <= 80 ? path : `...${path.slice(-77)}`;
}
