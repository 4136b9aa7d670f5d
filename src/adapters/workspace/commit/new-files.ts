/** New files and links, written beside their places under temporary names before any entry is put in place. */
import { closeSync, fchmodSync, openSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ownLike } from "./own-like.ts";
import { copyContent, createFlags } from "../file-copy.ts";
import type { Journal } from "./journal.ts";
import { SyncQueue } from "./sync-queue.ts";
import type { StagedEntry } from "./staged-change.ts";
import { reasonOf } from "../system-reason.ts";
import type { TargetWalk } from "./target-walk.ts";

type Parts = {
  readonly walk: TargetWalk;
  readonly journal: Journal;
  /** Folder of the staged change. */
  readonly folder: string;
  readonly id: string;
  readonly durable: boolean;
};

export type Written = {
  readonly waiting: readonly StagedEntry[];
  /** The system's error name if there is no space; then no entry may be put in place. */
  readonly full: string | undefined;
};

const noSpace: readonly string[] = ["ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO"];

export class NewFiles {
  readonly #parts: Parts;
  readonly #paths = new Map<string, string>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async write(entries: readonly StagedEntry[]): Promise<Written> {
    const queue = new SyncQueue(this.#parts.durable);
    const waiting: StagedEntry[] = [];
    try {
      for (const [index, entry] of entries.entries()) {
        if (entry.kind === "mode" || (entry.after !== "file" && entry.after !== "link")) continue;
        const failed = await this.#one(entry, index, queue);
        if (failed !== undefined && noSpace.includes(failed)) {
          await queue.flush().catch(() => undefined);
          return { waiting: [], full: failed };
        }
        if (failed !== undefined) waiting.push({ ...entry, reason: `it could not be written (${failed})` });
      }
      await queue.flush();
      return { waiting, full: undefined };
    } catch (cause) {
      // Some file systems notice only now that they are full.
      return { waiting: [], full: reasonOf(cause) };
    }
  }

  /** Path of the temporary file with the new version of `path`. */
  pathOf(path: string): string {
    const own = this.#paths.get(path) ?? "";
    const { folder, name } = this.#parts.walk.parentOf(own);
    return folder.at(name);
  }

  /** Removes all temporary files of the gateway from the workspace, of this attempt and of earlier ones. */
  sweep(): void {
    const names = this.#parts.journal.temporaries();
    for (const path of names) {
      try {
        const { folder, name } = this.#parts.walk.parentOf(path);
        if (name.startsWith(this.#prefix())) rmSync(folder.at(name), { force: true });
      } catch {
        // Its folder is gone, and it with it.
      }
    }
    this.#parts.journal.forgetTemporaries();
  }

  close(): void {
    this.#parts.walk.close();
  }

  async #one(entry: StagedEntry, index: number, queue: SyncQueue): Promise<string | undefined> {
    const { walk, journal, folder } = this.#parts;
    const near = walk.nearest(entry.path);
    const name = `${this.#prefix()}${index}`;
    const own = near.path === "" ? name : `${near.path}/${name}`;
    const at = near.folder.at(name);
    journal.temporary(own);
    this.#paths.set(entry.path, own);
    try {
      if (entry.after === "link") {
        symlinkSync(entry.target ?? "", at);
        return undefined;
      }
      const descriptor = openSync(at, createFlags, 0o600);
      try {
        const copied = await copyContent(join(folder, "files", entry.blob ?? ""), descriptor);
        if (copied.digest !== entry.digest) return closing(descriptor, "ESTALE");
        ownLike(near.folder, descriptor);
        fchmodSync(descriptor, entry.mode & 0o777);
      } catch (cause) {
        return closing(descriptor, reasonOf(cause));
      }
      await queue.add(descriptor);
      return undefined;
    } catch (cause) {
      return reasonOf(cause);
    }
  }

  #prefix(): string {
    return `.sluicegate-${this.#parts.id}-`;
  }
}

function closing(descriptor: number, reason: string): string {
  closeSync(descriptor);
  return reason;
}
