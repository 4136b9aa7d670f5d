import type { ServerResponse } from "node:http";
import type { TransportLimits } from "../net/net-limits.ts";
import { OutputQueue } from "../net/output-queue.ts";
import type { HttpLimits } from "./http-limits.ts";

const eventEnd = Buffer.from("\n\n");
const comment = Buffer.from(":\n");
const noBytes = new Uint8Array(0);

/** Headers of every event stream: no store, and no proxy that waits for more before it passes something on. */
export const streamHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
} as const;

/** One response as a stream of server-sent events, with the same back-pressure as any other output. */
export class EventSink {
  readonly #queue: OutputQueue;
  readonly #comments: NodeJS.Timeout;
  readonly #retryMs: number;

  constructor(
    response: ServerResponse,
    headers: Readonly<Record<string, string>>,
    limits: HttpLimits & TransportLimits,
  ) {
    response.writeHead(200, { ...streamHeaders, ...headers });
    response.flushHeaders();
    this.#queue = new OutputQueue(response, limits, () => response.destroy());
    this.#retryMs = limits.streamRetryMs;
    this.#comments = setInterval(() => this.#queue.framed(noBytes, comment, noBytes), limits.streamCommentMs);
    response.once("close", () => clearInterval(this.#comments));
  }

  /** Writes one message; `id` is what the client may resume from. The bytes hold no line break (see encode.ts). */
  event(id: string | undefined, bytes: Uint8Array): void {
    const head = id === undefined ? "event: message\ndata: " : `event: message\nid: ${id}\ndata: `;
    this.#queue.framed(Buffer.from(head), bytes, eventEnd);
  }

  /**
   * An event without a message: gives the client an id to resume from before the first message, and the pause to take
   * before that.
   */
  prime(id: string): void {
    this.#queue.framed(noBytes, Buffer.from(`retry: ${this.#retryMs}\nid: ${id}\ndata: `), eventEnd);
  }

  end(): void {
    clearInterval(this.#comments);
    this.#queue.end();
  }

  drained(): Promise<void> | undefined {
    return this.#queue.drained();
  }
}
