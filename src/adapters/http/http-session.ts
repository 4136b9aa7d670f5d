/**
 * A legacy session (revisions 2025-03-26 to 2025-11-25): made by `initialize`, named by an id that we mint, ended by
 * DELETE, by idleness or with the gateway. A cut connection ends nothing: the specification says that it is not a
 * cancellation, and the client may fetch what it missed.
 */
import type { ServerResponse } from "node:http";
import { stringMember } from "../../core/json.ts";
import type { Accept, ClientConnection, ClientHandler, ConnectionFacts } from "../../gateway/ports/transport.ts";
import { encodeMessage } from "../../wire/encode.ts";
import type { Message, NotificationMessage, RequestId, RequestMessage, Revision } from "../../wire/message.ts";
import { isRevision } from "../../wire/revision.ts";
import type { TransportLimits } from "../net/net-limits.ts";
import { EventLog, readEventId } from "./event-log.ts";
import { EventSink } from "./event-sink.ts";
import type { HttpServerOptions } from "./http-contract.ts";
import { ClientExchange, type Reply } from "../net/client-exchange.ts";
import type { AcceptedForms } from "./http-guard.ts";
import type { HttpLimits } from "./http-limits.ts";
import { PostReply } from "./post-reply.ts";
import { SessionStream } from "./session-stream.ts";

export const sessionHeader = "mcp-session-id";

/** Number of the stream for messages that belong to no request. */
const standaloneStream = 0;

export type SessionSetup = {
  readonly id: string;
  readonly facts: ConnectionFacts;
  readonly accept: Accept;
  readonly limits: HttpLimits & TransportLimits;
  readonly refusalOf: HttpServerOptions["refusalOf"];
  /** Removes the session from the table; called once. */
  readonly ended: () => void;
  readonly nowMs: () => number;
};

export class HttpSession implements ClientConnection {
  readonly id: string;
  readonly facts: ConnectionFacts;
  /** Revision that the handshake ended with; undefined until then. */
  revision: Revision | undefined;
  readonly #setup: SessionSetup;
  readonly #handler: ClientHandler;
  readonly #log: EventLog;
  readonly #streams = new Map<number, SessionStream>();
  readonly #standalone: SessionStream;
  readonly #exchanges = new Map<RequestId, ClientExchange>();
  #nextStream = standaloneStream + 1;
  /** Responses that a client still waits on. */
  #replies = 0;
  #usedAtMs: number;
  #closed = false;

  constructor(setup: SessionSetup) {
    this.id = setup.id;
    this.facts = setup.facts;
    this.#setup = setup;
    this.#usedAtMs = setup.nowMs();
    this.#log = new EventLog(setup.limits.resumeEventsMax, setup.limits.resumeBytesMax);
    this.#standalone = this.#openStream(standaloneStream);
    this.#handler = setup.accept(this);
  }

  /**
   * Milliseconds since the client was last connected; a request that only the server still works on keeps no session
   * alive.
   */
  get idleMs(): number {
    const busy = this.#replies > 0 || [...this.#streams.values()].some(({ attached }) => attached);
    return busy ? 0 : this.#setup.nowMs() - this.#usedAtMs;
  }

  get inFlight(): number {
    return this.#exchanges.size;
  }

  isOpen(id: RequestId): boolean {
    return this.#exchanges.has(id);
  }

  /** Handles what came in one POST, in order. `refused` are answers to entries of a batch that were no messages. */
  post(
    messages: readonly Message[],
    refused: readonly Reply[],
    how: { readonly response: ServerResponse; readonly forms: AcceptedForms; readonly batch: boolean },
  ): void {
    this.#usedAtMs = this.#setup.nowMs();
    const requests = messages.filter((message) => message.kind === "request");
    const answers = requests.length + refused.length;
    const reply = answers === 0 ? undefined : this.#reply(how, answers);
    for (const message of refused) reply?.answer(message);
    for (const message of messages) {
      if (message.kind === "request" && reply !== undefined) this.#request(message, reply);
      else if (message.kind !== "request") this.#handler.message(message);
    }
    if (reply === undefined) how.response.writeHead(202).end();
  }

  /** Ends a request of the gateway whose answer was malformed. */
  refuseAnswer(message: Message): void {
    if (message.kind === "error") this.#handler.message(message);
  }

