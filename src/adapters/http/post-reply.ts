/**
 * The answer to one POST: plain JSON if the answer is the first message, an event stream once another message must go
 * first, or once the answer takes so long that an intermediary might cut the silent connection.
 */
import type { ServerResponse } from "node:http";
import { encodeBatch, encodeMessage } from "../../wire/encode.ts";
import type { NotificationMessage, RequestMessage } from "../../wire/message.ts";
import type { Reply } from "../net/client-exchange.ts";
import type { HttpServerOptions } from "./http-contract.ts";
import type { AcceptedForms } from "./http-guard.ts";
import type { MessageStream } from "./session-stream.ts";
import type { UpstreamRefusal } from "./upstream-refusals.ts";

export type ReplyPlan = {
  readonly response: ServerResponse;
  /** Forms that the client takes; at least one is true. */
  readonly forms: AcceptedForms;
  /** Answers that will come: one, or the number of requests in a batch. */
  readonly answers: number;
  /** A batch is answered by an array, even if it held one request. */
  readonly batch: boolean;
  readonly plainAnswerWaitMsMax: number;
  /** Headers of the response; `first` is undefined when the response is a stream. */
  readonly headers: (first: Reply | undefined) => Readonly<Record<string, string>>;
  /** HTTP status of a plain answer. */
  readonly status: (answer: Reply) => number;
  /** Refusals that the client gets as the upstream server gave them. */
  readonly refusalOf?: HttpServerOptions["refusalOf"] | undefined;
  readonly openStream: (headers: Readonly<Record<string, string>>) => MessageStream;
  /** Called when the client closed the connection before all answers were sent. */
  readonly cut: () => void;
};

export class PostReply {
  readonly #plan: ReplyPlan;
  readonly #collected: Reply[] = [];
  readonly #quiet: NodeJS.Timeout;
  #missing: number;
  #stream: MessageStream | undefined;
  #gone = false;

  constructor(plan: ReplyPlan) {
    this.#plan = plan;
    this.#missing = plan.answers;
    this.#quiet = setTimeout(() => this.#streaming(), plan.plainAnswerWaitMsMax);
    plan.response.once("close", () => {
      clearTimeout(this.#quiet);
      if (this.#missing === 0) return;
      // Without a stream the client could never fetch the answer, so it need not be kept.
      this.#gone = this.#stream === undefined;
      plan.cut();
    });
  }

  /** Starts the stream now: for requests that are answered by a sequence of messages. */
  begin(): void {
    this.#streaming();
  }

  /** Sends a message before the answer; dropped for a client that accepts no streams. */
  send(message: RequestMessage | NotificationMessage): void {
    if (this.#missing > 0) this.#streaming()?.write(encodeMessage(message));
  }

  answer(message: Reply): void {
    if (this.#missing === 0) return;
    this.#missing -= 1;
    const { forms } = this.#plan;
    // An error alone has a status to tell, which a stream cannot.
    const streams = !forms.json || (forms.streamFirst && message.kind === "response");
    if (this.#stream === undefined && streams && this.#refusal(message) === undefined) this.#streaming();
    if (this.#stream === undefined) this.#collected.push(message);
    else this.#stream.write(encodeMessage(message));
    if (this.#missing > 0) return;
    clearTimeout(this.#quiet);
    if (this.#stream === undefined) this.#plain();
    else this.#stream.end();
  }

  drained(): Promise<void> | undefined {
    return this.#stream?.drained();
  }

  #streaming(): MessageStream | undefined {
    if (this.#stream !== undefined || this.#gone || !this.#plan.forms.stream) return this.#stream;
    clearTimeout(this.#quiet);
    this.#stream = this.#plan.openStream(this.#plan.headers(undefined));
    for (const message of this.#collected.splice(0)) this.#stream.write(encodeMessage(message));
    return this.#stream;
  }

  #plain(): void {
    const first = this.#collected[0];
    if (this.#gone || first === undefined) return;
    const { response, batch, headers, status } = this.#plan;
    const body = batch ? encodeBatch(this.#collected) : encodeMessage(first);
    const length = { "content-type": "application/json", "content-length": String(body.length) };
    const refusal = this.#refusal(first);
    const challenge = refusal?.challenge === undefined ? {} : { "www-authenticate": refusal.challenge };
    const code = refusal?.status ?? (batch ? 200 : status(first));
    response.writeHead(code, { ...headers(first), ...challenge, ...length });
    response.end(body);
  }

  /** Answers of a batch have one status together, and the others in it may have succeeded. */
  #refusal(answer: Reply): UpstreamRefusal | undefined {
    const { batch, refusalOf } = this.#plan;
    return batch || answer.kind !== "error" ? undefined : refusalOf?.(answer.error.message);
  }
}
