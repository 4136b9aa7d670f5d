/**
 * Finds the place where this process may make control groups (cgroups(7)): both versions, root or a delegated part of
 * the tree.
 */
import { accessSync, constants, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const mountPoint = "/sys/fs/cgroup";

/** Folders in which a group can be made, by controller. In version 2 both are one folder. */
export type CgroupBase = { readonly version: "v1" | "v2"; readonly memory: string; readonly pids: string };

/** Version of the control groups that this process can make; `none` where it can make none. */
export function cgroupKind(): "v2" | "v1" | "none" {
  return cgroupBase()?.version ?? "none";
}

/** The folders for new control groups, version 2 first; undefined where none can be made. */
export function cgroupBase(): CgroupBase | undefined {
  const own = ownGroups();
  return versionTwo(own.get("")) ?? versionOne(own);
}

/** Path of this process's group by controller; version 2 is the empty name. */
function ownGroups(): ReadonlyMap<string, string> {
  try {
    const lines = readFileSync("/proc/self/cgroup", "utf8").trim().split("\n");
    return new Map(
      lines.flatMap((line) => {
        const [, controllers = "", path = "/"] = line.split(":");
        return controllers.split(",").map((name) => [name, path] as const);
      }),
    );
  } catch {
    return new Map();
  }
}

/**
 * The nearest group above our own that we may write to and that hands both controllers down. Our own cannot: a group
 * with processes in it has no children with controllers.
 */
function versionTwo(path: string | undefined): CgroupBase | undefined {
  if (path === undefined || !existsSync(join(mountPoint, "cgroup.controllers"))) return undefined;
  for (let folder = join(mountPoint, path, ".."); folder.startsWith(mountPoint); folder = dirname(folder)) {
    if (!writable(join(folder, "cgroup.procs"))) return undefined;
    if (handsDown(folder)) return { version: "v2", memory: folder, pids: folder };
  }
  return undefined;
}

function handsDown(folder: string): boolean {
  const control = join(folder, "cgroup.subtree_control");
  const complete = (): boolean => {
    const names = readFileSync(control, "utf8").trim().split(/\s+/);
    return names.includes("memory") && names.includes("pids");
  };
  try {
    if (complete()) return true;
    writeFileSync(control, "+memory +pids");
    return complete();
  } catch {
    return false;
  }
}

function versionOne(own: ReadonlyMap<string, string>): CgroupBase | undefined {
  const folder = (controller: string): string | undefined =>
    [join(mountPoint, controller, own.get(controller) ?? "/"), join(mountPoint, controller)].find((path) =>
      writable(join(path, "cgroup.procs")),
    );
  const memory = folder("memory");
  const pids = folder("pids");
  return memory === undefined || pids === undefined ? undefined : { version: "v1", memory, pids };
}

function writable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
