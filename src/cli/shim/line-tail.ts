/**
 * The last lines that went through one direction of the splice, as bounded samples.
 *
 * When the daemon dies, the shim must tell the client which of its requests have an unknown outcome. Parsing every
 * message for that would cost more than the splice itself; so the hot path only copies a few bytes for each line, and
 * the ids are looked for after a loss. What falls out of the tail is an old line: its request was answered long ago, or
 * its client gave up.
 */
import { tailBytesMax, tailLinesMax } from "../../adapters/daemon/daemon-limits.ts";

const newline = 10;
const trimLines = 64;

export class LineTail {
  readonly #half: number;
  /** Samples one behind the other, the last one unfinished. Its pages are not there until something is written to them. */
  readonly #bytes: Buffer;
  /** Where each ended sample ends. */
  #ends: number[] = [];
  /** Where the unfinished sample begins and ends. */
  #start = 0;
  #used = 0;
  #midLine = false;

  constructor(sampleBytesMax: number) {
    this.#half = sampleBytesMax >> 1;
    this.#bytes = Buffer.allocUnsafeSlow(2 * tailBytesMax + 2 * this.#half);
  }

  /** True iff the last byte that went through did not end a line. */
  get midLine(): boolean {
    return this.#midLine;
  }

  /** Sample of the line that has not ended yet. */
  get partial(): Buffer {
    return Buffer.from(this.#bytes.subarray(this.#start, this.#used));
  }

  /** Samples of ended lines, oldest first. */
  get lines(): readonly Buffer[] {
    return this.#ends.map((end, index) => Buffer.from(this.#bytes.subarray(this.#ends[index - 1] ?? 0, end)));
  }

  /** Copies what it keeps: the chunk's memory may be used again afterwards. */
  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#sample(chunk, start, end);
      if (this.#used > this.#start) this.#hold();
      start = end + 1;
    }
    this.#midLine = start < chunk.length;
    if (this.#midLine) this.#sample(chunk, start, chunk.length);
  }

  /** Forgets everything: a new session begins. */
  clear(): void {
    this.#ends = [];
    this.#start = 0;
    this.#used = 0;
    this.#midLine = false;
  }

  /** Adds a part to the unfinished sample; over the cap the middle is left out. */
  #sample(chunk: Buffer, start: number, end: number): void {
    const half = this.#half;
    if (this.#used - this.#start + end - start <= 2 * half) {
      this.#bytes.set(chunk.subarray(start, end), this.#used);
      this.#used += end - start;
      return;
    }
    const middle = this.#start + half;
    const missing = middle - this.#used;
    if (missing > 0) this.#bytes.set(chunk.subarray(start, start + missing), this.#used);
    const last = Math.min(half, end - start);
    if (last < half) this.#bytes.copyWithin(middle, this.#used - (half - last), this.#used);
    this.#used = middle + half;
    this.#bytes.set(chunk.subarray(end - last, end), this.#used - last);
  }

  #hold(): void {
    this.#ends.push(this.#used);
    this.#start = this.#used;
    if (this.#ends.length <= tailLinesMax + trimLines && this.#used <= 2 * tailBytesMax) return;
    // Trimmed in bulk, so that the hot path moves no bytes for most lines.
    const kept = this.#ends.slice(-tailLinesMax - 1);
    const dropped = kept.find((end) => this.#used - end <= tailBytesMax) ?? this.#used;
    this.#bytes.copyWithin(0, dropped, this.#used);
    this.#ends = kept.filter((end) => end > dropped).map((end) => end - dropped);
    this.#used -= dropped;
    this.#start = this.#used;
  }
}
