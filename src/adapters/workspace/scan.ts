/** Common interface of the scans of a projection, for overlays and copies. */
import type { Result } from "../../core/result.ts";
import type { Difference } from "./difference.ts";
import type { HeldFolder } from "./held-folder.ts";
import type { ScanMemory } from "./memory.ts";

export interface WorkspaceScan {
  /** Folder with the server's versions. */
  readonly source: HeldFolder;
  readonly memory: ScanMemory;
  /** All differences without a verdict. An error is a sentence. */
  scan(): Promise<Result<readonly Difference[], string>>;
  /** True only if there never was a difference. */
  isUntouched?(): boolean;
  close(): void;
}
