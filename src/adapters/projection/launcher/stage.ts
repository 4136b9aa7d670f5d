/**
 * The step of a root caller before it gives up its rights: shows the service user the paths that a server needs, under
 * their own names, in a mount namespace of its own. Where the file system allows it, files of root are seen there as
 * files of the service user (mount_setattr(2), MOUNT_ATTR_IDMAP), so that a scope means the same for root as for any
 * other user: the server may read and write what its scope names, and never has root's rights.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { err, ok, type Result } from "../../../core/result.ts";
import { isWithin } from "../../../core/isolation/scope-patterns.ts";
import { printable } from "../../net/printable.ts";
import { makeTmpfs } from "./mounts.ts";
import type { LauncherNative } from "./native-calls.ts";

export type Owner = { readonly uid: number; readonly gid: number };

const skeletonMb = 4;

/**
 * Paths below a folder that other users may not enter (`/root`) are shown in an empty copy of that folder. An error is
 * a sentence. Paths that keep their owner are left as they are: the server then has the rights of any other user.
 */
export async function stagePaths(
  native: LauncherNative,
  paths: readonly string[],
  owner: Owner,
): Promise<Result<void, string>> {
  const wide = [...new Set(paths)].toSorted((one, other) => one.length - other.length);
  const namespace = await ownerNamespace(owner);
  // All of them are taken before the first folder is covered.
  const trees = wide.map((path) => ({ path, folder: statSync(path).isDirectory(), tree: native.cloneTree(path) }));
  for (const cover of closedFolders(wide, (path) => statSync(path).mode)) {
    const made = makeTmpfs(native, cover, `mode=0755,size=${skeletonMb}m`);
    if (!made.ok) return made;
  }
  for (const { path, folder, tree } of trees) {
    if (tree < 0) return err(`${shown(path)} could not be shown to the service user (error ${-tree}).`);
    const mapped = namespace === undefined ? -1 : native.mapOwners(tree, namespace);
    if (mapped !== 0) native.hardenTree(tree);
    if (folder) mkdirSync(path, { recursive: true });
    else makeFile(path);
    const fault = native.attachTree(tree, path);
    closeSync(tree);
    if (fault !== 0) return err(`${shown(path)} could not be shown to the service user (error ${fault}).`);
  }
  if (namespace !== undefined) closeSync(namespace);
  return ok(undefined);
}

/** The widest folder above each path that other users may not enter; none of them contains another. */
export function closedFolders(paths: readonly string[], modeOf: (path: string) => number): readonly string[] {
  const closed = new Set<string>();
  for (const path of paths) {
    const parts = path.split("/").slice(1, -1);
    const above = parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`);
    const first = above.find((folder) => (modeOf(folder) & 0o001) === 0);
    if (first !== undefined) closed.add(first);
  }
  return [...closed].filter((one) => ![...closed].some((other) => other !== one && isWithin(one, other)));
}

function makeFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  try {
    writeFileSync(path, "", { flag: "wx" });
  } catch {
    // It is there: nothing covered it.
  }
}

/** Makes a user namespace for its id mapping only: root on disk is the service user here, and vice versa. */
async function ownerNamespace({ uid, gid }: Owner): Promise<number | undefined> {
  const holder = spawn("/usr/bin/unshare", ["--user", "--", "/bin/sh", "-c", "echo; read _"], {
    stdio: ["pipe", "pipe", "ignore"],
    env: {},
  });
  try {
    await Promise.race([once(holder.stdout, "data"), once(holder, "exit")]);
    writeFileSync(`/proc/${holder.pid}/uid_map`, mapping(uid));
    writeFileSync(`/proc/${holder.pid}/gid_map`, mapping(gid));
    return openSync(`/proc/${holder.pid}/ns/user`, "r");
  } catch {
    return undefined;
  } finally {
    holder.kill("SIGKILL");
  }
}

/** All other ids map to themselves, so that the files of other users keep their owners. */
export function mapping(id: number): string {
  const others = id > 1 ? [`1 1 ${id - 1}`] : [];
  return [`0 ${id} 1`, ...others, `${id} 0 1`].join("\n");
}

function shown(path: string): string {
  return `\`${printable(path, 80)}\``;
}
