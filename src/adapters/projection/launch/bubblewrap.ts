/**
 * The arguments of bubblewrap (bwrap(1), 0.5 or later) for one projection, as a pure function: the root is empty except
 * for the paths that are named here. `/`, `/run` and `/sys` are never bound: sockets of the container engine, of the
 * bus and of key agents are simply not there.
 */
import { type Bind, orderBinds } from "./bind-list.ts";

/** A system folder of the host: a link to recreate, or a folder to bind. */
export type SystemFolder =
  | { readonly kind: "link"; readonly path: string; readonly to: string }
  | { readonly kind: "folder"; readonly path: string };

export type BubblewrapPlan = {
  readonly system: readonly SystemFolder[];
  /** Files and folders of `/etc` that exist on the host and hold no secret. */
  readonly etc: readonly string[];
  /** Files made by the gateway: their current path, and their path for the server. */
  readonly files: readonly { readonly source: string; readonly target: string }[];
  readonly binds: readonly Bind[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
  /** User and group ids that the server sees as its own; outside of the namespace they are those of the caller. */
  readonly uid: number;
  readonly gid: number;
  /** Descriptor of the filter program; closed by bubblewrap. */
  readonly filterDescriptor: number | undefined;
  /** Mebibytes of each private folder in memory. */
  readonly scratchMb: number;
};

/** The folder of POSIX shared memory (shm_overview(7)). */
const sharedFolder = "/dev/shm";

/** The private folders in memory of a projection with these binds, each of the plan's size. */
export function inMemory(binds: readonly Bind[]): readonly string[] {
  return [sharedFolder, ...binds.flatMap(({ kind, target }) => (kind === "scratch" ? [target] : []))];
}

function tmpfs(target: string, sizeMb: number): readonly string[] {
  return ["--size", String(sizeMb * 1_048_576), "--tmpfs", target];
}

/** All options before the command; none of them should appear in a list of processes. */
export function bubblewrapOptions(plan: BubblewrapPlan): readonly string[] {
  return [
    // The network namespace is the launcher's, where the broker's sockets are; or none of its own (`open`).
    ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"],
    ["--uid", String(plan.uid), "--gid", String(plan.gid), "--hostname", "projection"],
    ["--die-with-parent", "--new-session", "--cap-drop", "ALL"],
    plan.system.flatMap(systemOptions),
    plan.etc.flatMap((path) => ["--ro-bind", path, path]),
    plan.files.flatMap(({ source, target }) => ["--ro-bind", source, target]),
    // Both are filesystems in memory, which bubblewrap makes without a size. Devices stay usable.
    ["--proc", "/proc", "--dev", "/dev", ...tmpfs(sharedFolder, plan.scratchMb), "--remount-ro", "/dev"],
    // Bubblewrap covers it only where the caller could not write to it anyway: core_pattern runs programs as root.
    ["--ro-bind", "/proc/sys", "/proc/sys"],
    orderBinds(plan.binds).flatMap((bind) => bindOptions(bind, plan.scratchMb)),
    ["--remount-ro", "/", "--clearenv"],
    Object.entries(plan.environment).flatMap(([name, value]) => ["--setenv", name, value]),
    ["--chdir", plan.workingDirectory],
    plan.filterDescriptor === undefined ? [] : ["--seccomp", String(plan.filterDescriptor)],
  ].flat();
}

/** Encodes options for `--args FD`: texts that end in NUL. The command stays outside, as its last arguments. */
export function encodeOptions(options: readonly string[]): Uint8Array {
  return new TextEncoder().encode(options.map((one) => `${one}\0`).join(""));
}

function systemOptions(folder: SystemFolder): readonly string[] {
  return folder.kind === "link" ? ["--symlink", folder.to, folder.path] : ["--ro-bind", folder.path, folder.path];
}

function bindOptions(bind: Bind, scratchMb: number): readonly string[] {
  switch (bind.kind) {
    case "bind":
      return [bind.access === "write" ? "--bind" : "--ro-bind", bind.source, bind.target];
    case "scratch":
      return tmpfs(bind.target, scratchMb);
    case "mask":
      // An empty folder or file in its place, which cannot be written either.
      return bind.folder
        ? ["--perms", "0000", "--tmpfs", bind.target, "--remount-ro", bind.target]
        : ["--ro-bind", "/dev/null", bind.target];
  }
}
