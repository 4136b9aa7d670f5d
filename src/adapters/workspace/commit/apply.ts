/**
 * Brings a staged change into its workspace. Two phases: first every new file is written beside its place under a
 * temporary name (a full disk is detected here, before any change), then deletions, folders and renames put all entries
 * in place. Both are repeatable: what the journal calls done, or what already is as wanted, is left alone, so a process
 * that finds the change unfinished runs the same again.
 *
 * Other processes use the workspace too and may change it meanwhile. Every step walks without following links, checks
 * once more the entry that it replaces, and leaves it alone if it differs from the base of the change. Between that
 * check and the rename some microseconds remain, which no portable system call closes for a file that is replaced; a
 * new one is put in place by `link`, which never replaces.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { syncFolder } from "../../sync-folder.ts";
import { type EntryFacts, absent, factsOf, fromStats } from "../entry-facts.ts";
import { entriesPerTurn } from "../workspace-limits.ts";
import { HeldFolder } from "../held-folder.ts";
import { isAsWanted } from "./as-wanted.ts";
import { Journal } from "./journal.ts";
import { NewFiles } from "./new-files.ts";
import { ownLike } from "./own-like.ts";
import type { StagedChange, StagedEntry } from "./staged-change.ts";
import { reasonOf } from "../system-reason.ts";
import { TargetWalk } from "./target-walk.ts";

export type Applied = {
  /** By path: stamp of the entry that is now in the workspace. */
  readonly committed: ReadonlyMap<string, string>;
  readonly waiting: readonly StagedEntry[];
};

export const changedOutside = "it was changed outside meanwhile";

/**
 * Applies all entries that may be written; those that could not be come back with their reason. `durable`: they are on
 * disk when this resolves, so that what is staged may be removed although it was safe from a power cut.
 */
export async function applyChange(folder: string, change: StagedChange, durable: boolean): Promise<Applied> {
  const writable = change.entries.filter((entry) => entry.guarded === undefined && entry.reason === undefined);
  const waiting = change.entries.filter((entry) => entry.guarded !== undefined || entry.reason !== undefined);
  let root: HeldFolder;
  try {
    root = HeldFolder.open(change.workspace);
  } catch (cause) {
    const reason = `the workspace cannot be opened (${reasonOf(cause)})`;
    return { committed: new Map(), waiting: [...waiting, ...writable.map((entry) => ({ ...entry, reason }))] };
  }
  const journal = Journal.open(folder);
  const task = new Application({ root, folder, change, journal, durable });
  try {
    const held = await task.run(writable);
    return { committed: task.committed, waiting: [...waiting, ...held] };
  } finally {
    task.close();
    journal.close();
    root.close();
  }
}

type Parts = {
  readonly root: HeldFolder;
  readonly folder: string;
  readonly change: StagedChange;
  readonly journal: Journal;
  readonly durable: boolean;
};

class Application {
  readonly committed = new Map<string, string>();
  readonly #walk: TargetWalk;
  readonly #journal: Journal;
  readonly #durable: boolean;
  readonly #files: NewFiles;
  readonly #held = new Map<string, StagedEntry>();
  readonly #touched = new Set<string>();

  constructor({ root, folder, change, journal, durable }: Parts) {
    this.#walk = new TargetWalk(root);
    this.#journal = journal;
    this.#durable = durable;
    this.#files = new NewFiles({ walk: new TargetWalk(root), journal, folder, id: change.id, durable });
  }

