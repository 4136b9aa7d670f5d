/**
 * Finishes the changes of gateways that ended: accepted changes are applied, half-staged ones and temporary folders
 * removed.
 */
import { attempt } from "../../attempt.ts";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { applyChange } from "./apply.ts";
import { lockChange } from "./change-lock.ts";
import { finish } from "./commit.ts";
import { changesFolder, readManifest } from "./staged-change.ts";
import { sweepScratch } from "../scratch.ts";

export type Recovered = {
  /** Accepted changes that were unfinished, by id, with the numbers of committed and waiting paths. */
  readonly finished: readonly { readonly id: string; readonly committed: number; readonly waiting: number }[];
};

/** Run when a gateway starts and before held changes are shown. Skips changes that a living process works on. */
export async function recover(stateFolder: string): Promise<Recovered> {
  sweepScratch(stateFolder);
  const finished: Recovered["finished"][number][] = [];
  for (const id of namesOf(changesFolder(stateFolder))) {
    const folder = join(changesFolder(stateFolder), id);
    const change = readManifest(folder);
    if (change?.state === "held") continue;
    const unlock = lockChange(folder);
    if (unlock === undefined) continue;
    try {
      // Its process ended before all was saved: nothing had been accepted or changed.
      const again = readManifest(folder);
      if (again === undefined && !existsSync(join(folder, "manifest.json")))
        rmSync(folder, { recursive: true, force: true });
      if (again?.state !== "applying") continue;
      const applied = await applyChange(folder, again, true);
      const waiting = finish(folder, again, applied.waiting);
      finished.push({ id, committed: applied.committed.size, waiting: waiting.length });
    } finally {
      unlock();
    }
  }
  return { finished };
}

function namesOf(folder: string): readonly string[] {
  return attempt(() => readdirSync(folder).sort(), []);
}
