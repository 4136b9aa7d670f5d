/**
 * The view of a server in learning mode (`backend: learn`): all files that its user may read, so that the trace shows
 * its needs. Sockets and other processes are left out: a socket is a way to act, and no mount makes one read-only.
 * Folders of keys are masked by the scope of the order.
 */
import { existsSync, lstatSync, readdirSync, readlinkSync } from "node:fs";
import { isWithin } from "../../../core/isolation/scope-patterns.ts";
import type { Bind } from "./bind-list.ts";
import type { SystemFolder } from "./bubblewrap.ts";
import type { MountStep } from "../parts.ts";

/** Folders that each projection has of its own, or lacks. */
const hidden = ["/proc", "/sys", "/dev", "/run", "/tmp", "/lost+found"];

/** Mebibytes that a server may write in the home folder in this mode. */
const homeLayerMb = 256;

/** Every folder at the top of this machine, and of `/etc` all but what a projection has of its own. */
export function wholeHost(own: readonly string[]): readonly SystemFolder[] {
  const top = entriesOf("/").filter((path) => !hidden.includes(path) && path !== "/etc");
  const etc = entriesOf("/etc").filter((path) => !own.includes(path));
  return [...top.flatMap(folderAt), ...etc.flatMap(folderAt)];
}

/** True iff `wholeHost` shows the path, as far as the server's user may see it. */
export function isOnHost(path: string): boolean {
  return !hidden.some((folder) => isWithin(path, folder));
}

/**
 * The home folder with a layer in memory above it: writes go to that layer and vanish with it, and sockets below cannot
 * be used. `folder` is one of the launcher's own.
 */
export function homeLayer(
  home: string,
  folder: string,
): { readonly mounts: readonly MountStep[]; readonly bind: Bind } {
  const base = `${folder}/home`;
  const [upper, work, shown] = [`${base}/upper`, `${base}/work`, `${base}/shown`];
  return {
    mounts: [
      { kind: "folder", target: base },
      { kind: "tmpfs", target: base, sizeMb: homeLayerMb },
      ...[upper, work, shown].map((target): MountStep => ({ kind: "folder", target })),
      { kind: "overlay", target: shown, lower: home, upper, work },
    ],
    bind: { kind: "bind", source: shown, target: home, access: "write" },
  };
}

function entriesOf(folder: string): readonly string[] {
  return readdirSync(folder).map((name) => (folder === "/" ? `/${name}` : `${folder}/${name}`));
}

function folderAt(path: string): readonly SystemFolder[] {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts?.isSymbolicLink() === true) {
    return existsSync(path) ? [{ kind: "link", path, to: readlinkSync(path) }] : [];
  }
  const plain = facts?.isDirectory() === true || facts?.isFile() === true;
  return plain ? [{ kind: "folder", path }] : [];
}
