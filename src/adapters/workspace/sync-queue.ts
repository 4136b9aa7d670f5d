/**
 * Forces new files to disk. Few of them one by one; many by one `syncfs`, because each `fsync` makes a journalling file
 * system write its journal.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { close, closeSync, constants, fsync, openSync } from "node:fs";
import { promisify } from "node:util";
import { syncedFilesMax } from "./limits.ts";

const fsynced = promisify(fsync);
const closed = promisify(close);

export class SyncQueue {
  /** A folder on the file system of all files. */
  readonly #folder: string;
  readonly #many: boolean;
  #waiting: number[] = [];
  #added = 0;

  constructor(folder: string, files: number) {
    this.#folder = folder;
    this.#many = files > syncedFilesMax && !missing;
  }

  /** Takes the descriptor over and closes it. */
  async add(descriptor: number): Promise<void> {
    this.#added += 1;
    if (this.#many) closeSync(descriptor);
    else this.#waiting.push(descriptor);
    if (this.#waiting.length >= syncedFilesMax) await this.flush();
  }

  /** Throws the system's error where something could not be written. */
  async flush(): Promise<void> {
    if (this.#many) {
      if (this.#added > 0) await syncAll(this.#folder);
      return;
    }
    const all = this.#waiting.splice(0);
    const synced = await Promise.allSettled(all.map((one) => fsynced(one)));
    await Promise.allSettled(all.map((one) => closed(one)));
    for (const one of synced) if (one.status === "rejected") throw one.reason;
  }
}

/** True once no `sync` program was found: then files are synced one by one. */
let missing = false;

/** Node has no syncfs(2); `sync -f` of coreutils is one. The folder goes by descriptor, so no path is looked up again. */
async function syncAll(folder: string): Promise<void> {
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    if (await ran(["-f", "/proc/self/fd/0"], descriptor)) return;
    // An older or smaller `sync` knows no `-f`, and writes all file systems.
    if (await ran([], descriptor)) return;
    missing = true;
    throw Object.assign(new Error("nothing syncs files here"), { code: "EIO" });
  } finally {
    closeSync(descriptor);
  }
}

async function ran(args: readonly string[], input: number): Promise<boolean> {
  const child = spawn("sync", args, { stdio: [input, "ignore", "ignore"] });
  try {
    const [code] = await once(child, "exit");
    return code === 0;
  } catch {
    return false;
  }
}
