/** Tests synchronously whether a child process has ended. */
import { attempt } from "../attempt.ts";
import { closeSync, openSync, readSync } from "node:fs";

/**
 * Reads the size of a process (proc_pid_statm(5)) through a descriptor that is kept open, so that a reuse of the pid
 * does no harm. A process gives up its memory before its descriptors: once its end has any visible effect, the size is
 * zero, or the process is gone (ESRCH).
 */
export class Liveness {
  readonly #bytes = Buffer.alloc(2);
  #fd: number | undefined;

  constructor(pid: number | undefined) {
    try {
      this.#fd = pid === undefined ? undefined : openSync(`/proc/${pid}/statm`, "r");
    } catch {
      // Ended already: its `exit` event follows.
    }
  }

  /** True while it runs. False once it has ended, and after `close`. */
  alive(): boolean {
    const fd = this.#fd;
    if (fd === undefined) return false;
    return attempt(() => readSync(fd, this.#bytes, 0, 2, 0) === 2 && this.#bytes.toString("latin1") !== "0 ", false);
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
