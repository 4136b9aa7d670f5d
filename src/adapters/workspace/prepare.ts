/**
 * A projection of a workspace before its server starts: what is to be mounted, what the server sees, and how to reach
 * what it wrote. The overlay is mounted by the launcher in namespaces of its own, so the gateway needs no privilege;
 * it looks in through `/proc/PID/root` as the same user, or as root.
 */
import { realpathSync, rmdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "../../core/result.ts";
import { err, ok } from "../../core/result.ts";
import type { FileScope } from "../../core/scope.ts";
import { isWithin } from "../../core/scope-patterns.ts";
import type { MountStep, WorkspaceProjection } from "../projection/parts.ts";
import type { Judging } from "./difference.ts";
import { HeldFolder } from "./held-folder.ts";
import { ScanMemory } from "./memory.ts";
import { openLayers } from "./layers.ts";
import { forgetScratch, makeScratch } from "./scratch.ts";
import { prepareCopy } from "./snapshot.ts";
import { ScannedWorkspace, UnseenWorkspace } from "./projection.ts";
import { reasonOf, short } from "./system-reason.ts";
import { OverlayScan } from "./upper.ts";

export type WorkspaceOrder = {
  /** The workspace; links are resolved. */
  readonly folder: string;
  readonly scope: FileScope["workspace"];
  /** State folder of the gateway; held changes and unfinished commits lie in it. */
  readonly stateFolder: string;
  /**
   * `overlay`: a mount over the workspace. `copy`: a copy of it, for tier B and where the server's user may not write
   * the workspace. `direct` and `read`: the workspace itself.
   */
  readonly how: "overlay" | "copy" | "direct" | "read";
  /** `files.write` of the scope: a guarded file that exists and is named here, without a pattern, may be written. */
  readonly writes?: readonly string[];
  /** The server's user, where the gateway is root: a copy is made its own. */
  readonly owner?: { readonly user: number; readonly group: number };
};

export type PreparedWorkspace = {
  /** In this order, by the launcher, in the outer namespaces. */
  readonly mounts: readonly MountStep[];
  /** What the server sees of the workspace. In tier B nothing is bound: then the workspace is at `source`. */
  readonly bind: { readonly source: string; readonly target: string; readonly write: boolean };
  /**
   * Begins to look. `holder` is any process in the mount namespace in which the mounts were made; it may end afterwards,
   * for the folders are held open. An error is a sentence.
   */
  open(holder: number): Promise<Result<WorkspaceProjection, string>>;
  /** Lets go of what `prepareWorkspace` made, for a launch that failed before `open`. */
  abandon(): Promise<void>;
};

/** Prepares a projection, or says in a sentence why there can be none. A copy is taken now, bounded by the quota. */
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
  // Only the mount point is ours to remove: what was mounted on it goes with its namespace and our descriptors.
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
    if (!statSync(real).isDirectory()) return err(`The workspace ${short(folder)} is no folder: start in one.`);
    HeldFolder.open(real).close();
  } catch (cause) {
    return err(
      `The workspace ${short(folder)} cannot be opened (${reasonOf(cause)}): start in a folder that you may read.`,
    );
  }
  // A server that sees our state could read keys and rewrite what was decided.
  if (isWithin(realOr(stateFolder), real) || real === "/") {
    return err(
      `The workspace ${short(real)} holds Sluicegate's own state, which no server may see: start the client in the folder of one project.`,
    );
  }
  return ok(real);
}

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Names relative to the workspace of single files that a scope allows to write: `./x` or an absolute path, no pattern. */
function allowedNames(writes: readonly string[], workspace: string): ReadonlySet<string> {
  const names = writes
    .map((one) =>
      one.startsWith("./") ? one.slice(2) : isWithin(one, workspace) ? one.slice(workspace.length + 1) : "",
    )
    .filter((one) => one !== "" && !/[*?[\]{}]/.test(one) && !one.endsWith("/"));
  return new Set(names);
}
