/**
 * Newline framing of the stdio transport.
 *
 * Chunks of an unfinished line are kept in a list and joined once, when the line ends; only small ones are joined before.
 * Joining at every chunk, as the official SDKs do, costs the square of the message size and lets a server burn our CPU
 * with one slow large line.
 *
 * A line over the cap is dropped as it arrives, so memory stays bounded; its first and last bytes are kept because the
 * id of the message is usually there and the peer must learn which request failed. Reading goes on after its end.
 */
import { joined, keepPart } from "./byte-parts.ts";

export type SplitEvent =
  | { readonly kind: "line"; readonly bytes: Uint8Array }
  | { readonly kind: "oversize"; readonly lengthBytes: number; readonly head: Uint8Array; readonly tail: Uint8Array };

const newline = 10;
const carriageReturn = 13;

/** Bytes kept from each end of a line over the cap; enough for an id and a method, never a way to store a payload. */
export const oversizeSampleBytes = 1024;

export class LineSplitter {
  readonly #messageBytesMax: number;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  /** Set while the current line is over the cap: what came is counted, sampled and forgotten. */
  #dropped: { head: Uint8Array; tail: Uint8Array; lengthBytes: number } | undefined;

  constructor(messageBytesMax: number) {
    this.#messageBytesMax = messageBytesMax;
  }

  /** Bytes held for a line that has not ended yet; never more than the cap plus one chunk. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** First bytes of a line over the cap whose end has not come; the same value until then. */
  get droppedHead(): Uint8Array | undefined {
    return this.#dropped?.head;
  }

  /** Takes the next bytes of the stream and returns the lines that they complete, in order; empty lines are no event. */
  push(chunk: Uint8Array): readonly SplitEvent[] {
    const events: SplitEvent[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(newline, start);
      if (end < 0) break;
      this.#finish(start === end ? undefined : chunk.subarray(start, end), events);
      start = end + 1;
    }
    if (start < chunk.length) this.#hold(start === 0 ? chunk : chunk.subarray(start));
    return events;
  }

  /** The stream ended: what is left counts as a line, because some servers omit the last newline. */
  end(): readonly SplitEvent[] {
    const events: SplitEvent[] = [];
    this.#finish(undefined, events);
    return events;
  }

  #hold(part: Uint8Array): void {
    if (this.#dropped !== undefined) {
      this.#dropped.lengthBytes += part.length;
      this.#dropped.tail = lastBytes(this.#dropped.tail, part);
      return;
    }
    keepPart(this.#pending, part);
    this.#pendingBytes += part.length;
    // One byte of grace: a line of exactly the cap may still be followed by the `\r` of `\r\n`.
    if (this.#pendingBytes > this.#messageBytesMax + 1) this.#drop();
  }

  #drop(): void {
    const whole = this.#take();
    this.#dropped = {
      head: whole.slice(0, oversizeSampleBytes),
      tail: whole.slice(-oversizeSampleBytes),
      lengthBytes: whole.length,
    };
  }

  #finish(last: Uint8Array | undefined, events: SplitEvent[]): void {
    if (this.#dropped === undefined && this.#pending.length === 0) {
      // The common case, a whole line inside one chunk, is a view and copies nothing.
      if (last !== undefined) this.#emit(last, events);
      return;
    }
    if (last !== undefined) this.#hold(last);
    const dropped = this.#dropped;
    if (dropped !== undefined) {
      this.#dropped = undefined;
      events.push({ kind: "oversize", ...dropped });
      return;
    }
    this.#emit(this.#take(), events);
  }

  #emit(line: Uint8Array, events: SplitEvent[]): void {
    const bytes = line[line.length - 1] === carriageReturn ? line.subarray(0, -1) : line;
    if (bytes.length === 0) return;
    if (bytes.length <= this.#messageBytesMax) {
      events.push({ kind: "line", bytes });
      return;
    }
    const head = bytes.slice(0, oversizeSampleBytes);
    const tail = bytes.slice(-oversizeSampleBytes);
    events.push({ kind: "oversize", lengthBytes: bytes.length, head, tail });
  }

  #take(): Uint8Array {
    const whole = joined(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    return whole;
  }
}

function lastBytes(before: Uint8Array, part: Uint8Array): Uint8Array {
  if (part.length >= oversizeSampleBytes) return part.slice(-oversizeSampleBytes);
  return joined([before, part]).slice(-oversizeSampleBytes);
}
