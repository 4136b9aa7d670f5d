/**
 * Copies of writes that a call was answered for, while the verdict of their run is still to come (`per: run`). They are
 * held changes from the start, so neither a rejection later in the run nor a crash loses what a client was told is
 * done. Where the run ends well its writes go from the projection as usual, and the copies go.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Result, ok } from "../../core/result.ts";
import type { ChangeOrigin } from "../projection/parts.ts";
import { stage } from "./commit/stage.ts";
import { type StagedChange, writeManifest } from "./commit/staged-change.ts";
import type { Difference } from "./difference.ts";
import type { WorkspaceScan } from "./scan.ts";
import { savedCopiesMax } from "./workspace-limits.ts";

type Parts = { readonly scan: WorkspaceScan; readonly workspace: string; readonly stateFolder: string };

type Copy = {
  readonly folder: string;
  readonly change: StagedChange;
  /** Mark of each saved path. */
  readonly marks: ReadonlyMap<string, string>;
  readonly unlock: () => void;
};

const waitsReason = "it was to be decided at the end of its run";
const rejectedReason = "a later call of its run was rejected";

export class SavedCopies {
  readonly #parts: Parts;
  #copies: readonly Copy[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Paths with a copy. */
  get paths(): readonly string[] {
    return this.#copies.flatMap(({ change }) => change.entries.map(({ path }) => path));
  }

  /**
   * Saves the named ones of all differences. A newer copy of a path replaces the older one. After an error (a sentence)
   * there is no new copy.
   */
  async save(
    found: readonly Difference[],
    named: ReadonlySet<string>,
    origin: ChangeOrigin,
  ): Promise<Result<void, string>> {
    const many = this.#copies.length >= savedCopiesMax;
    const differences = found.filter(
      (one) => named.has(one.path) || (many && this.#copies.some(({ marks }) => marks.get(one.path) === one.mark)),
    );
    if (differences.length === 0) return ok(undefined);
    const { scan, workspace, stateFolder } = this.#parts;
    const staged = await stage({
      stateFolder,
      source: scan.source,
      differences: differences.map((difference) => ({ difference, reason: undefined })),
      about: {
        workspace,
        run: origin.run ?? "",
        server: origin.server,
        call: origin.call,
        wallMs: Date.now(),
        state: "held",
        reason: waitsReason,
      },
    });
    if (!staged.ok) return staged;
    const { folder, change, unlock } = staged.value;
    const kept = new Set(change.entries.map(({ path }) => path));
    this.forget((path) => kept.has(path));
    const marks = new Map(differences.map(({ path, mark }) => [path, mark]));
    this.#copies = [...this.#copies, { folder, change, marks, unlock }];
    return ok(undefined);
  }

  /** Removes the copies of paths whose content is elsewhere by now, or is wanted no more. */
  forget(isDone: (path: string) => boolean): void {
    this.#copies = this.#copies.flatMap((copy) => without(copy, isDone));
  }

  /** The rest of the run is thrown away: the copies wait for the user. Returns their paths, with the reason. */
  leaveRejected(): readonly { readonly path: string; readonly reason: string }[] {
    const { paths } = this;
    for (const { folder, change } of this.#copies) writeManifest(folder, { ...change, reason: rejectedReason });
    this.leave();
    return paths.map((path) => ({ path, reason: rejectedReason }));
  }

  /** Lets the user decide about the copies that are left. */
  leave(): void {
    for (const { unlock } of this.#copies) unlock();
    this.#copies = [];
  }
}

/** What is left of a copy. */
function without(copy: Copy, isDone: (path: string) => boolean): readonly Copy[] {
  const { folder, change } = copy;
  const entries = change.entries.filter(({ path }) => !isDone(path));
  if (entries.length === change.entries.length) return [copy];
  if (entries.length === 0) {
    rmSync(folder, { recursive: true, force: true });
    return [];
  }
  const rest = { ...change, entries };
  writeManifest(folder, rest);
  for (const { path, blob } of change.entries)
    if (blob !== undefined && isDone(path)) rmSync(join(folder, "files", blob), { force: true });
  return [{ ...copy, change: rest }];
}
