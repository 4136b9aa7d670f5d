/**
 * The file through which a supervisor hands records to the gateway: a ring of bytes behind a small head, in memory, of
 * a fixed size and with all its pages in place, so that neither side can fail for lack of memory.
 *
 * The supervisor writes through a mapping, before it lets the traced process go on; the gateway reads with a plain
 * read. Both access the same pages, so an act recorded before a process went on is visible to every later read.
 * Positions count bytes since the start modulo 2^32. The head is written twice: a reader that sees two different values
 * saw half a write.
 */
import { ftruncateSync, readSync, writeSync } from "node:fs";
import type { Sighting } from "../projection/parts.ts";
import { recordRingBytes, unmarkedBytesMax, unpublishedBytesMax } from "./tracer-limits.ts";
import type { Arena } from "./native.ts";
import { type Act, decodeRecords, encodeRecord, recordBytesMax } from "./record.ts";

const places = { head: 0, headAgain: 4, lost: 8, tail: 16, drains: 20 } as const;
const headBytes = 64;

export const ringFileBytes: number = headBytes + recordRingBytes;

/** Gives a new, empty file its size. Zeros are written out, because a hole might not be filled later. */
export function prepareRing(fd: number): void {
  ftruncateSync(fd, 0);
  writeSync(fd, new Uint8Array(ringFileBytes), 0, ringFileBytes, 0);
}

/** The supervisor's side. */
export class RingWriter {
  readonly #file: Arena;
  readonly #scratch = Buffer.alloc(recordBytesMax);
  #head = 0;
  #lost = 0;

  constructor(file: Arena) {
    this.#file = file;
  }

  /** Position behind the last record. */
  get written(): number {
    return this.#head;
  }

  /** Changes with every marked drain: what was recorded once must be recorded again after it. */
  get drains(): number {
    return this.#file.view.getUint32(places.drains, true);
  }

  /** Bytes that the gateway has not fetched yet. */
  get waiting(): number {
    return (this.#head - this.#file.view.getUint32(places.tail, true)) >>> 0;
  }

  /** Puts an act on record, or counts it as lost where the gateway leaves no room. */
  put(act: Act, process: number, at: number): void {
    const length = encodeRecord(act, process, at, this.#scratch);
    if (this.waiting + length > recordRingBytes) {
      this.lose();
      return;
    }
    const start = this.#head % recordRingBytes;
    const first = Math.min(length, recordRingBytes - start);
    this.#scratch.copy(this.#file.bytes, headBytes + start, 0, first);
    this.#scratch.copy(this.#file.bytes, headBytes, first, length);
    this.#head = (this.#head + length) >>> 0;
    this.#file.view.setUint32(places.headAgain, this.#head, true);
    this.#file.view.setUint32(places.head, this.#head, true);
  }

  /** Counts an act that could not be recorded. */
  lose(): void {
    this.#lost = Math.min(this.#lost + 1, 0xffffffff);
    this.#file.view.setUint32(places.lost, this.#lost, true);
  }
}

/** Reads of a head that may meet the supervisor in the middle of its two writes. */
const headReadsMax = 64;

/** The gateway's side. */
export class RingReader {
  readonly #fd: number;
  readonly #shiftMs: number;
  readonly #headBytes = Buffer.alloc(headBytes);
  readonly #mark = Buffer.alloc(8);
  #tail = 0;
  #drains = 0;
  #markedAt = 0;
  lost = 0;

  constructor(fd: number, shiftMs: number) {
    this.#fd = fd;
    this.#shiftMs = shiftMs;
  }

  /**
   * All records since the last time, oldest first; undefined if the bytes are not valid records. Throws the system's
   * read errors.
   */
  read(): readonly Sighting[] | undefined {
    const head = this.#readHead();
    if (head === this.#tail) return [];
    // The mark comes before the reading: what a process repeats from here on is recorded again. What it did between
    // these two lines came after the answer that is waited for, and is read with the next drain. After a few records
    // nothing is taken for a repetition yet (`repeats.ts`).
    if ((head - this.#markedAt) >>> 0 > unmarkedBytesMax) {
      this.#markedAt = head;
      this.#drains = (this.#drains + 1) >>> 0;
      this.#publish();
    }
    const length = (head - this.#tail) >>> 0;
    if (length > recordRingBytes) return undefined;
    const bytes = Buffer.allocUnsafe(length);
    const start = this.#tail % recordRingBytes;
    const first = Math.min(length, recordRingBytes - start);
    readSync(this.#fd, bytes, 0, first, headBytes + start);
    if (first < length) readSync(this.#fd, bytes, first, length - first, headBytes);
    this.#tail = head;
    // The room of a few records is given back with the next mark.
    if (length > unpublishedBytesMax) this.#publish();
    return decodeRecords(bytes, this.#shiftMs);
  }

  #readHead(): number {
    let head = 0;
    for (let reads = 0; reads < headReadsMax; reads++) {
      readSync(this.#fd, this.#headBytes, 0, headBytes, 0);
      head = this.#headBytes.readUInt32LE(places.head);
      this.lost = this.#headBytes.readUInt32LE(places.lost);
      if (head === this.#headBytes.readUInt32LE(places.headAgain)) break;
    }
    // The supervisor writes this copy last, so even a reading cut in half names only records that are whole.
    return head;
  }

  #publish(): void {
    this.#mark.writeUInt32LE(this.#tail, 0);
    this.#mark.writeUInt32LE(this.#drains, 4);
    writeSync(this.#fd, this.#mark, 0, 8, places.tail);
  }
}
