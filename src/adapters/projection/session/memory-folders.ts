/** Bytes in the private folders in memory of a projection (tmpfs), as its own processes see them. */
import { statfsSync } from "node:fs";
import { attempt } from "../../attempt.ts";

/** The folders, and the size that each was made with. */
export type InMemory = { readonly folders: readonly string[]; readonly sizeMb: number };

/** `TMPFS_MAGIC` of linux/magic.h. */
const tmpfsType = 0x01021994;
/** Processes of a server that are asked; the youngest first, which are inside for certain. */
const askedMax = 8;

/** Bytes used in all of them; 0 where no process of the projection is inside of it yet, or none may be asked. */
export function bytesInMemory(pids: readonly number[], { folders, sizeMb }: InMemory): number {
  for (const pid of pids.slice(-askedMax).toReversed()) {
    const used = folders.flatMap((folder) => usedBytes(`/proc/${pid}/root${folder}`, sizeMb * 1_048_576) ?? []);
    if (used.length > 0) return used.reduce((sum, one) => sum + one, 0);
  }
  return 0;
}

/** Undefined for another filesystem: before the projection is made, its processes see the folders of the machine. */
function usedBytes(path: string, sizeBytes: number): number | undefined {
  const found = attempt(() => statfsSync(path), undefined);
  if (found === undefined || found.type !== tmpfsType || found.blocks * found.bsize !== sizeBytes) return undefined;
  return (found.blocks - found.bfree) * found.bsize;
}
