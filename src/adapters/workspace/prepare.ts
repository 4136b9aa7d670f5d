/**
 * A projection of a workspace before its server starts: its mounts, the server's view, and the access to its writes.
 * The overlay is mounted by the launcher in namespaces of its own, so the gateway needs no privilege; it looks in
 * through `/proc/PID/root` as the same user, or as root.
 */
import { attempt } from "../attempt.ts";
import { realpathSync, rmdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Result, err, ok } from "../../core/result.ts";
import { isWithin } from "../../core/isolation/scope-patterns.ts";
import type { MountStep, WorkspaceProjection } from "../projection/parts.ts";
import type { Judging } from "./difference.ts";
import { HeldFolder } from "./held-folder.ts";
import { ScanMemory } from "./memory.ts";
import { forgetScratch, makeScratch } from "./scratch.ts";
import { prepareCopy } from "./snapshot.ts";
import { ScannedWorkspace, UnseenWorkspace } from "./projection.ts";
import { reasonOf, short } from "./system-reason.ts";
import { type OverlayLayers, OverlayScan } from "./upper.ts";
import type { PreparedWorkspace, WorkspaceOrder } from "./workspace-order.ts";

/** Prepares a projection; the error is a sentence. A copy is taken now, bounded by the quota. */
export async function prepareWorkspace(order: WorkspaceOrder): Promise<Result<PreparedWorkspace, string>> {
  const place = realFolder(order.folder, order.stateFolder);
  if (!place.ok) return place;
  const workspace = place.value;
  const judging: Judging = { workspace, allowed: allowedNames(order.writes ?? [], workspace) };
  switch (order.how) {
    case "overlay":
      return prepareOverlay(order, judging);
    case "copy":
      return prepareCopy(order, judging);
    case "direct":
    case "read":
      return ok({
        mounts: [],
        bind: { source: workspace, target: workspace, write: order.how === "direct" },
        open: () => Promise.resolve(ok(new UnseenWorkspace())),
        abandon: () => Promise.resolve(),
      });
  }
}

function prepareOverlay(order: WorkspaceOrder, judging: Judging): Result<PreparedWorkspace, string> {
  const { workspace } = judging;
  const scratch = makeScratch(workspace, order.stateFolder);
  if (!scratch.ok) return scratch;
  const base = scratch.value;
  const [upper, work] = [join(base, "upper"), join(base, "work")];
  const mounts: readonly MountStep[] = [
    // The size of the tmpfs is the quota, and the kernel holds it: a full one gives the server ENOSPC.
    { kind: "tmpfs", target: base, sizeMb: order.scope.quotaMb },
    { kind: "folder", target: upper },
    { kind: "folder", target: work },
    { kind: "overlay", target: workspace, lower: workspace, upper, work },
  ];
  // Only the mount point must be removed here: the mount on it ends with its namespace and the open descriptors.
  const abandon = (): Promise<void> => {
    try {
      rmdirSync(base);
    } catch {
      // Gone already, or not empty: then it is not what was made here, and stays.
    }
    forgetScratch(order.stateFolder, base);
    return Promise.resolve();
  };
  const open = async (holder: number): Promise<Result<WorkspaceProjection, string>> => {
    const layers = openLayers({ holder, upper, workspace });
    if (!layers.ok) return layers;
    const scan = new OverlayScan(layers.value, judging, new ScanMemory(Date.now()), order.scope.quotaMb);
    const isFull = (): boolean => statfsSync(layers.value.upper.at("")).bavail === 0;
    return ok(new ScannedWorkspace({ scan, workspace, stateFolder: order.stateFolder, isFull, release: abandon }));
  };
  return ok({ mounts, bind: { source: workspace, target: workspace, write: true }, open, abandon });
}

function realFolder(folder: string, stateFolder: string): Result<string, string> {
  let real: string;
  try {
    real = realpathSync(folder);
    if (!statSync(real).isDirectory()) return err(`The workspace ${short(folder)} is not a folder: start in one.`);
    HeldFolder.open(real).close();
  } catch (cause) {
    return err(
      `The workspace ${short(folder)} cannot be opened (${reasonOf(cause)}): start in a folder that you may read.`,
    );
  }
  // A server that sees the gateway's state could read keys and rewrite decisions.
  if (isWithin(realOr(stateFolder), real) || real === "/") {
    return err(
      `The workspace ${short(real)} holds Sluicegate's own state, which no server may see: start the client in the folder of one project.`,
    );
  }
  return ok(real);
}

function realOr(path: string): string {
  return attempt(() => realpathSync(path), path);
}

/**
 * Names relative to the workspace of single files that a scope allows to write: `./x` or an absolute path, no pattern.
 */
function allowedNames(writes: readonly string[], workspace: string): ReadonlySet<string> {
  const names = writes
    .map((one) =>
      one.startsWith("./") ? one.slice(2) : isWithin(one, workspace) ? one.slice(workspace.length + 1) : "",
    )
    .filter((one) => one !== "" && !/[*?[\]{}]/.test(one) && !one.endsWith("/"));
  return new Set(names);
}

/** Types of file systems as `statfs(2)` tells them. */
const overlayMagic = 0x794c7630;
const tmpfsMagic = 0x01021994;

type Where = {
  /** Process in the mount namespace. */
  readonly holder: number;
  readonly upper: string;
  readonly workspace: string;
};

/**
 * Opens upper, merged and lower folder. Their types are checked: an overlay that was not mounted would show the
 * workspace itself as an unchanged projection, while the server writes into it.
 */
function openLayers({ holder, upper, workspace }: Where): Result<OverlayLayers, string> {
  const opened: HeldFolder[] = [];
  const open = (path: string): HeldFolder => {
    const folder = HeldFolder.open(path);
    opened.push(folder);
    return folder;
  };
  try {
    const root = `/proc/${holder}/root`;
    const layers = { upper: open(`${root}${upper}`), merged: open(`${root}${workspace}`), lower: open(workspace) };
    const isOverlay = statfsSync(layers.merged.at("")).type === overlayMagic;
    const isTmpfs = statfsSync(layers.upper.at("")).type === tmpfsMagic;
    if (isOverlay && isTmpfs) return ok(layers);
    for (const folder of opened) folder.close();
    return err("The overlay over the workspace is not mounted, so writes could not be taken back: report this.");
  } catch (cause) {
    for (const folder of opened) folder.close();
    return err(
      `The projection of the workspace cannot be reached (${reasonOf(cause)}): the server ended while it started; its stderr in the log may say why.`,
    );
  }
}
