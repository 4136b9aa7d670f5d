import type { UpstreamHandler } from "../../gateway/ports/transport.ts";
import { errorMessage } from "../../wire/errors.ts";
import type { WireLimits } from "../../wire/limits.ts";
import type { Message, RequestId, Revision } from "../../wire/message.ts";
import { parseMessage } from "../../wire/parse/parse.ts";
import { recoverSample } from "../../wire/parse/recover.ts";
import { wireError, type WireError } from "../../wire/wire-error.ts";
import { malformedAnswer } from "../net/malformed-answer.ts";
import { printableBytes } from "../net/printable.ts";

/**
 * Delivers bytes of a server to the gateway: parsed strictly, once, and nothing after the end. It also tracks which
 * requests still await an answer, to distinguish a stream that ends early from a complete one.
 */
export class UpstreamDelivery {
  revision: Revision | undefined;
  readonly #handler: UpstreamHandler;
  readonly #wire: WireLimits;
  readonly #diagnostic: (line: string) => void;
  readonly #received: (message: Message) => void;
  readonly #waiting = new Set<RequestId>();
  #closed = false;

  /** `received` sees every message before the gateway does. */
  constructor(
    handler: UpstreamHandler,
    how: {
      readonly wire: WireLimits;
      readonly diagnostic: (line: string) => void;
      readonly received: (message: Message) => void;
    },
  ) {
    this.#handler = handler;
    this.#wire = how.wire;
    this.#diagnostic = how.diagnostic;
    this.#received = how.received;
  }

  get closed(): boolean {
    return this.#closed;
  }

  get messageBytesMax(): number {
    return this.#wire.messageBytesMax;
  }

  asked(id: RequestId): void {
    this.#waiting.add(id);
  }

  awaits(id: RequestId): boolean {
    return this.#waiting.has(id);
  }

  /**
   * The caller gave the request up: a late answer is still passed on, and the end of its stream does not count as a
   * loss.
   */
  forget(id: RequestId): void {
    this.#waiting.delete(id);
  }

  /** Hands on one body or event. */
  bytes(bytes: Uint8Array, relatedTo: RequestId | undefined): void {
    const frame = parseMessage(bytes, this.#wire, this.revision);
    if (!frame.ok) return this.#refuse(frame.error, relatedTo, bytes);
    if (frame.value.kind === "single") return this.message(frame.value.message, relatedTo);
    for (const entry of frame.value.entries) {
      if (entry.ok) this.message(entry.value, relatedTo);
      else this.#refuse(entry.error, relatedTo, undefined);
    }
  }

  /** Data over the cap, of which the ends were kept. */
  oversize(head: Uint8Array, tail: Uint8Array, relatedTo: RequestId | undefined): void {
    this.#refuse(wireError("too-large", recoverSample(head, tail)), relatedTo, undefined);
  }

  message(message: Message, relatedTo: RequestId | undefined): void {
    if (this.#closed) return;
    if ((message.kind === "response" || message.kind === "error") && message.id !== null)
      this.#waiting.delete(message.id);
    this.#received(message);
    if (relatedTo === undefined) this.#handler.message(message);
    else this.#handler.message(message, relatedTo);
  }

  /** Ends a request with an error; the server certainly did not carry it out. */
  failed(id: RequestId, text: string): void {
    if (this.#waiting.has(id)) this.message(errorMessage(id, -32603, text), id);
  }

  /** Ends a request with an error; it is unknown whether the server carried it out. */
  lost(id: RequestId, text: string): void {
    if (this.#closed || !this.#waiting.delete(id)) return;
    if (this.#handler.lost !== undefined) this.#handler.lost(id, text);
    else this.#handler.message(errorMessage(id, -32603, `${text} Whether the request was carried out is unknown.`), id);
  }

  close(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#waiting.clear();
    this.#handler.closed(reason);
  }

  #refuse(refused: WireError, relatedTo: RequestId | undefined, bytes: Uint8Array | undefined): void {
    const id = refused.about === "response" ? refused.id : undefined;
    if (id !== undefined) this.message(malformedAnswer(id, refused), relatedTo);
    // An answer without an id of its own: the requests that it names, else the one whose stream it came on.
    const own = refused.about === "response" && relatedTo !== undefined ? [relatedTo] : [];
    const concerned = refused.id === undefined ? (refused.among ?? own) : [];
    for (const one of concerned) this.lost(one, `An answer was refused. ${refused.message}`);
    const began = bytes === undefined ? "" : ` It began: ${printableBytes(bytes, 120)}`;
    this.#diagnostic(`skipped a message. ${refused.message}${began}`);
  }
}
