/** How a projection of a workspace is looked at, whatever it is made of. */
import type { Result } from "../../core/result.ts";
import type { Difference } from "./difference.ts";
import type { HeldFolder } from "./held-folder.ts";
import type { ScanMemory } from "./memory.ts";

export interface WorkspaceScan {
  /** Where the server's versions lie. */
  readonly source: HeldFolder;
  readonly memory: ScanMemory;
  /** All differences without a verdict. An error is a sentence. */
  scan(): Promise<Result<readonly Difference[], string>>;
  /** True only if there never was a difference. */
  isUntouched?(): boolean;
  close(): void;
}
