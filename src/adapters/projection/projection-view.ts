/** What a server sees of the file system: its scope, its code and its workspace as binds. */
import { existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import type { ProjectionPlaces } from "../../core/effect-trace.ts";
import type { Scope } from "../../core/scope.ts";
import { isWithin, resolvePatterns } from "../../core/scope-patterns.ts";
import { printable } from "../printable.ts";
import { type Bind, orderBinds } from "./bind-list.ts";
import { hostEtc } from "./host-layout.ts";
import { isOnHost } from "./host-view.ts";

export type ViewOrder = {
  readonly scope: Scope;
  readonly home: string;
  readonly workspace: readonly string[];
  readonly code: readonly string[];
  /** Its own programs, which lie among those of the system where it is one of them. */
  readonly programs?: readonly string[];
  /** How the server sees its workspace; undefined = not at all. */
  readonly workspaceBind: { readonly source: string; readonly target: string; readonly write: boolean } | undefined;
  /** The server sees the machine besides, and is only watched. */
  readonly host?: {
    /** How it sees the home folder; undefined = as an empty one of its own. */
    readonly home: Bind | undefined;
    /** Shut, whatever the scope says: what the gateway itself keeps. */
    readonly shut: readonly string[];
  };
};

export type View = {
  readonly binds: readonly Bind[];
  readonly places: ProjectionPlaces;
  readonly notes: readonly string[];
  /** Paths of the host that are bound, for those who must make them reachable. */
  readonly sources: readonly string[];
};

/** Never bound, whatever a scope says: they hold the sockets and the memory of everything that runs here. */
const forbidden = ["/", "/run", "/var/run", "/proc", "/sys", "/dev", "/etc", "/var", "/root", "/home"];

/** Each projection has its own. */
const kernelFolders = ["/proc", "/sys", "/dev"];

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
  // Mounts cannot come and go with calls: what one tool may touch is shown, and other tools are judged by it.
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
    ...scratch.map((target): Bind => ({ kind: "scratch", target })),
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
  // Where the machine is shown, so are its links, and nothing can be mounted on those.
  const shown = asked.filter((one) => !onHost(one.target) || (realOf(one.target) ?? one.target) === one.target);
  // What is not shown needs no cover, and in a folder that is read-only none could be made.
  const needed = ({ target }: Bind): boolean =>
    host === undefined || onHost(target) || shown.some((one) => one.kind === "bind" && isWithin(target, one.target));
  const masks = masksOf([...scope.files.deny, ...(host?.shut ?? [])], places).filter(needed);
  const binds: readonly Bind[] = [...shown, ...masks];
  // The home folder keeps its owner: it is shown as far as the server's own user may see it.
  const sources = orderBinds(binds).flatMap((one) => (one.kind === "bind" && one !== host?.home ? [one.source] : []));
  return { binds, places, notes, sources: [...new Set(sources)] };
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
      // A link cannot be covered; what it leads to can.
      if (real === undefined || facts === undefined || kernelFolders.some((folder) => isWithin(real, folder)))
        return [];
      return [{ kind: "mask", target: real, folder: facts.isDirectory() }];
    }),
  );
}

/** Undefined where there is nothing, or nothing that this user could reach: then the server cannot either. */
function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function isSocket(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
}

function absent(pattern: string): string {
  return `\`${printable(pattern, 80)}\` of the scope is not shown to the server: it does not exist or is too wide. Create it or name a folder in it.`;
}