  async run(entries: readonly StagedEntry[]): Promise<readonly StagedEntry[]> {
    this.#files.sweep();
    const ready = entries.filter((entry) => this.#isReady(entry));
    const written = await this.#files.write(ready);
    if (written.full !== undefined) {
      this.#files.sweep();
      const reason = `the workspace takes no more files (${written.full})`;
      return [...this.#held.values(), ...ready.map((entry) => ({ ...entry, reason }))];
    }
    for (const entry of written.waiting) this.#held.set(entry.path, entry);
    let steps = 0;
    for (const entry of inOrder(ready.filter((one) => !this.#held.has(one.path)))) {
      this.#place(entry);
      steps += 1;
      if (steps % entriesPerTurn === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    }
    this.#modes(ready);
    this.#files.sweep();
    if (this.#durable) this.#sync();
    return [...this.#held.values()];
  }

  close(): void {
    this.#walk.close();
    this.#files.close();
  }

  /** False for an entry that is done, and for one that other processes have changed. */
  #isReady(entry: StagedEntry): boolean {
    if (this.#journal.isDone(entry.path)) {
      this.committed.set(entry.path, this.#stampOf(entry));
      return false;
    }
    const facts = this.#walk.facts(entry.path);
    if ((facts?.stamp ?? absent) === entry.base || this.#isPlaced(entry, facts)) return true;
    if (isAsWanted(this.#walk, entry)) {
      this.#done(entry);
      return false;
    }
    this.#hold(entry, changedOutside);
    return false;
  }

  /** A folder that an earlier attempt made, and whose mode it could not set any more. */
  #isPlaced(entry: StagedEntry, facts: EntryFacts | undefined): boolean {
    return entry.after === "folder" && facts?.type === "folder" && this.#journal.isPlaced(entry.path);
  }

  #place(entry: StagedEntry): void {
    try {
      const { folder, name } = this.#walk.parentOf(entry.path);
      const at = folder.at(name);
      const facts = factsOf(at);
      if (this.#isPlaced(entry, facts)) return;
      if ((facts?.stamp ?? absent) !== entry.base) {
        this.#hold(entry, changedOutside);
        return;
      }
      if (entry.after === "folder") this.#journal.placed(entry.path);
      if (entry.kind !== "mode") this.#replace(entry, folder, name);
      else if (entry.after === "file") changeMode(at, entry);
      this.#touched.add(parentPath(entry.path));
      if (entry.after !== "folder") this.#done(entry);
    } catch (cause) {
      this.#hold(entry, sentenceOf(cause));
    }
  }

  #replace(entry: StagedEntry, folder: HeldFolder, name: string): void {
    const at = folder.at(name);
    if (entry.after === absent || entry.before === "folder" || entry.after === "folder") {
      // Only what is empty goes: entries of a folder are deletions of their own, and entries of other processes stay.
      if (entry.before === "folder") rmdirSync(at);
      else if (entry.before !== absent) unlinkSync(at);
    }
    if (entry.after === absent) return;
    if (entry.after === "folder") {
      mkdirSync(at, { mode: 0o700 });
      const made = HeldFolder.open(at);
      ownLike(folder, made.descriptor);
      made.close();
      return;
    }
    const fresh = this.#files.pathOf(entry.path);
    if (entry.before === absent || entry.before === "folder") linkInto(fresh, at);
    else renameSync(fresh, at);
  }

  /** Modes of folders come last: one without write permission could not have been filled. */
  #modes(entries: readonly StagedEntry[]): void {
    const folders = entries
      .filter((entry) => entry.after === "folder")
      .sort(byDepth)
      .reverse();
    for (const entry of folders) {
      if (this.#held.has(entry.path) || this.#journal.isDone(entry.path)) continue;
      try {
        const { folder, name } = this.#walk.parentOf(entry.path);
        changeMode(folder.at(name), entry);
        this.#done(entry);
      } catch (cause) {
        this.#hold(entry, sentenceOf(cause));
      }
    }
  }

  #done(entry: StagedEntry): void {
    this.#journal.done(entry.path);
    this.committed.set(entry.path, this.#stampOf(entry));
  }

  #stampOf(entry: StagedEntry): string {
    return entry.after === absent ? absent : (this.#walk.facts(entry.path)?.stamp ?? absent);
  }

  #hold(entry: StagedEntry, reason: string): void {
    this.#held.set(entry.path, { ...entry, reason });
  }

  #sync(): void {
    for (const path of this.#touched) {
      try {
        syncFolder(this.#walk.folder(path).at(""));
      } catch {
        // A folder that was deleted by a later step, or by others, has nothing to keep.
      }
    }
  }
}

/** Deletions deepest first, then from the root down: steps that free space come before steps that take it. */
function inOrder(entries: readonly StagedEntry[]): readonly StagedEntry[] {
  const removed = entries
    .filter((entry) => entry.after === absent)
    .sort(byDepth)
    .reverse();
  const others = entries.filter((entry) => entry.after !== absent).sort(byDepth);
  return [...removed, ...others];
}

function byDepth(one: StagedEntry, other: StagedEntry): number {
  const depth = one.path.split("/").length - other.path.split("/").length;
  return depth !== 0 ? depth : one.path < other.path ? -1 : one.path > other.path ? 1 : 0;
}

function parentPath(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/**
 * `chmod` follows links, so the mode is set through a descriptor: a link that replaces the file meanwhile redirects
 * nothing. `O_PATH` (open(2), Linux) needs no permission on the file itself.
 */
function changeMode(at: string, entry: StagedEntry): void {
  const descriptor = openSync(at, pathOnly | constants.O_NOFOLLOW);
  try {
    const facts = fromStats(fstatSync(descriptor, { bigint: true }));
    if (facts.type !== entry.after) throw Object.assign(new Error("another file"), { code: "ELOOP" });
    chmodSync(`/proc/self/fd/${descriptor}`, entry.mode & 0o777);
  } finally {
    closeSync(descriptor);
  }
}

const pathOnly = 0o10000000;

/** Never replaces an entry that appeared meanwhile; file systems without hard links get a rename after the look. */
function linkInto(fresh: string, at: string): void {
  try {
    linkSync(fresh, at);
    unlinkSync(fresh);
  } catch (cause) {
    if (!["EPERM", "EOPNOTSUPP", "ENOTSUP", "EMLINK", "ENOSYS"].includes(reasonOf(cause))) throw cause;
    renameSync(fresh, at);
  }
}

function sentenceOf(cause: unknown): string {
  const reason = reasonOf(cause);
  if (reason === "EEXIST" || reason === "ENOTEMPTY" || reason === "ENOTDIR" || reason === "ELOOP")
    return changedOutside;
  if (reason === "ENOENT") return "the folder around it is missing or waits itself";
  return `the system refused it (${reason})`;
}
