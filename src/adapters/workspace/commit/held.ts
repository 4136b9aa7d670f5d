/** Changes that are held for review: list, differences, and the user's decision. */
import { attempt } from "../../attempt.ts";
import { closeSync, constants, fstatSync, openSync, readdirSync, readlinkSync, readSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Result, err, ok } from "../../../core/result.ts";
import type { Conclusion, HeldChange } from "../../../gateway/ports/projection.ts";
import { applyChange } from "./apply.ts";
import { lockChange } from "./change-lock.ts";
import { finish } from "./commit.ts";
import { absent } from "../entry-facts.ts";
import { HeldFolder } from "../held-folder.ts";
import { diffBytesMax, heldChangesMax } from "../workspace-limits.ts";
import { diffLines, unified } from "./line-diff.ts";
import { type StagedChange, type StagedEntry, changesFolder, readManifest, writeManifest } from "./staged-change.ts";
import { TargetWalk } from "./target-walk.ts";

/** All held changes, oldest first. */
export function listHeld(stateFolder: string): readonly (HeldChange & { readonly workspace: string })[] {
  const all = idsIn(stateFolder).map((id) => readManifest(join(changesFolder(stateFolder), id)));
  return all.flatMap((change) => (change?.state === "held" ? [heldOf(change)] : []));
}

function heldOf(change: StagedChange): HeldChange & { readonly workspace: string } {
  const { id, run, server, call, wallMs, workspace, entries } = change;
  const files = entries.map(({ path, kind, bytes }) => ({ path, kind, bytes }));
  const reason = change.reason ?? entries.find((entry) => entry.reason !== undefined)?.reason;
  return { id, run, server, call, wallMs, workspace, files, ...(reason === undefined ? {} : { reason }) };
}

export type EntryDiff = {
  readonly path: string;
  readonly kind: StagedEntry["kind"];
  /** Reason why it waits or can never be applied. */
  readonly reason?: string;
  readonly guarded: boolean;
  /** Unified diff against the workspace as it is now; one sentence instead if the entry is not text or too large. */
  readonly lines: readonly string[];
};

/**
 * The differences that a held change would make in the workspace now. The text comes from the server: the caller must
 * escape it for display.
 */
export function diffOf(stateFolder: string, id: string): Result<readonly EntryDiff[], string> {
  const found = find(stateFolder, id);
  if (!found.ok) return found;
  const { folder, change } = found.value;
  // Where the workspace is gone the held versions can still be read, as if all of them were new.
  const root = openOr(change.workspace);
  const walk = root === undefined ? undefined : new TargetWalk(root);
  try {
    return ok(change.entries.map((entry) => entryDiff(entry, folder, walk)));
  } finally {
    walk?.close();
    root?.close();
  }
}

/**
 * Writes a held change into its workspace. Files that are not as they were when the change was first seen wait on,
 * unless `over` says that the user accepts this. A guarded entry, which no server may write, is never applied.
 */
export async function applyHeld(stateFolder: string, id: string, over: boolean): Promise<Result<Conclusion, string>> {
  const found = take(stateFolder, id);
  if (!found.ok) return found;
  const { folder, unlock, change } = found.value;
  try {
    const agreed: StagedChange = { ...change, state: "applying", entries: change.entries.map(withoutReason) };
    const based = over ? rebased(agreed) : agreed;
    writeManifest(folder, based, true);
    const applied = await applyChange(folder, based, true);
    const waiting = finish(folder, based, applied.waiting);
    const held = waiting.map(({ path, reason, guarded }) => ({ path, reason: reason ?? guardedLine(guarded) }));
    return ok({ committed: [...applied.committed.keys()], held });
  } finally {
    unlock();
  }
}

/** Throws a held change away. */
export function dropHeld(stateFolder: string, id: string): Result<void, string> {
  const found = take(stateFolder, id);
  if (!found.ok) return found;
  rmSync(found.value.folder, { recursive: true, force: true });
  return ok(undefined);
}

type Found = { readonly folder: string; readonly change: StagedChange };

function find(stateFolder: string, id: string): Result<Found, string> {
  // The id becomes part of a path, and comes from a command line.
  const folder = join(changesFolder(stateFolder), id);
  const change = /^[0-9a-z]{1,20}-[0-9a-f]{12}$/.test(id) ? readManifest(folder) : undefined;
  return change?.state === "held" ? ok({ folder, change }) : err(unknown);
}

