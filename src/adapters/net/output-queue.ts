import type { Writable } from "node:stream";
import type { TransportLimits } from "./net-limits.ts";

const nothing = new Uint8Array(0);
const newline = Buffer.from("\n");

/** Messages up to this size are copied together with their frame: one write is cheaper than two. */
const copiedBytesMax = 16 * 1024;

/**
 * Messages on their way into a byte stream.
 *
 * A pipe to a peer that does not read never blocks in Node, it buffers without end (measured: 5 MB to a stalled
 * reader). So the owner checks `full` and pauses the source of the messages, and a peer that stalls past the hard cap
 * is cut off.
 */
export class OutputQueue {
  readonly #stream: Writable;
  readonly #limits: TransportLimits;
  readonly #overflow: () => void;
  #corked = false;
  #ended = false;
  #waiting: PromiseWithResolvers<void> | undefined;

  /** `overflow` is called once, when the hard cap is passed; what is written afterwards is dropped. */
  constructor(stream: Writable, limits: TransportLimits, overflow: () => void) {
    this.#stream = stream;
    this.#limits = limits;
    this.#overflow = overflow;
    const release = (): void => this.#end();
    stream.once("close", release);
    stream.once("error", release);
  }

  /** True while unsent output is above the cap. */
  get full(): boolean {
    return !this.#ended && this.#stream.writableLength > this.#limits.outputBufferBytesMax;
  }

  /** Writes one message and its line end. */
  line(bytes: Uint8Array): void {
    this.framed(nothing, bytes, newline);
  }

  /**
   * Writes bytes between a head and a tail. What is written in one turn of the event loop leaves in one system call.
   */
  framed(head: Uint8Array, bytes: Uint8Array, tail: Uint8Array): void {
    if (this.#ended || this.#stream.writableEnded) return;
    if (!this.#corked) {
      this.#corked = true;
      this.#stream.cork();
      process.nextTick(this.#uncork);
    }
    if (bytes.length <= copiedBytesMax) {
      const copy = Buffer.allocUnsafe(head.length + bytes.length + tail.length);
      copy.set(head);
      copy.set(bytes, head.length);
      copy.set(tail, head.length + bytes.length);
      this.#stream.write(copy, this.#written);
    } else {
      if (head.length > 0) this.#stream.write(head);
      this.#stream.write(bytes);
      this.#stream.write(tail, this.#written);
    }
    if (this.#stream.writableLength <= this.#limits.outputBufferBytesHardMax) return;
    this.#end();
    this.#overflow();
  }

  /** Resolves when unsent output fell below the cap or the stream ended; undefined when it is below now. */
  drained(): Promise<void> | undefined {
    if (!this.full) return undefined;
    this.#waiting ??= Promise.withResolvers<void>();
    return this.#waiting.promise;
  }

  /** Ends the stream after what was written. A corked HTTP response would put its end before its last chunk. */
  end(): void {
    this.#uncork();
    this.#stream.end();
  }

  readonly #uncork = (): void => {
    if (!this.#corked) return;
    this.#corked = false;
    this.#stream.uncork();
  };

  readonly #written = (): void => {
    if (this.#waiting !== undefined && !this.full) this.#release();
  };

  #end(): void {
    this.#ended = true;
    this.#release();
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve();
  }
}
