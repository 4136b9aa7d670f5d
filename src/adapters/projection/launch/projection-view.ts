/** The file system of a server as binds: its scope, its code and its workspace. */
import { attempt } from "../../attempt.ts";
import { existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import type { ProjectionPlaces } from "../../../core/isolation/effect-trace.ts";
import type { Scope } from "../../../core/isolation/scope.ts";
import { isWithin, resolvePatterns } from "../../../core/isolation/scope-patterns.ts";
import { printable } from "../../net/printable.ts";
import { type Bind, orderBinds } from "./bind-list.ts";
import type { Trial } from "../parts.ts";
import { hostEtc } from "./host-layout.ts";
import { isOnHost } from "./host-view.ts";

export type ViewOrder = {
  readonly scope: Scope;
  readonly home: string;
  readonly workspace: readonly string[];
  readonly code: readonly string[];
  /** The server's own programs, which may be programs of the system. */
  readonly programs?: readonly string[];
  /** Bind that shows the workspace to the server; undefined = the server has none. */
  readonly workspaceBind: { readonly source: string; readonly target: string; readonly write: boolean } | undefined;
  /** Folders that are shown as the home folder and as `/tmp`, to be written; undefined = such in memory. */
  readonly trial?: Trial | undefined;
  /** Set if the server is only watched: it also sees the files of the machine. */
  readonly host?: {
    /** Bind that shows the home folder; undefined = an empty one of its own. */
    readonly home: Bind | undefined;
    /** Whether the server's user cannot reach a path for the modes of the folders around it. */
    readonly isClosed?: (path: string) => boolean;
    /** Folders of the gateway's own state, always masked, whatever the scope says. */
    readonly shut: readonly string[];
  };
};

export type View = {
  readonly binds: readonly Bind[];
  readonly places: ProjectionPlaces;
  readonly notes: readonly string[];
  /** Paths of the host that are bound, for the step that makes them reachable. */
  readonly sources: readonly string[];
};

/** Never bound, whatever a scope says: they hold the sockets and the memory of all programs of this machine. */
const forbidden = ["/", "/run", "/var/run", "/proc", "/sys", "/dev", "/etc", "/var", "/root", "/home"];

/** Folders of the kernel, which each projection has of its own. */
const kernelFolders = ["/proc", "/sys", "/dev"];

/** Computes the binds of a server, its places for the trace, and notes on paths that do not exist. */
export function serverView(order: ViewOrder): View {
  const { scope, home, workspace, code, host } = order;
  const scratch = ["/tmp", "/var/tmp", ...(host?.home === undefined ? [home] : [])];
  const places: ProjectionPlaces = {
    home,
    workspace,
    code: [...code, ...(order.programs ?? []), "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", ...hostEtc()],
    scratch,
  };
  const notes: string[] = [];
  const named = (patterns: readonly string[], access: "read" | "write"): readonly Bind[] =>
    patterns.flatMap((pattern) => {
      const paths = resolvePatterns(pattern, places);
      const found = paths.flatMap((path) => bindsOf(path, access, home));
      if (found.length === 0) notes.push(absent(pattern));
      return found;
    });
  // The workspace is shown as its mode says: a path in it named by the scope is there already, and stays a projection.
  const projected = (bind: Bind): boolean =>
    order.workspaceBind !== undefined && workspace.some((folder) => isWithin(bind.target, folder));
  // Mounts cannot come and go with calls: paths that any tool may use are shown, and the policy judges the other tools'
  // use of them.
  const ofTools = (key: "read" | "write"): readonly string[] => [...scope.tools.values()].flatMap((tool) => tool[key]);
  const fromScope = [
    ...named([...scope.files.read, ...ofTools("read")], "read"),
    ...named([...scope.files.write, ...ofTools("write")], "write"),
  ];
  const sockets = scope.sockets.flatMap((pattern) =>
    resolvePatterns(pattern, places).flatMap((path) => (isSocket(path) ? [bind(path, path, "read")] : [])),
  );
  const seen = order.workspaceBind;
  const asked: readonly Bind[] = [
    ...scratch.map((target) => scratchBind(target, order)),
    ...(host?.home === undefined ? [] : [host.home]),
    ...code.flatMap((path) => bindsOf(path, "read", home)),
    ...fromScope.filter((one) => !projected(one)),
    ...(seen === undefined ? [] : workspaceBinds(seen, workspace)),
    ...sockets,
  ];
  const onHost = (path: string): boolean =>
    host !== undefined &&
    ((isOnHost(path) && !scratch.some((folder) => isWithin(path, folder))) ||
      (host.home !== undefined && isWithin(path, home)));
  // Where the machine is shown, its links are shown too, and nothing can be mounted on a link.
  const shown = asked.filter((one) => !onHost(one.target) || (realOf(one.target) ?? one.target) === one.target);
  // A path that is not shown needs no cover, and in a read-only or closed folder none could be made. What is bound by
  // itself may be reached although the folders around it are closed.
  const needed = ({ target }: Bind): boolean => {
    if (host === undefined) return true;
    const around = shown.filter((one) => one.kind === "bind" && isWithin(target, one.target));
    if (around.some((one) => one !== host.home)) return true;
    return host.isClosed?.(target) !== true && (onHost(target) || around.length > 0);
  };
  const masks = masksOf([...scope.files.deny, ...(host?.shut ?? [])], places)
    .filter(needed)
    .map((mask) => (host === undefined ? mask : emptied(mask, code)));
  const binds: readonly Bind[] = [...shown, ...masks];
  // The home folder keeps its owner: it is shown as far as the server's own user may see it.
  const sources = orderBinds(binds).flatMap((one) => (one.kind === "bind" && one !== host?.home ? [one.source] : []));
  return { binds, places, notes, sources: [...new Set(sources)] };
}

/**
 * A folder that a watched server does not see, but for its own code: packages that were installed for servers are in the
 * state folder. A mask would cover them, too.
 */
function emptied(mask: Bind, code: readonly string[]): Bind {
  const holdsCode = code.some((path) => path !== mask.target && isWithin(path, mask.target));
  return holdsCode ? { kind: "scratch", target: mask.target } : mask;
}

function scratchBind(target: string, { trial, home }: ViewOrder): Bind {
  if (trial !== undefined && target === home) return bind(trial.home, target, "write");
  return trial !== undefined && target === "/tmp"
    ? bind(trial.temporary, target, "write")
    : { kind: "scratch", target };
}

/** The workspace under its real name, and under those that links give it. */
function workspaceBinds(seen: NonNullable<ViewOrder["workspaceBind"]>, names: readonly string[]): readonly Bind[] {
  const access = seen.write ? "write" : "read";
  return [...new Set([seen.target, ...names])].map((target) => bind(seen.source, target, access));
}

function bindsOf(path: string, access: "read" | "write", home: string): readonly Bind[] {
  if (!existsSync(path)) return [];
  const real = realpathSync(path);
  // A link is shown under both names: programs ask for the one and print the other.
  return [...new Set([path, real])]
    .filter(
      (target) =>
        !forbidden.includes(target) && !forbidden.includes(real) && target !== home && !isWithin(home, target),
    )
    .map((target) => bind(real, target, access));
}

function bind(source: string, target: string, access: "read" | "write"): Bind {
  return { kind: "bind", source, target, access };
}

function masksOf(patterns: readonly string[], places: ProjectionPlaces): readonly Bind[] {
  return patterns.flatMap((pattern) =>
    resolvePatterns(pattern, places).flatMap((path): readonly Bind[] => {
      const real = realOf(path);
      const facts = real === undefined ? undefined : lstatSync(real, { throwIfNoEntry: false });
      // A link cannot be covered, but its target can.
      if (real === undefined || facts === undefined || kernelFolders.some((folder) => isWithin(real, folder)))
        return [];
      return [{ kind: "mask", target: real, folder: facts.isDirectory() }];
    }),
  );
}

/** Real path; undefined if it does not exist or this user cannot reach it: then the server cannot reach it either. */
function realOf(path: string): string | undefined {
  return attempt(() => realpathSync(path), undefined);
}

function isSocket(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
}

function absent(pattern: string): string {
  return `\`${printable(pattern, 80)}\` of the scope is not shown to the server: it does not exist or is too wide. Create it or name a folder in it.`;
}
