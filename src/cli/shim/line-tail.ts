/**
 * The last lines that went through one direction of the splice, as bounded samples.
 *
 * When the daemon dies, the shim must tell the client which of its requests have an unknown outcome. Parsing every
 * message for that would cost more than the splice itself; so the hot path only copies a few bytes for each line, and
 * the ids are looked for after a loss. What falls out of the tail is an old line: its request was answered long ago, or
 * its client gave up.
 */
import { tailBytesMax, tailLinesMax } from "../../adapters/daemon/limits.ts";

const newline = 10;
const trimLines = 64;
const empty = Buffer.alloc(0);

export class LineTail {
  readonly #sampleBytesMax: number;
  #lines: Buffer[] = [];
  #heldBytes = 0;
  #partial: Buffer = empty;
  #midLine = false;

  constructor(sampleBytesMax: number) {
    this.#sampleBytesMax = sampleBytesMax;
  }

  /** True iff the last byte that went through did not end a line. */
  get midLine(): boolean {
    return this.#midLine;
  }

  /** Sample of the line that has not ended yet. */
  get partial(): Buffer {
    return this.#partial;
  }

  /** Samples of ended lines, oldest first. */
  get lines(): readonly Buffer[] {
    return this.#lines;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#hold(this.#sample(chunk.subarray(start, end)));
      this.#partial = empty;
      start = end + 1;
    }
    this.#midLine = start < chunk.length;
    if (this.#midLine) this.#partial = this.#sample(chunk.subarray(start));
  }

  /** Forgets everything: a new session begins. */
  clear(): void {
    this.#lines = [];
    this.#heldBytes = 0;
    this.#partial = empty;
    this.#midLine = false;
  }

  /** Joins what is held of the current line with its next part; over the cap the middle is left out. */
  #sample(part: Buffer): Buffer {
    const half = this.#sampleBytesMax >> 1;
    const next = part.length > this.#sampleBytesMax ? cut(part, half) : part;
    const whole = Buffer.concat([this.#partial, next]); // a copy: the chunk's memory is not kept alive
    return whole.length > this.#sampleBytesMax ? cut(whole, half) : whole;
  }

  #hold(line: Buffer): void {
    if (line.length === 0) return;
    this.#lines.push(line);
    this.#heldBytes += line.length;
    if (this.#lines.length <= tailLinesMax + trimLines && this.#heldBytes <= 2 * tailBytesMax) return;
    // Trimmed in bulk, so that the hot path does not move a long array for every line.
    this.#lines = this.#lines.slice(-tailLinesMax);
    this.#heldBytes = this.#lines.reduce((sum, held) => sum + held.length, 0);
    while (this.#heldBytes > tailBytesMax) this.#heldBytes -= this.#lines.shift()?.length ?? this.#heldBytes;
  }
}

function cut(bytes: Buffer, half: number): Buffer {
  return Buffer.concat([bytes.subarray(0, half), bytes.subarray(-half)]);
}
