/** What a store in memory holds. */
import type { ManifestRow, SessionRow } from "../../gateway/ports/cached-rows.ts";
import type { Place } from "../../gateway/ports/retention.ts";
import type { StoredSnapshot } from "../../gateway/ports/snapshots.ts";
import type {
  ApprovalRow,
  OpenCall,
  RunRow,
  SharedRow,
  StoredCheckpoint,
  StoredRecord,
} from "../../gateway/ports/store.ts";

export type Tables = {
  readonly records: StoredRecord[];
  readonly checkpoints: StoredCheckpoint[];
  readonly documents: Map<string, string>;
  readonly openCalls: Map<string, OpenCall>;
  readonly runs: Map<string, RunRow>;
  readonly shared: Map<string, SharedRow>;
  readonly approvals: Map<string, ApprovalRow>;
  readonly sessions: Map<string, SessionRow>;
  readonly manifests: Map<string, ManifestRow>;
  readonly snapshots: Map<string, StoredSnapshot>;
  /** Records that say which records left the log, and for each run the newest of them. */
  readonly prunings: Place[];
  readonly prunedRuns: Map<string, Place>;
};

export function emptyTables(): Tables {
  return {
    records: [],
    checkpoints: [],
    documents: new Map(),
    openCalls: new Map(),
    runs: new Map(),
    shared: new Map(),
    approvals: new Map(),
    sessions: new Map(),
    manifests: new Map(),
    snapshots: new Map(),
    prunings: [],
    prunedRuns: new Map(),
  };
}
