/**
 * What a waiting process has handed to the kernel, read from its memory. Another thread of it may write there at the
 * same time, so nothing read here is what the kernel will act on: it is a hint (seccomp_unotify(2), "Caveats").
 */
import { pathBytesMax } from "./limits.ts";
import type { Arena, Native } from "./native.ts";

/** Memory is readable by whole pages; a text may end just before one that is not. */
const pageBytes = 4096;

const headBytes = 64;

export class ProcessMemory {
  readonly #native: Native;
  readonly #arena: Arena;

  /** `arena`: at least `processMemoryBytes` that nobody else uses. */
  constructor(native: Native, arena: Arena) {
    this.#native = native;
    this.#arena = arena;
    arena.view.setBigUint64(0, BigInt(arena.address + headBytes), true);
  }

  /** Bytes at an address, as many as are readable up to `length`; undefined where none are. Valid until the next read. */
  read(thread: number, address: number, length: number): Buffer | undefined {
    if (address === 0) return undefined;
    const wanted = Math.min(length, pathBytesMax);
    const first = Math.min(wanted, pageBytes - (address % pageBytes));
    const view = this.#arena.view;
    view.setBigUint64(8, BigInt(wanted), true);
    // One entry for each page: the kernel copies whole entries or stops.
    view.setBigUint64(16, BigInt(address), true);
    view.setBigUint64(24, BigInt(first), true);
    view.setBigUint64(32, BigInt(address + first), true);
    view.setBigUint64(40, BigInt(wanted - first), true);
    const base = this.#arena.address;
    const got = this.#native.readMemory(thread, base, base + 16, first < wanted ? 2 : 1);
    return got <= 0 ? undefined : this.#arena.bytes.subarray(headBytes, headBytes + got);
  }

  /** A text that ends with a zero, one character per byte; undefined where it cannot be read. */
  text(thread: number, address: number, lengthMax: number = pathBytesMax): string | undefined {
    const bytes = this.read(thread, address, lengthMax);
    if (bytes === undefined) return undefined;
    const end = bytes.indexOf(0);
    return bytes.toString("latin1", 0, end === -1 ? bytes.length : end);
  }
}

export const processMemoryBytes: number = headBytes + pathBytesMax;
