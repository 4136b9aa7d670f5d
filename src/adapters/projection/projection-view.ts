/** What a server sees of the file system: its scope, its code and its workspace as binds. */
import { existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import type { ProjectionPlaces } from "../../core/effect-trace.ts";
import type { Scope } from "../../core/scope.ts";
import { isWithin, resolvePatterns } from "../../core/scope-patterns.ts";
import { printable } from "../printable.ts";
import { type Bind, orderBinds } from "./bind-list.ts";
import { hostEtc } from "./host-layout.ts";

export type ViewOrder = {
  readonly scope: Scope;
  readonly home: string;
  readonly workspace: readonly string[];
  readonly code: readonly string[];
  /** How the server sees its workspace; undefined = not at all. */
  readonly workspaceBind: { readonly source: string; readonly target: string; readonly write: boolean } | undefined;
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

export function serverView(order: ViewOrder): View {
  const { scope, home, workspace, code } = order;
  const scratch = ["/tmp", "/var/tmp", home];
  const places: ProjectionPlaces = {
    home,
    workspace,
    code: [...code, "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", ...hostEtc()],
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
  const fromScope = [...named(scope.files.read, "read"), ...named(scope.files.write, "write")];
  const sockets = scope.sockets.flatMap((pattern) =>
    resolvePatterns(pattern, places).flatMap((path) => (isSocket(path) ? [bind(path, path, "read")] : [])),
  );
  const seen = order.workspaceBind;
  const binds: readonly Bind[] = [
    ...scratch.map((target): Bind => ({ kind: "scratch", target })),
    ...code.flatMap((path) => bindsOf(path, "read", home)),
    ...fromScope.filter((one) => !projected(one)),
    ...(seen === undefined ? [] : workspaceBinds(seen, workspace)),
    ...sockets,
    ...masksOf(scope, places),
  ];
  const sources = orderBinds(binds).flatMap((one) => (one.kind === "bind" ? [one.source] : []));
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

function masksOf(scope: Scope, places: ProjectionPlaces): readonly Bind[] {
  return scope.files.deny.flatMap((pattern) =>
    resolvePatterns(pattern, places).flatMap((path): readonly Bind[] => {
      const facts = lstatSync(path, { throwIfNoEntry: false });
      // A link cannot be covered; what it leads to is shown only if something else names it.
      if (facts === undefined || facts.isSymbolicLink()) return [];
      return [{ kind: "mask", target: path, folder: facts.isDirectory() }];
    }),
  );
}

function isSocket(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
}

function absent(pattern: string): string {
  return `\`${printable(pattern, 80)}\` of the scope is not shown to the server: it does not exist or is too wide. Create it or name a folder in it.`;
}
