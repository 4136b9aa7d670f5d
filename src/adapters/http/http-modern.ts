/**
 * A POST of the modern era (2026-07-28): a conversation of its own, without session, resumption or requests from us.
 * Its end is the answer; a client that closes the connection before has cancelled.
 */
import type { ServerResponse } from "node:http";
import type { Accept, ClientConnection, ClientHandler, ConnectionFacts } from "../../gateway/ports/transport.ts";
import { errorCodes } from "../../wire/errors.ts";
import type { NotificationMessage, RequestMessage } from "../../wire/message.ts";
import type { TransportLimits } from "../net/net-limits.ts";
import { EventSink } from "./event-sink.ts";
import type { HttpServerOptions } from "./http-contract.ts";
import type { AcceptedForms } from "./http-guard.ts";
import { ClientExchange, type Reply } from "../net/client-exchange.ts";
import type { HttpLimits } from "./http-limits.ts";
import { PostReply } from "./post-reply.ts";
import type { MessageStream } from "./session-stream.ts";

export type ModernSetup = {
  readonly facts: ConnectionFacts;
  readonly accept: Accept;
  readonly limits: HttpLimits & TransportLimits;
  readonly refusalOf: HttpServerOptions["refusalOf"];
  readonly response: ServerResponse;
  readonly forms: AcceptedForms;
  /** Called once, when the conversation is over. */
  readonly ended: () => void;
};

/** HTTP status that the specification asks for with a JSON-RPC error (2026-07-28, Streamable HTTP). */
export function modernStatus(answer: Reply): number {
  if (answer.kind !== "error") return 200;
  switch (answer.error.code) {
    case errorCodes.methodNotFound:
      return 404;
    case errorCodes.parseError:
    case errorCodes.invalidRequest:
    case errorCodes.headerMismatch:
    case errorCodes.missingClientCapability:
    case errorCodes.unsupportedVersion:
      return 400;
    default:
      return 200;
  }
}

class SinkStream implements MessageStream {
  readonly #sink: EventSink;
  constructor(sink: EventSink) {
    this.#sink = sink;
  }
  write(bytes: Uint8Array): void {
    this.#sink.event(undefined, bytes);
  }
  end(): void {
    this.#sink.end();
  }
  drained(): Promise<void> | undefined {
    return this.#sink.drained();
  }
}

export class ModernConversation implements ClientConnection {
  readonly facts: ConnectionFacts;
  readonly #setup: ModernSetup;
  readonly #handler: ClientHandler;
  #reply: PostReply | undefined;
  #exchange: ClientExchange | undefined;
  #closed = false;

  constructor(setup: ModernSetup) {
    this.facts = setup.facts;
    this.#setup = setup;
    this.#handler = setup.accept(this);
  }

  request(message: RequestMessage): void {
    const { response, forms, limits } = this.#setup;
    const reply = new PostReply({
      response,
      forms,
      answers: 1,
      batch: false,
      plainAnswerWaitMsMax: limits.plainAnswerWaitMsMax,
      headers: () => ({}),
      status: modernStatus,
      refusalOf: this.#setup.refusalOf,
      openStream: (headers) => new SinkStream(new EventSink(response, headers, limits)),
      cut: () => this.close("The client closed the connection."),
    });
    this.#reply = reply;
    const exchange = new ClientExchange(message, {
      send: (one) => reply.send(one),
      answer: (answer) => {
        queueMicrotask(() => this.close("The request was answered."));
        reply.answer(answer);
      },
    });
    this.#exchange = exchange;
    this.#handler.request(exchange);
  }

  notification(message: NotificationMessage): void {
    this.#handler.message(message);
    this.#setup.response.writeHead(202).end();
    this.close("The notification was accepted.");
  }

  /** The only stream is that of the request, so every notification goes there. */
  send(message: RequestMessage | NotificationMessage): void {
    if (message.kind === "notification") this.#reply?.send(message);
  }

  drained(): Promise<void> | undefined {
    return this.#reply?.drained();
  }

  close(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#exchange?.abandon();
    const { response } = this.#setup;
    // Cut off by us before an answer: a broken connection tells the client that there will be none.
    if (!response.headersSent) response.writeHead(503).end();
    else if (!response.writableEnded) response.destroy();
    this.#setup.ended();
    this.#handler.closed(reason);
  }
}
