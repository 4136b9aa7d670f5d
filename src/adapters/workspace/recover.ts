/** Finishes what ended gateways left: agreed changes are applied, half-staged ones and temporary folders removed. */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { applyChange } from "./apply.ts";
import { lockChange } from "./change-lock.ts";
import { finish } from "./commit.ts";
import { changesFolder, readManifest } from "./staged-change.ts";
import { sweepScratch } from "./scratch.ts";

export type Recovered = {
  /** Changes that were agreed on and unfinished, by id, with the paths that still wait. */
  readonly finished: readonly { readonly id: string; readonly committed: number; readonly waiting: number }[];
};

/** Run when a gateway starts and before held changes are shown. Leaves alone what a living process works on. */
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
      // Its process ended before all was saved: nothing had been agreed on or touched.
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
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
