/** Which projection of the workspace a launch gets. */
import { resolve } from "node:path";
import { ok, type Result } from "../../core/result.ts";
import type { WorkspaceMode } from "../../core/scope.ts";
import { isWithin } from "../../core/scope-patterns.ts";
import { type PreparedWorkspace, prepareWorkspace } from "../workspace/prepare.ts";
import type { LaunchOrder } from "./launch.ts";

export type LaunchWorkspace = {
  readonly prepared: PreparedWorkspace | undefined;
  /** Folders that the server may see at all. */
  readonly folders: readonly string[];
  readonly notes: readonly string[];
};

/** An error is a sentence. A folder that holds more than one project is no workspace; then the server has none. */
export async function launchWorkspace(plan: LaunchOrder): Promise<Result<LaunchWorkspace, string>> {
  const { mode } = plan.order.scope.files.workspace;
  const { home, stateFolder } = plan;
  const [first, ...others] = plan.workspace.map((folder) => resolve(folder));
  if (first === undefined || mode === "none") return ok({ prepared: undefined, folders: [], notes: [] });
  const tooWide = [home, stateFolder].some((folder) => isWithin(folder, first)) || first.split("/").length < 3;
  if (tooWide) return ok({ prepared: undefined, folders: [], notes: [wideNote] });
  const how = mannerOf(plan, mode);
  const owner = plan.support.root ? { owner: { user: plan.serviceUser.uid, group: plan.serviceUser.gid } } : {};
  const { workspace: scope, write: writes } = plan.order.scope.files;
  const prepared = await prepareWorkspace({ folder: first, scope, stateFolder, how: how.how, writes, ...owner });
  if (!prepared.ok) return prepared;
  const notes = [...how.notes, ...(others.length === 0 ? [] : [othersNote])];
  return ok({ prepared: prepared.value, folders: [first], notes });
}

const wideNote =
  "The server sees no workspace: its folder is the home folder or holds Sluicegate's state. Start the client in the folder of one project.";
const othersNote =
  "Only the first folder of the workspace is shown: name the others in isolation.files.read or .write.";
const fenceNote =
  "Without mounts there is no projection of the workspace, so it is read-only: install bubblewrap, or set workspace mode `direct`.";

type Manner = { readonly how: "overlay" | "copy" | "direct" | "read"; readonly notes: readonly string[] };

function mannerOf({ support, choice }: LaunchOrder, mode: Exclude<WorkspaceMode, "none">): Manner {
  if (mode !== "overlay") return { how: mode, notes: [] };
  // A copy lies elsewhere, and names in calls would miss it: writing fails loudly instead.
  if (choice.chain === "fence") return { how: "read", notes: [fenceNote] };
  // Without the mapping of owners a service user could change nothing of root's in an overlay.
  const copied = !support.overlay || (choice.chain === "shell" && support.root);
  return { how: copied ? "copy" : "overlay", notes: [] };
}
