/**
 * The gateway's side of a stdio client: any pair of byte streams, one JSON-RPC message a line. In solo mode these are
 * the streams of the process, in the daemon a Unix socket to a shim.
 *
 * All exchanges share one stream, so an exchange is identified by its request id alone. A message that is refused is
 * answered and the connection stays: one malformed call must not cost a client its session.
 */
import type { Readable, Writable } from "node:stream";
import { member, stringMember } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import type { Accept, ClientConnection, ClientHandler, ConnectionFacts } from "../../gateway/ports/transport.ts";
import { encodeBatch, encodeMessage } from "../../wire/encode.ts";
import { defaultWireLimits, type WireLimits } from "../../wire/limits.ts";
import type { Message, NotificationMessage, RequestId, RequestMessage } from "../../wire/message.ts";
import type { ParsedFrame } from "../../wire/parse/parse.ts";
import { isRevision } from "../../wire/revision.ts";
import type { WireError } from "../../wire/wire-error.ts";
import { defaultTransportLimits, type TransportLimits } from "../net/net-limits.ts";
import { ClientExchange, type Reply } from "../net/client-exchange.ts";
import { BatchReplies } from "./batch-replies.ts";
import { FrameReader } from "./frame-reader.ts";
import { OutputQueue } from "../net/output-queue.ts";

export type StdioClientOptions = { readonly wire?: WireLimits; readonly limits?: TransportLimits };

/**
 * Serves one client on two byte streams. The streams are owned from now on and destroyed when the connection ends.
 *
 * The end of `input` is a half-close: answers still owed are delivered for `halfCloseWaitMsMax`, so that a script which
 * pipes its requests in gets its answers out. An end of `output` ends everything at once.
 */
export function stdioClient(
  streams: { readonly input: Readable; readonly output: Writable },
  facts: ConnectionFacts,
  accept: Accept,
  options: StdioClientOptions = {},
): ClientConnection {
  return new StdioClient(streams.input, streams.output, { facts, accept, ...options });
}

class StdioClient implements ClientConnection {
  readonly facts: ConnectionFacts;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #limits: TransportLimits;
  readonly #reader: FrameReader;
  readonly #queue: OutputQueue;
  readonly #handler: ClientHandler;
  readonly #exchanges = new Map<RequestId, ClientExchange>();
  /** Requests whose answer the client waits for: not those that it cancelled, and never a subscription. */
  readonly #awaited = new Set<RequestId>();
  readonly #batches = new BatchReplies();
  #closed = false;
  #halfClosed: NodeJS.Timeout | undefined;

