/** The parts of a projection that are fixed before its first process runs. */
import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { ProjectionPlaces } from "../../../core/isolation/effect-trace.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import { isWithin } from "../../../core/isolation/scope-patterns.ts";
import { hostsText, nsswitchText, resolvConfText } from "../../egress/name-files.ts";
import type { LimitScope } from "../../../core/isolation/scope.ts";
import { bubblewrapOptions, inMemory } from "./bubblewrap.ts";
import { bubblewrapCommand, resourceLimits } from "./chain.ts";
import { denyFilter } from "../launcher/filter.ts";
import type { Bind } from "./bind-list.ts";
import { hostEtc, hostSystem, spareFolder } from "./host-layout.ts";
import { homeLayer, isOnHost, wholeHost } from "./host-view.ts";
import type { LaunchOrder } from "./launch-order.ts";
import type { LaunchWorkspace } from "./workspace.ts";
import { launcherDescriptors, type LauncherCommand } from "../launcher/plan.ts";
import { openFilesMax } from "../session/kernel-limits.ts";
import type { InMemory } from "../session/memory-folders.ts";
import type { MountStep } from "../parts.ts";
import { serverView, type View } from "./projection-view.ts";
import type { ServerCode } from "./server-code.ts";
import { passedVariables, serverEnvironment } from "./server-environment.ts";
import { isBehindClosed, reachable } from "./service-reach.ts";

/** Mebibytes of each private folder: it is memory, so it takes no more than the server may have. */
const scratchMbMax = 256;

function scratchMbOf({ memoryMb }: LimitScope): number {
  return Math.max(1, Math.min(scratchMbMax, memoryMb));
}

export type Prepared = {
  readonly filter: Uint8Array;
  /** Options of bubblewrap, which hold the server's environment: never in an argument list. */
  readonly options: readonly string[];
  readonly command: LauncherCommand;
  /** Programs that run between the launcher and the server. */
  readonly programsBefore: number;
  readonly folder: string;
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** Mounts in the launcher's namespaces: the workspace and other layers. */
  readonly mounts: readonly MountStep[];
  readonly sources: readonly string[];
  readonly places: ProjectionPlaces;
  readonly inMemory: InMemory;
  readonly notes: readonly string[];
};

export function prepareProjection(
  plan: LaunchOrder,
  code: ServerCode,
  { prepared: workspace, folders, notes }: LaunchWorkspace,
): Result<Prepared, string> {
  const { order, support, home, target } = plan;
  const { scope } = order;
  const open = scope.net.mode === "open";
  const filter = filterOf(plan);
  if (!filter.ok) return filter;
  const watched =
    order.mode === "learn" ? hostOf(plan, [...code.paths, ...folders], workspace?.mounts ?? []) : undefined;
  const view = serverView({
    scope,
    home,
    workspace: folders,
    code: code.paths,
    programs: code.programs,
    workspaceBind: workspace?.bind,
    trial: plan.trial,
    ...(watched === undefined ? {} : { host: { home: watched.bind, shut: [plan.stateFolder], ...closedTo(plan) } }),
  });
  const mounts = [...(workspace?.mounts ?? []), ...(watched?.mounts ?? [])];
  const targets = mounts.map((step) => step.target);
  const folder = watched === undefined ? spareFolder([...view.sources, ...targets]) : watched.folder;
  if (folder === undefined) return err("No folder is free for the projection's own files. Create an empty /mnt.");
  const user = { name: plan.support.root ? "nobody" : plan.user, ...idsOf(plan), home };
  const place = { home, user: user.name, programFolders: code.programFolders };
  const environment = serverEnvironment(target.env, passedVariables(order, target.named), place);
  const files = ownFiles(user, open).map(({ name, text }) => ({
    path: `${folder}/${name}`,
    text,
    target: `/etc/${name}`,
  }));
  const options = bubblewrapOptions({
    system: watched === undefined ? hostSystem() : wholeHost(files.map((file) => file.target)),
    etc: watched === undefined ? hostEtc() : [],
    files: [
      ...files.map((file) => ({ source: file.path, target: file.target })),
      ...(open && existsSync("/etc/resolv.conf") ? [{ source: "/etc/resolv.conf", target: "/etc/resolv.conf" }] : []),
    ],
    binds: view.binds,
    environment: environment.variables,
    workingDirectory: workingDirectory(plan, view, code, folders),
    uid: user.uid,
    gid: user.gid,
    filterDescriptor: launcherDescriptors.filter,
    scratchMb: scratchMbOf(scope.limits),
  });
  const { unshare = "", bwrap = "", prlimit } = support.programs;
  const limits = resourceLimits(scope.limits, {
    openFilesMax: openFilesMax(),
    countProcesses: support.cgroup === "none",
  });
  return ok({
    filter: filter.value,
    options,
    command: bubblewrapCommand({ unshare, bwrap, prlimit }, limits, [code.file, ...code.args]),
    programsBefore: (prlimit === undefined ? 1 : 2) + code.starters,
    folder,
    files,
    mounts,
    sources: view.sources,
    places: view.places,
    inMemory: { folders: inMemory(view.binds), sizeMb: scratchMbOf(scope.limits) },
    notes: [...notes, ...view.notes, ...environment.notes],
  });
}

