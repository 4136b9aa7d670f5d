/**
 * Names in folders of a projection, read anew only when a folder may have changed since. Nearly every call leaves the
 * layer as it was, and one look at a folder's times costs a tenth of a listing.
 *
 * The kernel updates the change time of a folder with every name that is added, removed or replaced in it, and no
 * process can set it. Its clock stands still between ticks, so a listing made shortly after a change proves nothing
 * later and is not kept.
 */
import { attempt } from "../attempt.ts";
import { type Stats, fstatSync, lstatSync, readdirSync } from "node:fs";
import type { HeldFolder } from "./held-folder.ts";
import { listedFoldersMax, racyMs } from "./workspace-limits.ts";

type Listing = { readonly inode: number; readonly changedMs: number; readonly names: readonly string[] };

export class FolderNames {
  readonly #folder: HeldFolder;
  readonly #known = new Map<string, Listing>();

  constructor(folder: HeldFolder) {
    this.#folder = folder;
  }

  /** Names in the folder at `path`, `""` for the one that is held; undefined where it cannot be read. */
  at(path: string): readonly string[] | undefined {
    const before = this.#stats(path);
    const known = this.#known.get(path);
    if (before !== undefined && known !== undefined && before.ino === known.inode && before.ctimeMs === known.changedMs)
      return known.names;
    const names = namesIn(this.#folder.at(path));
    // The times are those from before the listing: what changes while it is made shows the next time.
    if (names === undefined || before === undefined || isRacy(before)) this.#known.delete(path);
    else {
      if (this.#known.size >= listedFoldersMax) this.#known.clear();
      this.#known.set(path, { inode: before.ino, changedMs: before.ctimeMs, names });
    }
    return names;
  }

  /** A change time in ms is exact to a quarter of a microsecond, and no listing is that quick. */
  #stats(path: string): Stats | undefined {
    try {
      if (path === "") return fstatSync(this.#folder.descriptor);
      return lstatSync(this.#folder.at(path), { throwIfNoEntry: false });
    } catch {
      return undefined;
    }
  }
}

function isRacy({ ctimeMs }: Stats): boolean {
  return ctimeMs > Date.now() - racyMs;
}

/** Names in a folder, read now; undefined where it cannot be read. */
export function namesIn(path: string): readonly string[] | undefined {
  return attempt(() => readdirSync(path), undefined);
}