  constructor(
    input: Readable,
    output: Writable,
    how: StdioClientOptions & { readonly facts: ConnectionFacts; readonly accept: Accept },
  ) {
    this.facts = how.facts;
    this.#input = input;
    this.#output = output;
    this.#limits = how.limits ?? defaultTransportLimits;
    this.#queue = new OutputQueue(output, this.#limits, () =>
      this.close("The client stopped reading its answers. Restart the client."),
    );
    // Errors carry nothing to act on beyond the close that follows them.
    output.on("error", () => this.#finish("The client closed its output."));
    output.once("close", () => this.#finish("The client closed the connection."));
    this.#handler = how.accept(this);
    this.#reader = new FrameReader(input, how.wire ?? defaultWireLimits, {
      frame: (frame) => this.#frame(frame),
      ended: () => this.#inputEnded(),
    });
  }

  send(message: RequestMessage | NotificationMessage): void {
    if (!this.#closed) this.#queue.line(encodeMessage(message));
  }

  drained(): Promise<void> | undefined {
    return this.#queue.drained();
  }

  close(reason: string): void {
    this.#finish(reason);
  }

  /** Writes the answer of an exchange. */
  #answer(request: RequestMessage, message: Reply): void {
    this.#exchanges.delete(request.id);
    this.#awaited.delete(request.id);
    if (this.#closed) return;
    if (request.method === "initialize" && message.kind === "response") {
      const revision = stringMember(message.result, "protocolVersion");
      this.#reader.revision = isRevision(revision) ? revision : undefined;
    }
    const taken = this.#batches.take(message);
    if (taken === "apart") this.#queue.line(encodeMessage(message));
    else if (taken !== "held") this.#queue.line(encodeBatch(taken));
    this.#endWhenAnswered();
  }

  #frame(frame: Result<ParsedFrame, WireError>): void {
    if (!frame.ok) {
      const refusal = this.#refuse(frame.error);
      if (refusal !== undefined) this.#queue.line(encodeMessage(refusal));
    } else if (frame.value.kind === "single") {
      const refusal = this.#message(frame.value.message);
      if (refusal !== undefined) this.#queue.line(encodeMessage(refusal));
    } else {
      this.#batch(frame.value.entries);
    }
    // A client that asks faster than it reads is not read either, until it has caught up.
    if (this.#queue.full) {
      this.#reader.pause();
      void this.#queue.drained()?.then(() => this.#reader.resume());
    }
  }

  #batch(entries: readonly Result<Message, WireError>[]): void {
    const ids: RequestId[] = [];
    const refused: Reply[] = [];
    const accepted: Message[] = [];
    for (const entry of entries) {
      const message = entry.ok ? entry.value : undefined;
      const refusal = entry.ok ? this.#duplicate(entry.value, ids) : this.#refuse(entry.error);
      if (refusal !== undefined) refused.push(refusal);
      else if (message !== undefined) accepted.push(message);
      if (refusal === undefined && message?.kind === "request") ids.push(message.id);
    }
    // The batch is known before its first message is handled, since that one may be answered at once.
    const complete = this.#batches.begin(ids, refused);
    for (const message of accepted) this.#message(message);
    if (complete !== undefined) this.#queue.line(encodeBatch(complete));
  }

  /** Hands a message on; returns the answer to one that is refused. */
  #message(message: Message): Reply | undefined {
    if (message.kind !== "request") {
      if (message.kind === "notification" && message.method === "notifications/cancelled") this.#cancelled(message);
      this.#handler.message(message);
      return undefined;
    }
    const refusal = this.#duplicate(message, []);
    if (refusal !== undefined) return refusal;
    const exchange = new ClientExchange(message, {
      send: (one) => this.send(one),
      answer: (one) => this.#answer(message, one),
    });
    this.#exchanges.set(message.id, exchange);
    if (message.method !== "subscriptions/listen") this.#awaited.add(message.id);
    this.#handler.request(exchange);
    return undefined;
  }

  /** Refuses a second request in flight with the same id: the answer to one would be taken for the other's. */
  #duplicate(message: Message, others: readonly RequestId[]): Reply | undefined {
    if (message.kind !== "request") return undefined;
    if (!this.#exchanges.has(message.id) && !others.includes(message.id)) return undefined;
    const text = "A request with this id is still unanswered. Use a new id for each request.";
    return { kind: "error", id: null, error: { code: -32600, message: text } };
  }

  #refuse(refused: WireError): Reply | undefined {
    const { about, id } = refused;
    const error = { code: refused.code, message: refused.message };
    switch (about) {
      case "notification":
        return undefined;
      case "response":
        // The request that this answers ends as failed, or its caller would wait for an answer that was discarded.
        if (id !== undefined) this.#handler.message({ kind: "error", id, error });
        return undefined;
      case "request":
      case "unknown":
        // An id in flight belongs to another request, which would take this refusal for its own answer.
        return { kind: "error", id: id === undefined || this.#exchanges.has(id) ? null : id, error };
    }
  }

  #inputEnded(): void {
    if (this.#closed) return;
    this.#halfClosed = setTimeout(() => this.#finish("The client closed its input."), this.#limits.halfCloseWaitMsMax);
    this.#endWhenAnswered();
  }

  #cancelled(message: NotificationMessage): void {
    const id = member(message.params, "requestId");
    if (typeof id === "string" || typeof id === "number") this.#awaited.delete(id);
  }

  #endWhenAnswered(): void {
    if (this.#halfClosed !== undefined && this.#awaited.size === 0) this.#finish("The client closed its input.");
  }

  #finish(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#halfClosed);
    this.#reader.stop();
    for (const exchange of this.#exchanges.values()) exchange.abandon();
    this.#exchanges.clear();
    // `end` lets answers leave that are on their way; a peer that does not read is cut off after the same wait.
    if (!this.#output.destroyed) {
      const cut = setTimeout(() => this.#output.destroy(), this.#limits.halfCloseWaitMsMax);
      cut.unref();
      this.#output.end(() => clearTimeout(cut));
    }
    this.#input.unpipe();
    this.#handler.closed(reason);
  }
}