/** Root's files keep their owners in learning mode, so what is closed to the service user stays closed without a cover. */
function closedTo({ support, serviceUser }: LaunchOrder): { readonly isClosed?: (path: string) => boolean } {
  return support.root ? { isClosed: (path) => isBehindClosed(path, serviceUser) } : {};
}

function filterOf({ order, support }: LaunchOrder): ReturnType<typeof denyFilter> {
  const { net, sockets } = order.scope;
  // Names of abstract sockets belong to the network namespace: in that of the host they are other programs' sockets.
  // And a server that sees the whole machine sees its sockets too.
  const unix = (net.mode !== "open" || sockets.length > 0) && order.mode !== "learn";
  const hiddenMemory = support.cgroup !== "none";
  return denyFilter(support.architecture, { unix, internet: true, sessions: true, hiddenMemory });
}

/** Ids that the server sees as its own: those of the user that it runs as. */
function idsOf(plan: LaunchOrder): { readonly uid: number; readonly gid: number } {
  if (plan.support.root) return plan.serviceUser;
  return { uid: process.getuid?.() ?? 1_000, gid: process.getgid?.() ?? 1_000 };
}

function ownFiles(
  user: { readonly name: string; readonly uid: number; readonly gid: number; readonly home: string },
  open: boolean,
): readonly { readonly name: string; readonly text: string }[] {
  const { name, uid, gid, home } = user;
  return [
    { name: "passwd", text: `${name}:x:${uid}:${gid}::${home}:/bin/sh\n` },
    { name: "group", text: `${name}:x:${gid}:\n` },
    { name: "hosts", text: hostsText },
    { name: "nsswitch.conf", text: nsswitchText },
    ...(open ? [] : [{ name: "resolv.conf", text: resolvConfText }]),
  ];
}

/**
 * View of the home folder for a server that is only watched, and the folder of the projection's own files in that case.
 */
function hostOf(
  { home, support, serviceUser }: LaunchOrder,
  paths: readonly string[],
  mounts: readonly MountStep[],
): { readonly folder: string | undefined; readonly bind: Bind | undefined; readonly mounts: readonly MountStep[] } {
  const shown = wholeHost([]).map(({ path }) => path);
  const folder = spareFolder([...shown, ...paths, home, ...mounts.map((step) => step.target)]);
  const plain: Bind = { kind: "bind", source: home, target: home, access: "read" };
  if (!existsSync(home) || home === "/") return { folder, bind: undefined, mounts: [] };
  // Root's files stay closed: the service user sees only what its own permissions allow.
  if (support.root) return { folder, bind: reachable([home], serviceUser).ok ? plain : undefined, mounts: [] };
  if (folder === undefined || !support.overlay) return { folder, bind: plain, mounts: [] };
  return { folder, ...homeLayer(home, folder) };
}

/**
 * The working directory of the server, if its view contains the wanted one, or code that its command names from there. Else
 * the workspace: relative paths in a call are paths of the client's work.
 */
function workingDirectory(plan: LaunchOrder, view: View, code: ServerCode, [workspace]: readonly string[]): string {
  const { home, order, support, serviceUser } = plan;
  const wanted = plan.target.workingDirectory;
  const there = view.binds.filter((bind) => bind.kind === "bind").some((bind) => isWithin(wanted, bind.target));
  const watched = order.mode === "learn" && isOnHost(wanted) && existsSync(wanted);
  const open = watched && (!support.root || reachable([wanted], serviceUser).ok);
  const names = [plan.target.command, ...plan.target.args].filter((one) => !isAbsolute(one));
  const leads = names.some((name) => name !== "" && code.paths.includes(resolve(wanted, name)));
  return there || open || leads || isWithin(wanted, "/usr") ? wanted : (workspace ?? home);
}
