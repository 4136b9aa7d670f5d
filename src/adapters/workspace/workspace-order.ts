/** The order for a projection of a workspace, and the projection before its server starts. */
import type { FileScope } from "../../core/isolation/scope.ts";
import type { Result } from "../../core/result.ts";
import type { MountStep, WorkspaceProjection } from "../projection/parts.ts";

export type WorkspaceOrder = {
  /** The workspace; links are resolved. */
  readonly folder: string;
  readonly scope: FileScope["workspace"];
  /** State folder of the gateway; it contains held changes and unfinished commits. */
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
  /**
   * The bind mount that shows the workspace to the server. In tier B nothing is bound: then the workspace is at
   * `source`.
   */
  readonly bind: { readonly source: string; readonly target: string; readonly write: boolean };
  /**
   * Opens the projection. `holder` is any process in the mount namespace in which the mounts were made; it may end
   * afterwards, for the folders are held open. An error is a sentence.
   */
  open(holder: number): Promise<Result<WorkspaceProjection, string>>;
  /** Releases what `prepareWorkspace` made, for a launch that failed before `open`. */
  abandon(): Promise<void>;
};