function take(stateFolder: string, id: string): Result<Found & { readonly unlock: () => void }, string> {
  const found = find(stateFolder, id);
  if (!found.ok) return found;
  const { folder } = found.value;
  const unlock = lockChange(folder);
  if (unlock === undefined) return err("Someone else works on this change at the moment: repeat the command.");
  // It may have been applied or dropped between the look and the lock.
  const again = find(stateFolder, id);
  if (again.ok) return ok({ ...again.value, unlock });
  unlock();
  return again;
}

const unknown = "No change with this id waits: `sluicegate changes` lists those that do.";

function withoutReason(entry: StagedEntry): StagedEntry {
  const { reason: _, ...rest } = entry;
  return rest;
}

/** The change with the current state of the workspace as its base. */
function rebased(change: StagedChange): StagedChange {
  const root = openOr(change.workspace);
  if (root === undefined) return change;
  const walk = new TargetWalk(root);
  try {
    const entries = change.entries.map((entry): StagedEntry => {
      const facts = walk.facts(entry.path);
      return { ...entry, base: facts?.stamp ?? absent, before: facts?.type ?? absent };
    });
    return { ...change, entries };
  } finally {
    walk.close();
    root.close();
  }
}

function openOr(workspace: string): HeldFolder | undefined {
  return attempt(() => HeldFolder.open(workspace), undefined);
}

function guardedLine(why: string | undefined): string {
  return why === undefined ? "it could not be written" : `no server may write it: ${why}`;
}

function entryDiff(entry: StagedEntry, folder: string, walk: TargetWalk | undefined): EntryDiff {
  const reason = entry.reason ?? (entry.guarded === undefined ? undefined : guardedLine(entry.guarded));
  const about = { path: entry.path, kind: entry.kind, guarded: entry.guarded !== undefined };
  const lines = linesOf(entry, folder, walk);
  return { ...about, lines, ...(reason === undefined ? {} : { reason }) };
}

function linesOf(entry: StagedEntry, folder: string, walk: TargetWalk | undefined): readonly string[] {
  if (entry.after === "link") return [`link to ${entry.target ?? ""}`];
  if (entry.kind === "mode") return [`permissions ${entry.mode.toString(8)}`];
  if (entry.after === "folder" || entry.after === "special") return [entry.after];
  const before = realText(entry, walk);
  const after = entry.after === absent ? { bytes: 0, text: "" } : textAt(join(folder, "files", entry.blob ?? ""));
  const lines = before.text === undefined || after.text === undefined ? undefined : diffLines(before.text, after.text);
  return lines === undefined ? [`${before.bytes} bytes before, ${after.bytes} after`] : unified(lines);
}

type Text = { readonly bytes: number; readonly text: string | undefined };

function realText(entry: StagedEntry, walk: TargetWalk | undefined): Text {
  const facts = walk?.facts(entry.path);
  if (walk === undefined || facts === undefined) return { bytes: 0, text: "" };
  if (facts.type === "link") return { bytes: 0, text: readLink(walk, entry.path) };
  if (facts.type !== "file") return { bytes: 0, text: undefined };
  const { folder, name } = walk.parentOf(entry.path);
  return textAt(folder.at(name));
}

function readLink(walk: TargetWalk, path: string): string | undefined {
  try {
    const { folder, name } = walk.parentOf(path);
    return `link to ${readlinkSync(folder.at(name))}`;
  } catch {
    return undefined;
  }
}

/** Not a text if it has a NUL byte or is larger than the limit of a comparison. */
function textAt(path: string): Text {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { size } = fstatSync(descriptor);
      if (size > diffBytesMax) return { bytes: size, text: undefined };
      const buffer = Buffer.alloc(size);
      const bytes = readSync(descriptor, buffer, 0, size, 0);
      return { bytes, text: buffer.includes(0) ? undefined : buffer.toString("utf8", 0, bytes) };
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return { bytes: 0, text: undefined };
  }
}

function idsIn(stateFolder: string): readonly string[] {
  return attempt(() => readdirSync(changesFolder(stateFolder)).sort().slice(0, heldChangesMax), []);
}
