/**
 * Differences between a workspace and its projection that are already settled. The upper layer of a live overlay may
 * not be edited (stale entries would lose writes), so committed changes stay in it; this memory keeps them from being
 * shown again.
 */
import { type EntryFacts, absent } from "./entry-facts.ts";
import { clockSlackMs, compareBytesMax, racyMs, recompareBytesMax } from "./workspace-limits.ts";

type Settled = {
  readonly mark: string;
  /** It may have changed after it was looked at within one tick of the clock, so that the mark does not tell. */
  readonly racy: boolean;
  /** Digest of the version that is held for review. */
  readonly held?: string;
};

type Base = { readonly stamp: string; readonly outside: boolean };

export class ScanMemory {
  readonly #settled = new Map<string, Settled>();
  readonly #bases = new Map<string, Base>();
  readonly #committed = new Set<string>();
  #seen = new Set<string>();
  /** Wall-clock ms of the last look: entries that are new since then were made since then. */
  #previousMs: number;
  #currentMs: number;

  constructor(startMs: number) {
    this.#previousMs = startMs;
    this.#currentMs = startMs;
  }

  begin(nowMs: number): void {
    this.#currentMs = nowMs;
    this.#seen = new Set();
  }

  /** Forgets first sights of changes that the server has undone itself. */
  end(): void {
    for (const path of this.#bases.keys()) {
      if (!this.#seen.has(path) && !this.#committed.has(path) && !this.isHeld(path)) this.#bases.delete(path);
    }
    this.#previousMs = this.#currentMs;
  }

  /** True iff this state of the entry needs no further look. */
  isSettled(path: string, mark: string): boolean {
    const known = this.#settled.get(path);
    return known !== undefined && known.mark === mark && (!known.racy || known.held !== undefined);
  }

  /**
   * Bytes up to which an entry in this state is worth a comparison: known ones are read once more, others are changes.
   */
  comparedBytesMax(path: string, mark: string): number {
    return this.#settled.get(path)?.mark === mark ? recompareBytesMax : compareBytesMax;
  }

  isHeld(path: string): boolean {
    return this.heldDigest(path) !== undefined;
  }

  heldDigest(path: string): string | undefined {
    return this.#settled.get(path)?.held;
  }

  /** Stamp that the last commit of this path left in the workspace. */
  committedAs(path: string): string | undefined {
    return this.#committed.has(path) ? this.#bases.get(path)?.stamp : undefined;
  }

  committedPaths(): Iterable<string> {
    return this.#committed;
  }

  /** Marks an entry as equal to the workspace's, so it is not a change. */
  same(path: string, facts: EntryFacts): void {
    const racy = facts.type === "file" && facts.changedMs > this.#currentMs - racyMs;
    this.#settled.set(path, { mark: facts.stamp, racy });
  }

  /**
   * The state of the workspace that a change is measured against: as it was when the change was first seen, or as the
   * last commit left it. `bornMs` is when the server's version began (0 = unknown).
   */
  base(path: string, real: EntryFacts | undefined, bornMs: number): Base {
    this.#seen.add(path);
    const known = this.#bases.get(path);
    if (known !== undefined) return known;
    const sinceMs = Math.max(this.#previousMs - clockSlackMs, bornMs);
    // The change time of a folder moves with every entry in it, so only identity and mode speak for a folder.
    const outside = real !== undefined && real.type !== "folder" && real.changedMs >= sinceMs;
    const base = { stamp: real?.stamp ?? absent, outside };
    this.#bases.set(path, base);
    return base;
  }

  /** This state has reached the workspace and left `stamp` there. */
  commit(path: string, mark: string, stamp: string): void {
    const changedMs = mark.startsWith("file:") ? Number(mark.slice(mark.lastIndexOf(":") + 1)) / 1e6 : 0;
    this.#settled.set(path, { mark, racy: changedMs > this.#currentMs - racyMs });
    this.#committed.add(path);
    this.#bases.set(path, { stamp, outside: false });
  }

  /** Marks this state as held for review. */
  hold(path: string, mark: string, digest: string): void {
    this.#settled.set(path, { mark, racy: false, held: digest });
  }

  /** Records that a user has applied the held version to the workspace. */
  release(path: string, stamp: string): void {
    this.#settled.delete(path);
    this.#committed.add(path);
    this.#bases.set(path, { stamp, outside: false });
  }
}
