/** Chooses the projection of the workspace for a launch. */
import { attempt } from "../../attempt.ts";
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { ok, type Result } from "../../../core/result.ts";
import type { WorkspaceMode } from "../../../core/isolation/scope.ts";
import { isWithin } from "../../../core/isolation/scope-patterns.ts";
import { type PreparedWorkspace } from "../../workspace/workspace-order.ts";
import { prepareWorkspace } from "../../workspace/prepare.ts";
import type { LaunchOrder } from "./launch-order.ts";

export type LaunchWorkspace = {
  readonly prepared: PreparedWorkspace | undefined;
  /** Folders that the server may see at all. */
  readonly folders: readonly string[];
  readonly notes: readonly string[];
};

/**
 * Prepares the workspace of a launch. The error is a sentence. A folder that holds more than one project is not used as
 * a workspace; then the server has none. If a link leads to the folder, it has two names, and every comparison must use
 * both: clients write the link's name, the kernel reports the real one.
 */
export async function launchWorkspace(plan: LaunchOrder): Promise<Result<LaunchWorkspace, string>> {
  const { mode } = plan.order.scope.files.workspace;
  const { home, stateFolder } = plan;
  const [first, ...others] = plan.workspace.map((folder) => resolve(folder));
  if (first === undefined || mode === "none") return ok({ prepared: undefined, folders: [], notes: [] });
  const real = realOr(first);
  const wide = [home, stateFolder].some((folder) => isWithin(folder, first) || isWithin(realOr(folder), real));
  if (wide || [first, real].some((name) => name.split("/").length < 3 || name === "/")) {
    return ok({ prepared: undefined, folders: [], notes: [wideNote] });
  }
  if (isWithin(real, realOr(stateFolder))) return ok({ prepared: undefined, folders: [], notes: [stateNote] });
  const how = mannerOf(plan, mode);
  const owner = plan.support.root ? { owner: { user: plan.serviceUser.uid, group: plan.serviceUser.gid } } : {};
  const { workspace: scope, write: writes } = plan.order.scope.files;
  const prepared = await prepareWorkspace({ folder: first, scope, stateFolder, how: how.how, writes, ...owner });
  if (!prepared.ok) return prepared;
  const notes = [...how.notes, ...(others.length === 0 ? [] : [othersNote])];
  return ok({ prepared: prepared.value, folders: [...new Set([real, first])], notes });
}

function realOr(path: string): string {
  return attempt(() => realpathSync(path), path);
}

const wideNote =
  "The server sees no workspace: its folder is a home folder, one at the top of this machine, or holds Sluicegate's state. Start the client in the folder of one project.";
const stateNote =
  "The server sees no workspace: its folder is in Sluicegate's own state, which no server may see. Start the client in the folder of one project.";
const othersNote =
  "Only the first folder of the workspace is shown: name the others in isolation.files.read or .write.";
const fenceNote =
  "Without mounts there is no projection of the workspace, so it is read-only: install bubblewrap, or set workspace mode `direct`.";

type Manner = { readonly how: "overlay" | "copy" | "direct" | "read"; readonly notes: readonly string[] };

function mannerOf({ support, choice }: LaunchOrder, mode: Exclude<WorkspaceMode, "none">): Manner {
  if (mode !== "overlay") return { how: mode, notes: [] };
  // A copy would be at another path, which the paths in calls do not match: so the workspace is read-only, and writing
  // fails visibly.
  if (choice.chain === "fence") return { how: "read", notes: [fenceNote] };
  // Without the mapping of owners a service user could change nothing of root's in an overlay.
  const copied = !support.overlay || (choice.chain === "shell" && support.root);
  return { how: copied ? "copy" : "overlay", notes: [] };
}
