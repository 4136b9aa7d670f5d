import { fchownSync, fstatSync } from "node:fs";
import type { HeldFolder } from "../held-folder.ts";

/**
 * A gateway that is root leaves no files of root in the user's workspace: new ones belong to the folder's owner. By
 * descriptor, for a path could by now be a hard link to a file of root, which would be given away.
 */
export function ownLike(folder: HeldFolder, descriptor: number): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = fstatSync(folder.descriptor);
  fchownSync(descriptor, uid, gid);
}
