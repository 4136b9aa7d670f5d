/** A request of a client, until it is answered or given up. Later messages of it are dropped. */
import type { Exchange } from "../../gateway/ports/transport.ts";
import type { ErrorMessage, NotificationMessage, RequestMessage, ResponseMessage } from "../../wire/message.ts";

export type Reply = ResponseMessage | ErrorMessage;

/** The way back to the client; each is called only while the exchange is open, `answer` once. */
export type WayBack = {
  readonly send: (message: RequestMessage | NotificationMessage) => void;
  readonly answer: (message: Reply) => void;
};

export class ClientExchange implements Exchange {
  readonly request: RequestMessage;
  readonly #back: WayBack;
  #open = true;
  #abandoned: (() => void) | undefined;

  constructor(request: RequestMessage, back: WayBack) {
    this.request = request;
    this.#back = back;
  }

  send(message: RequestMessage | NotificationMessage): void {
    if (this.#open) this.#back.send(message);
  }

  respond(message: Reply): void {
    if (!this.#open) return;
    this.#open = false;
    this.#back.answer(message);
  }

  onAbandoned(listener: () => void): void {
    this.#abandoned = listener;
  }

  /** The client has given up; nothing is sent any more. */
  abandon(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#abandoned?.();
  }
}
