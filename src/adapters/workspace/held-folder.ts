/**
 * A folder that is held open, so that operations in it cannot be redirected.
 *
 * Node has no `openat`, but `/proc/self/fd/N/name` is the same: the kernel takes the folder from the descriptor and
 * resolves one name in it. Walking so, one part at a time and without following links, closes the race in which another
 * process swaps a folder on the way for a symbolic link (CWE-367). It also reaches what no path leads to any more: a
 * mount whose namespace has ended lives as long as the descriptor.
 */
import { closeSync, constants, openSync } from "node:fs";
import { pathPartsMax } from "./workspace-limits.ts";

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

export class HeldFolder {
  readonly descriptor: number;

  private constructor(descriptor: number) {
    this.descriptor = descriptor;
  }

  /** Throws the system's error where there is no folder, or a link to one. */
  static open(path: string): HeldFolder {
    return new HeldFolder(openSync(path, folderFlags));
  }

  /** Path of an entry in this folder; `path` may have several parts only where no other process can swap one. */
  at(path: string): string {
    return path === "" ? `/proc/self/fd/${this.descriptor}` : `/proc/self/fd/${this.descriptor}/${path}`;
  }

  close(): void {
    closeSync(this.descriptor);
  }
}

/**
 * Walks below one folder and keeps the folders of the last path open, so that neighbours cost nothing. A result is
 * valid until the next walk.
 */
export class FolderWalk {
  readonly #root: HeldFolder;
  readonly #open: { readonly name: string; readonly folder: HeldFolder }[] = [];

  constructor(root: HeldFolder) {
    this.#root = root;
  }

  /** The parent folder of `path`, and its last part. Throws as `open` does when a part is no folder. */
  parentOf(path: string): { readonly folder: HeldFolder; readonly name: string } {
    const parts = path.split("/");
    const name = parts.pop() ?? "";
    if (!isName(name) || parts.length >= pathPartsMax) throw new Error("not a path inside of a folder");
    let known = 0;
    while (known < parts.length && this.#open[known]?.name === parts[known]) known += 1;
    this.#closeFrom(known);
    for (const part of parts.slice(known)) {
      if (!isName(part)) throw new Error("not a path inside of a folder");
      const folder = HeldFolder.open(this.#last().at(part));
      this.#open.push({ name: part, folder });
    }
    return { folder: this.#last(), name };
  }

  /** Closes all folders except the one that the walk began with. */
  close(): void {
    this.#closeFrom(0);
  }

  #last(): HeldFolder {
    return this.#open.at(-1)?.folder ?? this.#root;
  }

  #closeFrom(depth: number): void {
    for (const { folder } of this.#open.splice(depth)) folder.close();
  }
}

function isName(part: string): boolean {
  return part !== "" && part !== "." && part !== ".." && !part.includes("/") && !part.includes("\0");
}