  /** Serves a GET; the sentence is for a refusal. */
  get(response: ServerResponse, lastEventId: string | undefined): { status: 400 | 409; text: string } | undefined {
    this.#usedAtMs = this.#setup.nowMs();
    if (lastEventId === undefined) {
      if (this.#standalone.attached) {
        return { status: 409, text: "This session has a stream open already. Close it first, or resume it." };
      }
      this.#attach(this.#standalone, response, undefined);
      return undefined;
    }
    const place = readEventId(lastEventId);
    if (place === undefined || place.stream >= this.#nextStream) {
      return { status: 400, text: "This Last-Event-ID was not issued in this session. Open a new stream." };
    }
    if (!this.#log.isWhole(place.stream, place.position)) {
      return { status: 400, text: "Messages after this Last-Event-ID are no longer kept. Send the request again." };
    }
    const stream = this.#streams.get(place.stream);
    if (stream !== undefined) {
      this.#attach(stream, response, place.position);
    } else {
      // That stream is complete: the client gets the messages that it missed, and the end.
      const ended = new SessionStream(place.stream, this.#log, () => {});
      this.#attach(ended, response, place.position);
      ended.end();
    }
    return undefined;
  }

  send(message: RequestMessage | NotificationMessage): void {
    if (!this.#closed) this.#standalone.write(encodeMessage(message));
  }

  drained(): Promise<void> | undefined {
    for (const stream of this.#streams.values()) {
      const drained = stream.drained();
      if (drained !== undefined) return drained;
    }
    return undefined;
  }

  /** `over`: the session itself has ended; else only the connection, and what it was goes on. */
  close(reason: string, over = true): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#setup.ended();
    for (const exchange of this.#exchanges.values()) exchange.abandon();
    this.#exchanges.clear();
    for (const stream of this.#streams.values()) stream.end();
    this.#handler.closed(reason, over);
  }

  #request(message: RequestMessage, reply: PostReply): void {
    const exchange = new ClientExchange(message, {
      send: (one) => reply.send(one),
      answer: (answer) => {
        this.#exchanges.delete(message.id);
        if (message.method === "initialize") this.#initialized(answer);
        reply.answer(answer);
      },
    });
    this.#exchanges.set(message.id, exchange);
    this.#handler.request(exchange);
  }

  #initialized(answer: Reply): void {
    const revision = answer.kind === "response" ? stringMember(answer.result, "protocolVersion") : undefined;
    if (isRevision(revision)) this.revision = revision;
    // A handshake that failed leaves no session behind: the client never received its id.
    else queueMicrotask(() => this.close("The handshake failed."));
  }

  #reply(how: { response: ServerResponse; forms: AcceptedForms; batch: boolean }, answers: number): PostReply {
    const { response, forms, batch } = how;
    let sink: EventSink | undefined;
    let stream: SessionStream | undefined;
    this.#replies += 1;
    response.once("close", () => this.#replyOver());
    return new PostReply({
      response,
      forms,
      answers,
      batch,
      plainAnswerWaitMsMax: this.#setup.limits.plainAnswerWaitMsMax,
      headers: (first) => (first?.kind === "error" && this.revision === undefined ? {} : { [sessionHeader]: this.id }),
      status: () => 200,
      refusalOf: this.#setup.refusalOf,
      openStream: (headers) => {
        stream = this.#openStream(this.#nextStream);
        this.#nextStream += 1;
        sink = new EventSink(response, headers, this.#setup.limits);
        stream.attach(sink, undefined);
        // Clients of earlier revisions take an event without data for a broken message.
        if (this.revision === "2025-11-25") stream.prime();
        return stream;
      },
      cut: () => {
        if (sink !== undefined) stream?.detach(sink);
      },
    });
  }

  #replyOver(): void {
    this.#replies -= 1;
    this.#usedAtMs = this.#setup.nowMs();
    // A client cannot resume a handshake, and a server that never completes one would keep a session for each attempt.
    if (this.revision === undefined) this.close("The client went away before the handshake ended.");
  }

  #openStream(number: number): SessionStream {
    const stream = new SessionStream(number, this.#log, () => this.#streams.delete(number));
    this.#streams.set(number, stream);
    return stream;
  }

  #attach(stream: SessionStream, response: ServerResponse, position: number | undefined): void {
    const sink = new EventSink(response, { [sessionHeader]: this.id }, this.#setup.limits);
    stream.attach(sink, position);
    response.once("close", () => {
      stream.detach(sink);
      this.#usedAtMs = this.#setup.nowMs();
    });
  }
}
