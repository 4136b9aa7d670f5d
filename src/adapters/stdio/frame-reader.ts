import type { Readable } from "node:stream";
import { type Result, err } from "../../core/result.ts";
import type { WireLimits } from "../../wire/limits.ts";
import type { Revision } from "../../wire/message.ts";
import { type ParsedFrame, parseMessage } from "../../wire/parse/parse.ts";
import { recoverSample } from "../../wire/parse/recover.ts";
import { LineSplitter, type SplitEvent } from "../../wire/parse/splitter.ts";
import { wireError, type WireError } from "../../wire/wire-error.ts";

export type FrameListener = {
  /** One line, parsed or refused; `bytes` is the line itself, where it was within the cap. */
  frame(frame: Result<ParsedFrame, WireError>, bytes: Uint8Array | undefined): void;
  /** The peer will send no more; everything it sent has been handed over. Called once. */
  ended(): void;
};

/** Reads messages from a byte stream, one line each. Holds no more than one unfinished line within the message cap. */
export class FrameReader {
  /** The negotiated revision: only 2025-03-26 has batches. */
  revision: Revision | undefined;
  readonly #limits: WireLimits;
  readonly #input: Readable;
  readonly #splitter: LineSplitter;
  readonly #listener: FrameListener;
  #ended = false;
  /** First bytes of the line over the cap that was looked at before its end. */
  #lookedAt: Uint8Array | undefined;
  /** The line over the cap is refused already. */
  #refused = false;

  constructor(input: Readable, limits: WireLimits, listener: FrameListener) {
    this.#limits = limits;
    this.#splitter = new LineSplitter(limits.messageBytesMax);
    this.#input = input;
    this.#listener = listener;
    input.on("data", this.#data);
    // The reader of a first line leaves its socket explicitly paused, and then adding a listener does not start it.
    input.resume();
    input.once("end", this.#end);
    // After an error or a close nothing more comes; the cause makes no difference to the requests in flight.
    input.once("error", this.#end);
    input.once("close", this.#end);
  }

  pause(): void {
    if (!this.#ended) this.#input.pause();
  }

  resume(): void {
    if (!this.#ended) this.#input.resume();
  }

  /** Takes no further message; what still arrives is read and dropped so that the peer's writes do not block. */
  stop(): void {
    this.#ended = true;
    this.#input.off("data", this.#data);
    this.#input.resume();
  }

  readonly #data = (chunk: Uint8Array): void => {
    this.#deliver(this.#splitter.push(chunk));
    this.#refuseEarly();
  };

  readonly #end = (): void => {
    if (this.#ended) return;
    this.#deliver(this.#splitter.end());
    this.#ended = true;
    this.#listener.ended();
  };

  #deliver(events: readonly SplitEvent[]): void {
    for (const event of events) {
      if (this.#ended) return;
      if (event.kind === "line") {
        this.#listener.frame(parseMessage(event.bytes, this.#limits, this.revision), event.bytes);
      } else if (this.#refused) {
        this.#refused = false;
      } else {
        this.#listener.frame(err(wireError("too-large", recoverSample(event.head, event.tail))), undefined);
      }
    }
  }

  /** An answer over the cap whose first bytes name its request is refused at once: its end may be long in coming. */
  #refuseEarly(): void {
    const head = this.#splitter.droppedHead;
    if (this.#ended || head === undefined || head === this.#lookedAt) return;
    this.#lookedAt = head;
    const found = recoverSample(head, new Uint8Array());
    if (found.about !== "response" || found.id === undefined) return;
    this.#refused = true;
    this.#listener.frame(err(wireError("too-large", found)), undefined);
  }
}
