/**
 * Folders for the data of one program: what a scope lets a server write directly below `~/.local/share` is made where it
 * is not there, as the program would make it (XDG Base Directory Specification). A pack can then name such a folder, and
 * the first write of a new user does not fail.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../attempt.ts";
import { makeFolder } from "../../make-folder.ts";
import type { LaunchOrder } from "./launch-order.ts";

const dataFolder = /^~\/\.local\/share\/[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Makes them with access for their owner alone. One that cannot be made is told by the view as absent. */
export function makeDataFolders({ order, home, support, choice }: LaunchOrder): void {
  // Without the mapping of owners a folder of root's would be closed to the user that its servers run as.
  if (!existsSync(home) || (support.root && choice.chain !== "launcher")) return;
  for (const path of order.scope.files.write) {
    if (dataFolder.test(path)) attempt(() => makeFolder(join(home, path.slice(2)), 0o700), undefined);
  }
}
