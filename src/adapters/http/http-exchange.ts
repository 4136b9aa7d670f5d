import type { Exchange } from "../../gateway/ports.ts";
import type { NotificationMessage, RequestMessage } from "../../wire/message.ts";
import type { PostReply, Reply } from "./post-reply.ts";

/** One request that came in a POST. */
export class HttpExchange implements Exchange {
  readonly request: RequestMessage;
  readonly #reply: PostReply;
  readonly #answered: (message: Reply) => void;
  #open = true;
  #abandoned: (() => void) | undefined;

  /** `answered` is called before the answer is written. */
  constructor(request: RequestMessage, reply: PostReply, answered: (message: Reply) => void) {
    this.request = request;
    this.#reply = reply;
    this.#answered = answered;
  }

  send(message: RequestMessage | NotificationMessage): void {
    if (this.#open) this.#reply.send(message);
  }

  respond(message: Reply): void {
    if (!this.#open) return;
    this.#open = false;
    this.#answered(message);
    this.#reply.answer(message);
  }

  onAbandoned(listener: () => void): void {
    this.#abandoned = listener;
  }

  /** The client has given up; nothing is written any more. */
  abandon(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#abandoned?.();
  }
}
