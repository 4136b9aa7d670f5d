/**
 * Copies the writes of a server out of its projection, before any of them reaches the workspace.
 *
 * A change that is held for review is forced to disk: soon no other copy of it exists. A change that is accepted and
 * about to reach the workspace is not: a kill at any point loses nothing of it, and after a power cut the workspace is
 * where it would be had the server written there itself, which would not have waited for the disk either.
 */
import { closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { syncFolder } from "../../sync-folder.ts";
import { type Result, err, ok } from "../../../core/result.ts";
import { type Difference, guardOfContent } from "../difference.ts";
import { copyContent, createFlags } from "../file-copy.ts";
import { type HeldFolder, FolderWalk } from "../held-folder.ts";
import { entriesPerTurn } from "../workspace-limits.ts";
import { lockChange } from "./change-lock.ts";
import { SyncQueue } from "./sync-queue.ts";
import { type StagedChange, type StagedEntry, changesFolder, writeManifest } from "./staged-change.ts";
import { reasonOf } from "../system-reason.ts";

/** The differences to stage, and the reason why each may have to wait. */
export type StageOrder = {
  readonly stateFolder: string;
  readonly source: HeldFolder;
  readonly differences: readonly { readonly difference: Difference; readonly reason: string | undefined }[];
  readonly about: Omit<StagedChange, "id" | "entries">;
};

export type Staged = {
  readonly folder: string;
  readonly change: StagedChange;
  /** Changed again while it was read; it stays in the projection and is judged again. */
  readonly restless: readonly string[];
  /** Lets others take the change up. */
  readonly unlock: () => void;
};

/** Stages a change; after an error (a sentence) nothing of it is left and the projection still has all of it. */
export async function stage(order: StageOrder): Promise<Result<Staged, string>> {
  const id = newId(order.about.wallMs);
  const folder = join(changesFolder(order.stateFolder), id);
  const walk = new FolderWalk(order.source);
  const durable = order.about.state === "held";
  const queue = new SyncQueue(durable);
  try {
    mkdirSync(join(folder, "files"), { recursive: true, mode: 0o700 });
    const unlock = lockChange(folder);
    if (unlock === undefined) throw new Error("a new folder cannot be locked");
    const entries: StagedEntry[] = [];
    const restless: string[] = [];
    for (const [index, { difference, reason }] of order.differences.entries()) {
      const entry = await stageOne({ difference, reason, walk, queue, blob: join(folder, "files", `${index}`) });
      if (entry === undefined) restless.push(difference.path);
      else entries.push(entry.blob === undefined ? entry : { ...entry, blob: `${index}` });
      if (index % entriesPerTurn === entriesPerTurn - 1) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    await queue.flush();
    const change = { id, ...order.about, entries };
    if (durable) syncFolder(join(folder, "files"));
    writeManifest(folder, change);
    if (durable) syncFolder(changesFolder(order.stateFolder));
    return ok({ folder, change, restless, unlock });
  } catch (cause) {
    await queue.flush().catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
    return err(
      `What the server wrote could not be saved (${reasonOf(cause)}), so nothing of it reached the workspace: free some space in Sluicegate's state folder; it is tried again with the next call.`,
    );
  } finally {
    walk.close();
  }
}

type One = {
  readonly difference: Difference;
  readonly reason: string | undefined;
  readonly walk: FolderWalk;
  readonly queue: SyncQueue;
  readonly blob: string;
};

async function stageOne({ difference, reason, walk, queue, blob }: One): Promise<StagedEntry | undefined> {
  const { path, kind, before, after, bytes, mode, target, base, guard } = difference;
  const entry: StagedEntry = {
    path,
    kind,
    before,
    after,
    bytes,
    mode,
    base,
    ...(target === undefined ? {} : { target }),
    ...(guard === undefined ? {} : { guarded: guard.why }),
    ...(reason === undefined ? {} : { reason }),
  };
  if (after !== "file") return entry;
  const descriptor = openSync(blob, createFlags, 0o600);
  const copied = await copyFrom(walk, path, descriptor);
  // What was looked at may have changed within one tick of the clock: the bytes that are kept are looked at again.
  const told = copied.kind === "read" && guard === undefined && guardOfContent(path, after, blob) !== undefined;
  if (copied.kind === "read" && copied.stamp === difference.mark && !told) {
    await queue.add(descriptor);
    return { ...entry, blob, digest: copied.digest };
  }
  closeSync(descriptor);
  rmSync(blob);
  if (copied.kind === "failed") throw copied.cause;
  return copied.kind === "closed" ? { ...entry, guarded: "what it holds cannot be read" } : undefined;
}

type Copied =
  | { readonly kind: "read"; readonly stamp: string | undefined; readonly digest: string }
  | { readonly kind: "gone" | "closed" }
  | { readonly kind: "failed"; readonly cause: unknown };

async function copyFrom(walk: FolderWalk, path: string, to: number): Promise<Copied> {
  try {
    const { folder, name } = walk.parentOf(path);
    const { stamp, digest } = await copyContent(folder.at(name), to);
    return { kind: "read", stamp, digest };
  } catch (cause) {
    const kind = unreadable(cause);
    return kind === undefined ? { kind: "failed", cause } : { kind };
  }
}

/** Errors that the server causes, as opposed to a failure of the gateway such as a full disk. */
function unreadable(cause: unknown): "gone" | "closed" | undefined {
  const reason = reasonOf(cause);
  if (["ENOENT", "ENOTDIR", "ELOOP", "ENXIO"].includes(reason)) return "gone";
  return reason === "EACCES" || reason === "EPERM" ? "closed" : undefined;
}

/** An id that sorts by time and cannot be guessed. */
function newId(wallMs: number): string {
  return `${Math.floor(wallMs).toString(36)}-${randomBytes(6).toString("hex")}`;
}
