/** Whether a process of ours has ended, known in the very turn in which somebody asks. */
import { closeSync, openSync, readSync } from "node:fs";

/**
 * Reads the size of a process (proc_pid_statm(5)) through a descriptor that is kept open, so that the number may be
 * given again without harm. A process gives up its memory before its descriptors: once anybody has felt its end, the
 * size is zero, or the process is gone (ESRCH).
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
    if (this.#fd === undefined) return false;
    try {
      return readSync(this.#fd, this.#bytes, 0, 2, 0) === 2 && this.#bytes.toString("latin1") !== "0 ";
    } catch {
      return false;
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
