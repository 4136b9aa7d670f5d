/**
 * Arguments that a waiting process has passed to the kernel, read from its memory. Another of its threads may write
 * there at the same time, so the kernel may act on other values: all values read here are hints (seccomp_unotify(2),
 * "Caveats").
 */
import { pathBytesMax } from "../tracer-limits.ts";
import type { Arena, Native } from "../native.ts";

/** Memory is readable by whole pages; a text may end just before an unreadable page. */
const pageBytes = 4096;

/** ESRCH and EFAULT of errno.h: the waiting process is gone, or nothing is mapped at the address. */
const unreadable: ReadonlySet<number> = new Set([3, 14]);

/** Length of the first read of a text: most texts are shorter, and every page that is read costs time. */
const usualTextBytes = 256;

const headBytes = 64;

export class ProcessMemory {
  readonly #native: Native;
  readonly #arena: Arena;

  /** `arena`: at least `processMemoryBytes` for this object alone. */
  constructor(native: Native, arena: Arena) {
    this.#native = native;
    this.#arena = arena;
    this.#put(0, arena.address + headBytes);
  }

  /**
   * Bytes at an address, as many as are readable up to `length`; undefined if none are, neither for the kernel nor for
   * the supervisor. Valid until the next read. Throws if the kernel can read the memory but the supervisor may not: a
   * process can hide its memory from its own user (PR_SET_DUMPABLE), and that must not pass for a call without effect.
   */
  read(thread: number, address: number, length: number): Buffer | undefined {
    if (address === 0) return undefined;
    const wanted = Math.min(length, pathBytesMax);
    const first = Math.min(wanted, pageBytes - (address % pageBytes));
    this.#put(8, wanted);
    // One entry for each page: the kernel copies whole entries or stops.
    this.#put(16, address);
    this.#put(24, first);
    this.#put(32, address + first);
    this.#put(40, wanted - first);
    const base = this.#arena.address;
    const got = this.#native.readMemory(thread, base, base + 16, first < wanted ? 2 : 1);
    if (got < 0 && !unreadable.has(this.#native.errorNumber())) throw new Error("the memory of the process is closed");
    return got <= 0 ? undefined : this.#arena.bytes.subarray(headBytes, headBytes + got);
  }

  /** A word of 64 bits; in two halves, because a whole one would be made anew on the heap each time. */
  #put(at: number, value: number): void {
    this.#arena.view.setUint32(at, value % 0x1_0000_0000, true);
    this.#arena.view.setUint32(at + 4, Math.floor(value / 0x1_0000_0000), true);
  }

  /** A text that ends with a zero, one character per byte; undefined where it cannot be read. */
  text(thread: number, address: number, lengthMax: number = pathBytesMax): string | undefined {
    const length = Math.min(lengthMax, usualTextBytes);
    const bytes = this.read(thread, address, length);
    if (bytes === undefined) return undefined;
    const end = bytes.indexOf(0);
    if (end !== -1) return bytes.toString("latin1", 0, end);
    if (bytes.length < length || length === lengthMax) return bytes.toString("latin1");
    // Read anew from its beginning: the first part may have been changed meanwhile, and two parts of different states
    // must not be joined.
    const all = this.read(thread, address, lengthMax);
    const last = all?.indexOf(0) ?? -1;
    return all?.toString("latin1", 0, last === -1 ? all.length : last);
  }
}

export const processMemoryBytes: number = headBytes + pathBytesMax;
