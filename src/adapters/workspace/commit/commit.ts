/**
 * Commits the writes of a server, or holds them for review. Everything is staged first; from then on any later gateway
 * can finish the change (`recover`), even if this one is killed at any point and the projection is gone.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Result, err, ok } from "../../../core/result.ts";
import type { Conclusion } from "../../../gateway/ports/projection.ts";
import type { ChangeOrigin } from "../../projection/parts.ts";
import { applyChange, changedOutside } from "./apply.ts";
import type { Difference } from "../difference.ts";
import { absent, factsOf } from "../entry-facts.ts";
import { digestOf } from "../file-copy.ts";
import { HeldFolder } from "../held-folder.ts";
import { commitChangesMax } from "../workspace-limits.ts";
import type { ScanMemory } from "../memory.ts";
import type { WorkspaceScan } from "../scan.ts";
import { stage } from "./stage.ts";
import { type StagedChange, type StagedEntry, syncFile, writeManifest } from "./staged-change.ts";
import { reasonOf } from "../system-reason.ts";
import { TargetWalk } from "./target-walk.ts";

export type CommitOrder = {
  readonly scan: WorkspaceScan;
  readonly workspace: string;
  readonly stateFolder: string;
  readonly differences: readonly Difference[];
  readonly how: "commit" | "keep";
  readonly origin: ChangeOrigin;
};

/** The verdict on all differences. After an error (a sentence) the workspace is whole and the projection unchanged. */
export async function concludeChanges(order: CommitOrder): Promise<Result<Conclusion, string>> {
  const { scan, workspace, stateFolder, how, origin } = order;
  const current = rebased(order);
  const crowded = current.length > commitChangesMax;
  const state = how === "keep" || crowded ? "held" : "applying";
  const differences = current.map((difference) => ({ difference, reason: reasonToWait(difference, scan.memory, how) }));
  const about = {
    workspace,
    run: origin.run ?? "",
    server: origin.server,
    call: origin.call,
    wallMs: Date.now(),
    state,
    ...(crowded && how === "commit" ? { reason: tooMany } : {}),
  } as const;
  const staged = await stage({ stateFolder, source: scan.source, differences, about });
  if (!staged.ok) return staged;
  const { folder, change, restless, unlock } = staged.value;
  try {
    const applied =
      state === "applying"
        ? await applyChange(folder, change, false)
        : { committed: new Map<string, string>(), waiting: change.entries };
    const waiting = finish(folder, change, applied.waiting);
    settle(scan.memory, order.differences, { committed: applied.committed, waiting });
    const held = [
      ...waiting.map((entry) => heldLine(entry, change)),
      ...restless.map((path) => ({ path, reason: restlessReason })),
    ];
    return ok({ committed: [...applied.committed.keys()], held });
  } catch (cause) {
    return err(
      `Writing the workspace was interrupted (${reasonOf(cause)}): nothing is lost, and \`sluicegate changes\` finishes it.`,
    );
  } finally {
    unlock();
  }
}

/** If the user has applied a held version to the workspace, later changes are measured from that version. */
function rebased({ scan, workspace, differences }: CommitOrder): readonly Difference[] {
  const { memory } = scan;
  if (!differences.some((one) => memory.heldDigest(one.path) !== undefined)) return differences;
  const root = HeldFolder.open(workspace);
  const walk = new TargetWalk(root);
  try {
    return differences.map((difference) => {
      const digest = memory.heldDigest(difference.path);
      const facts = digest === undefined ? undefined : walk.facts(difference.path);
      if (digest === undefined || facts === undefined || facts.stamp === difference.base) return difference;
      const { folder, name } = walk.parentOf(difference.path);
      const at = folder.at(name);
      if (digestOf(at) !== digest || factsOf(at)?.stamp !== facts.stamp) return difference;
      memory.release(difference.path, facts.stamp);
      return { ...difference, base: facts.stamp, before: facts.type, outside: false };
    });
  } finally {
    walk.close();
    root.close();
  }
}

function reasonToWait(difference: Difference, memory: ScanMemory, how: "commit" | "keep"): string | undefined {
  if (difference.guard !== undefined) return `no server may write it: ${difference.guard.why}`;
  if (difference.outside) return changedOutside;
  // Otherwise the version that is still held for review would be committed with the new one.
  if (how === "commit" && memory.isHeld(difference.path)) return "it builds on a change that waits for review";
  return undefined;
}

/** Reason of a path that is still in the projection alone. */
export const restlessReason = "it changed again while it was saved, and is judged again";

const tooMany = `more than ${commitChangesMax} files changed at once`;

/**
 * Keeps the waiting entries as a held change, or removes the staged change if none waits; returns the waiting entries.
 */
export function finish(folder: string, change: StagedChange, waiting: readonly StagedEntry[]): readonly StagedEntry[] {
  if (waiting.length === 0) rmSync(folder, { recursive: true, force: true });
  else {
    // From now on no other copy of the waiting entries exists.
    for (const { blob } of waiting) if (blob !== undefined) syncFile(join(folder, "files", blob));
    writeManifest(folder, { ...change, state: "held", entries: waiting });
    const blobs = new Set(waiting.map((entry) => entry.blob));
    for (const { blob } of change.entries) {
      if (blob !== undefined && !blobs.has(blob)) rmSync(join(folder, "files", blob), { force: true });
    }
    // The journal speaks of an attempt that is over: the next one begins from the workspace as it is then.
    rmSync(join(folder, "journal"), { force: true });
  }
  return waiting;
}

function heldLine(entry: StagedEntry, change: StagedChange): { readonly path: string; readonly reason?: string } {
  const reason = entry.reason ?? change.reason;
  return { path: entry.path, ...(reason === undefined ? {} : { reason }) };
}

type Verdicts = { readonly committed: ReadonlyMap<string, string>; readonly waiting: readonly StagedEntry[] };

function settle(memory: ScanMemory, differences: readonly Difference[], { committed, waiting }: Verdicts): void {
  const held = new Map(waiting.map((entry) => [entry.path, entry.digest ?? absent]));
  for (const { path, mark } of differences) {
    const stamp = committed.get(path);
    if (stamp !== undefined) memory.commit(path, mark, stamp);
    else if (held.has(path)) memory.hold(path, mark, held.get(path) ?? absent);
  }
}
