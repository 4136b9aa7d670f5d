/** Everything about a projection that can be said before a process of it runs. */
import { existsSync } from "node:fs";
import type { ProjectionPlaces } from "../../core/effect-trace.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { isWithin } from "../../core/scope-patterns.ts";
import { hostsText, nsswitchText, resolvConfText } from "../egress/name-files.ts";
import { bubblewrapOptions } from "./bubblewrap.ts";
import { bubblewrapCommand, resourceLimits } from "./chain.ts";
import { denyFilter } from "./filter.ts";
import { hostEtc, hostSystem, spareFolder } from "./host-layout.ts";
import type { LaunchOrder } from "./launch.ts";
import type { LaunchWorkspace } from "./launch-workspace.ts";
import { launcherDescriptors, type LauncherCommand } from "./launcher-plan.ts";
import { openFilesMax } from "./limits.ts";
import { serverView, type View } from "./projection-view.ts";
import type { ServerCode } from "./server-code.ts";
import { serverEnvironment } from "./server-environment.ts";

/** Mebibytes of each private folder: it is memory. */
const scratchMb = 256;

export type Prepared = {
  readonly filter: Uint8Array;
  /** Options of bubblewrap, which hold the server's environment: never in an argument list. */
  readonly options: readonly string[];
  readonly command: LauncherCommand;
  /** Programs that run between the launcher and the server. */
  readonly programsBefore: number;
  readonly folder: string;
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly sources: readonly string[];
  readonly places: ProjectionPlaces;
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
  // Names of abstract sockets belong to the network namespace: in that of the host they are other programs' sockets.
  const filter = denyFilter(support.architecture, {
    unix: !open || scope.sockets.length > 0,
    internet: true,
    sessions: true,
  });
  if (!filter.ok) return filter;
  const view = serverView({ scope, home, workspace: folders, code: code.paths, workspaceBind: workspace?.bind });
  const folder = spareFolder([...view.sources, ...(workspace?.mounts ?? []).map((step) => step.target)]);
  if (folder === undefined) return err("No folder is free for the projection's own files. Create an empty /mnt.");
  const user = { name: plan.support.root ? "nobody" : plan.user, ...idsOf(plan), home };
  const place = { home, user: user.name, programFolders: code.programFolders };
  const environment = serverEnvironment(target.env, scope.environment, place);
  const files = ownFiles(user, open).map(({ name, text }) => ({
    path: `${folder}/${name}`,
    text,
    target: `/etc/${name}`,
  }));
  const options = bubblewrapOptions({
    system: hostSystem(),
    etc: hostEtc(),
    files: [
      ...files.map((file) => ({ source: file.path, target: file.target })),
      ...(open && existsSync("/etc/resolv.conf") ? [{ source: "/etc/resolv.conf", target: "/etc/resolv.conf" }] : []),
    ],
    binds: view.binds,
    environment: environment.variables,
    workingDirectory: workingDirectory(target.workingDirectory, view, home),
    uid: user.uid,
    gid: user.gid,
    filterDescriptor: launcherDescriptors.filter,
    scratchMb,
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
    programsBefore: prlimit === undefined ? 1 : 2,
    folder,
    files,
    sources: view.sources,
    places: view.places,
    notes: [...notes, ...view.notes, ...environment.notes],
  });
}

/** Ids that the server sees as its own: those of whoever it runs as. */
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

/** The folder that the server was to start in, where it has that at all. */
function workingDirectory(wanted: string, view: View, home: string): string {
  const there = view.binds.filter((bind) => bind.kind === "bind").some((bind) => isWithin(wanted, bind.target));
  return there || isWithin(wanted, "/usr") ? wanted : home;
}
