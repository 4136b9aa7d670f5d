/** Reads a workspace that other processes may change at the same time. */
import { type EntryFacts, factsOf } from "../entry-facts.ts";
import { FolderWalk, HeldFolder } from "../held-folder.ts";

export class TargetWalk {
  readonly #root: HeldFolder;
  #walk: FolderWalk;

  constructor(root: HeldFolder) {
    this.#root = root;
    this.#walk = new FolderWalk(root);
  }

  /** The folder around a path; throws as `open` does. Good until the next call. */
  parentOf(path: string): { readonly folder: HeldFolder; readonly name: string } {
    return this.#walk.parentOf(path);
  }

  /** Facts about the entry at a path; undefined if there is none, or if its folder cannot be reached without links. */
  facts(path: string): EntryFacts | undefined {
    try {
      const { folder, name } = this.parentOf(path);
      return factsOf(folder.at(name));
    } catch {
      return undefined;
    }
  }

  /** A folder by its own path, `""` for the workspace. Throws where it is none. */
  folder(path: string): HeldFolder {
    return path === "" ? this.#root : this.#walk.parentOf(`${path}/.x`).folder;
  }

  /** The deepest folder that exists above a path, where a new file can wait on the same file system. */
  nearest(path: string): { readonly folder: HeldFolder; readonly path: string } {
    const parts = path.split("/").slice(0, -1);
    for (let depth = parts.length; depth > 0; depth -= 1) {
      const above = parts.slice(0, depth).join("/");
      try {
        return { folder: this.folder(above), path: above };
      } catch {
        // Not there yet, or about to be replaced: the one above will do.
      }
    }
    return { folder: this.#root, path: "" };
  }

  close(): void {
    this.#walk.close();
  }
}
