/**
 * Closes new files, and forces those to disk first that must outlive a power cut, several at a time: a journalling file
 * system then writes its journal once for all of them. One `syncfs` for all was measured and is slower on a busy
 * machine, because it waits for the writes of all processes.
 */
import { close, fsync } from "node:fs";
import { promisify } from "node:util";
import { syncedFilesMax } from "../workspace-limits.ts";

const fsynced = promisify(fsync);
const closed = promisify(close);

export class SyncQueue {
  readonly #durable: boolean;
  #waiting: number[] = [];

  constructor(durable: boolean) {
    this.#durable = durable;
  }

  /** Takes the descriptor over and closes it. Throws the system's error where something could not be written. */
  async add(descriptor: number): Promise<void> {
    if (!this.#durable) return closed(descriptor);
    this.#waiting.push(descriptor);
    if (this.#waiting.length >= syncedFilesMax) await this.flush();
  }

  async flush(): Promise<void> {
    const all = this.#waiting.splice(0);
    const synced = await Promise.allSettled(all.map((one) => fsynced(one)));
    await Promise.allSettled(all.map((one) => closed(one)));
    for (const one of synced) if (one.status === "rejected") throw one.reason;
  }
}
