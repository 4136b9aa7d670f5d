/**
 * Streamable HTTP as a client, both eras: each message is a POST, each request's answer is JSON or a stream.
 *
 * Legacy: the server may open a session, a GET stream carries messages that belong to no request, and a cut stream is
 * fetched again with `Last-Event-ID`. Modern: no session, no resumption; the headers are made from the body that was
 * judged.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { member, stringMember } from "../../core/json.ts";
import { encodeMessage } from "../../wire/encode.ts";
import { headersFor } from "../../wire/headers.ts";
import { defaultWireLimits } from "../../wire/limits.ts";
import { metaKeys } from "../../wire/meta.ts";
import type { ErrorMessage, Message, RequestId, RequestMessage, Revision } from "../../wire/message.ts";
import { parseMessage } from "../../wire/parse/parse.ts";
import { eraOf } from "../../wire/revision.ts";
import type { LinkAnswer } from "./http-link.ts";
import { readJsonBody } from "./json-body.ts";
import { type FlavourParts, readEvents, type StreamPlace, type UpstreamFlavour } from "./upstream-flavour.ts";

const accept = "application/json, text/event-stream";

/**
 * The first POST failed in the way that an HTTP+SSE server makes it fail: looks for one, and takes the message over.
 */
export type Fallback = (message: Message) => Promise<UpstreamFlavour | undefined>;

export class StreamableUpstream implements UpstreamFlavour {
  readonly #parts: FlavourParts;
  readonly #fallback: Fallback | undefined;
  readonly #open = new Map<RequestId, AbortController>();
  #session: string | undefined;
  #revision: Revision | undefined;
  #established = false;
  #listening = false;
  /** Everything waits for the head of the first answer, and for the notification that ends the handshake. */
  #gate: PromiseWithResolvers<void> | undefined;
  #firstAnswered: (() => void) | undefined;
  #successor: UpstreamFlavour | undefined;

  constructor(parts: FlavourParts, fallback: Fallback | undefined) {
    this.#parts = parts;
    this.#fallback = fallback;
  }

  send(message: Message): void {
    const { delivery, headers } = this.#parts;
    if (message.kind === "request") delivery.asked(message.id);
    headers.sent(message);
    const first = !this.#established && this.#gate === undefined;
    const last = message.kind === "notification" && message.method === "notifications/initialized";
    const sent = this.#gate === undefined ? this.#post(message) : this.#gate.promise.then(() => this.#post(message));
    if (!first && !last) return;
    const gate = Promise.withResolvers<void>();
    this.#gate = gate;
    const pass = (): void => {
      if (this.#gate === gate) this.#gate = undefined;
      gate.resolve();
    };
    if (first) this.#firstAnswered = pass;
    void sent.finally(pass);
  }

  abandon(id: RequestId): void {
    this.#parts.delivery.forget(id);
    this.#open.get(id)?.abort();
  }

  negotiated(revision: Revision): void {
    this.#revision = revision;
    this.#parts.delivery.revision = revision;
  }

  async leave(): Promise<void> {
    if (this.#session === undefined) return;
    const { link, url, limits } = this.#parts;
    const signal = AbortSignal.timeout(limits.closeWaitMsMax);
    const headers = this.#sessionHeaders();
    const answer = await link.ask({ method: "DELETE", url, headers, signal, quietMsMax: limits.closeWaitMsMax });
    // A server need not allow it (405), and one that is gone has ended the session anyway.
    if (answer.ok) answer.value.discard();
  }

  async #post(message: Message): Promise<void> {
    const { delivery, link, url, limits, ended } = this.#parts;
    const id = message.kind === "request" ? message.id : undefined;
    if (delivery.closed || (id !== undefined && !delivery.awaits(id))) return;
    if (this.#successor !== undefined) return this.#successor.send(message);
    const metadata = this.#headersOf(message);
    if (metadata === undefined) {
      const text =
        "An argument cannot be put into the header that this tool asks for. Send a string, integer or boolean.";
      if (id !== undefined) delivery.failed(id, text);
      return;
    }
    const control = new AbortController();
    if (id !== undefined) this.#open.set(id, control);
    const headers = { "content-type": "application/json", accept, ...this.#sessionHeaders(), ...metadata };
    const quietMsMax =
      message.kind === "request" && message.method === "subscriptions/listen" ? 0 : limits.answerWaitMsMax;
    const signal = AbortSignal.any([control.signal, ended]);
    const body = encodeMessage(message);
    const answer = await link.ask({ method: "POST", url, headers, body, signal, quietMsMax });
    try {
      if (answer.ok) await this.#answered(message, answer.value, signal);
      else if (id !== undefined && !answer.error.aborted) this.#faulted(id, answer.error);
    } finally {
      if (id !== undefined) this.#open.delete(id);
    }
  }

  /** Headers that repeat the body (modern), or name the negotiated revision (legacy). */
  #headersOf(message: Message): Readonly<Record<string, string>> | undefined {
    const params = message.kind === "request" || message.kind === "notification" ? message.params : undefined;
    const version = stringMember(member(params, "_meta"), metaKeys.protocolVersion);
    if (version !== undefined) return headersFor(message, this.#parts.headers.of(message));
    // The header came with 2025-06-18; an older server ignores it, and the handshake goes without.
    return this.#revision === undefined ? {} : { "mcp-protocol-version": this.#revision };
  }

  #sessionHeaders(): Readonly<Record<string, string>> {
    return this.#session === undefined ? {} : { "mcp-session-id": this.#session };
  }

  #faulted(id: RequestId, fault: { readonly sent: boolean; readonly text: string }): void {
    const { delivery, url, close } = this.#parts;
    const text = `The server at ${url.host} gave no answer. ${fault.text}`;
    if (!this.#established) return close(text);
    if (fault.sent) delivery.lost(id, text);
    else delivery.failed(id, text);
  }

  async #answered(message: Message, answer: LinkAnswer, signal: AbortSignal): Promise<void> {
    if (answer.status < 200 || answer.status >= 300) return this.#refused(message, answer);
    if (message.kind !== "request") {
      answer.discard();
      this.#established = true;
      const done = message.kind === "notification" && message.method === "notifications/initialized";
      if (done && this.#revision !== undefined && eraOf(this.#revision) === "legacy") void this.#listen();
      return;
    }
    const { delivery } = this.#parts;
    if (message.method === "initialize") this.#openSession(answer.headers["mcp-session-id"]);
    this.#established = true;
    // A stream may last for long: the head of the first answer is all that the others wait for.
    this.#firstAnswered?.();
    if (answer.type === "text/event-stream") return this.#streamed(message, answer, signal);
    delivery.lost(message.id, `The server at ${this.#parts.url.host} ${await this.#plain(message, answer)}`);
  }

  /** Hands on an answer that is no stream; what to say of the server where it held none. */
  async #plain({ id }: RequestMessage, answer: LinkAnswer): Promise<string> {
    const { delivery } = this.#parts;
    if (answer.type !== "application/json") {
      answer.discard();
      if (answer.status === 202) return "took the request and will not answer it. Check the server.";
      const type = answer.type === "" ? "no content type" : `the content type \`${answer.type.slice(0, 60)}\``;
      return `answered with ${type}, which is neither JSON nor an event stream. Check its URL.`;
    }
    const body = await readJsonBody(answer, delivery.messageBytesMax);
    switch (body.kind) {
      case "whole":
        delivery.bytes(body.bytes, id);
        return "gave an answer that is none to this request. Check the server.";
      case "stream":
        return "streams messages as application/json, which is no event stream. Have it answer with text/event-stream.";
      case "large":
        return "gave an answer above the size allowed. Ask for less at once.";
      case "cut":
        return "broke its answer off. Check the server.";
    }
  }

  #openSession(id: string | undefined): void {
    // The server chooses the id and the gateway repeats it in a header, so it must be a valid header value.
    if (id !== undefined && /^[\x21-\x7e]{1,1024}$/.test(id)) this.#session = id;
  }

  async #streamed(message: RequestMessage, answer: LinkAnswer, signal: AbortSignal): Promise<void> {
    const { delivery, limits } = this.#parts;
    const place: StreamPlace = { lastEventId: undefined, retryMs: undefined };
    await readEvents(answer, { delivery, relatedTo: message.id, place });
    const resumable = this.#revision !== undefined && eraOf(this.#revision) === "legacy";
    for (let attempt = 0; resumable && delivery.awaits(message.id) && place.lastEventId !== undefined; attempt += 1) {
      if (attempt >= limits.resumeAttemptsMax || signal.aborted) break;
      const before = place.lastEventId;
      const again = await this.#get(place, attempt, signal);
      if (again === "refused") break;
      if (again === "unreached") continue;
      await readEvents(again, { delivery, relatedTo: message.id, place });
      // A stream that brought something is alive; only attempts in a row without progress count.
      if (place.lastEventId !== before) attempt = -1;
    }
    delivery.lost(message.id, `The server at ${this.#parts.url.host} cut its stream before the answer.`);
  }

  /** Opens a GET stream after a pause; `refused` where the server offers none, `unreached` where it may later. */
  async #get(place: StreamPlace, attempt: number, signal: AbortSignal): Promise<LinkAnswer | "refused" | "unreached"> {
    const { link, url, limits, close } = this.#parts;
    if (attempt > 0 || place.lastEventId !== undefined) {
      const backOff = limits.resumeDelayMsMin * 2 ** Math.min(attempt, 16);
      // A server may ask for another pause, and not for one so short that it would be asked without end.
      const wished = Math.max(place.retryMs ?? backOff, Math.min(backOff, limits.retryMsMin));
      const delayMs = Math.min(wished, limits.resumeDelayMsMax);
      await sleep(delayMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return "refused";
    }
    const version = this.#revision === undefined ? {} : { "mcp-protocol-version": this.#revision };
    const from = place.lastEventId === undefined ? {} : { "last-event-id": place.lastEventId };
    const headers = { accept: "text/event-stream", ...this.#sessionHeaders(), ...version, ...from };
    const answer = await link.ask({ method: "GET", url, headers, signal, quietMsMax: 0 });
    if (!answer.ok) return "unreached";
    if (answer.value.status === 200 && answer.value.type === "text/event-stream") return answer.value;
    answer.value.discard();
    const { status } = answer.value;
    if (status === 404 && this.#session !== undefined) close(this.#sessionLost());
    return status >= 500 || status === 429 ? "unreached" : "refused";
  }

  /** Keeps the GET stream of a session open as long as the server offers it. */
  async #listen(): Promise<void> {
    if (this.#listening) return;
    this.#listening = true;
    const { delivery, limits, ended } = this.#parts;
    const place: StreamPlace = { lastEventId: undefined, retryMs: undefined };
    for (let attempt = 0; attempt <= limits.resumeAttemptsMax && !ended.aborted; attempt += 1) {
      const answer = await this.#get(place, attempt, ended);
      if (typeof answer === "string") {
        // At the first attempt this means that there is no such stream; later it means that the server is unavailable
        // for a moment.
        if (attempt === 0 && place.lastEventId === undefined) break;
        continue;
      }
      const began = performance.now();
      await readEvents(answer, { delivery, relatedTo: undefined, place });
      // A stream that lived for a while was a good one: begin to count anew, after the shortest pause.
      if (performance.now() - began > limits.resumeDelayMsMin) attempt = 0;
    }
    this.#listening = false;
  }

  async #refused(message: Message, answer: LinkAnswer): Promise<void> {
    const { delivery, url, limits, close } = this.#parts;
    const { status } = answer;
    const body = await answer.whole(limits.errorBodyBytesMax);
    if (body === undefined) answer.discard();
    const error = body === undefined ? undefined : readError(body);
    if (!this.#established && this.#fallback !== undefined && mayBeOlder(status, error)) {
      this.#successor = await this.#fallback(message);
      if (this.#successor !== undefined) return;
    }
    if (status === 404 && this.#session !== undefined && error?.error.code !== -32601)
      return close(this.#sessionLost());
    if (status === 401 || status === 403) {
      const text = this.#parts.refused(status, answer.headers);
      if (!this.#established) return close(text);
      if (message.kind === "request") delivery.failed(message.id, text);
      return;
    }
    if (message.kind !== "request") return;
    if (error !== undefined) {
      this.#established = true;
      return delivery.message({ ...withoutRaw(error), id: message.id }, message.id);
    }
    const text = `The server at ${url.host} answered with HTTP status ${status}. Check the server and its URL.`;
    if (!this.#established) return close(text);
    // Above 499 the server may have failed after it acted.
    if (status >= 500) delivery.lost(message.id, text);
    else delivery.failed(message.id, text);
  }

  #sessionLost(): string {
    return `session lost: the server at ${this.#parts.url.host} no longer knows this session. Reconnect to begin a new one.`;
  }
}

/** A JSON-RPC error in the body of an HTTP error. */
function readError(body: Uint8Array): ErrorMessage | undefined {
  const frame = parseMessage(body, defaultWireLimits);
  if (!frame.ok || frame.value.kind !== "single" || frame.value.message.kind !== "error") return undefined;
  return frame.value.message;
}

/**
 * The raw bytes of an error carry the server's id, which may be absent; they do not fit the request's id that is set
 * instead.
 */
function withoutRaw(error: ErrorMessage): ErrorMessage {
  return { kind: "error", id: error.id, error: error.error };
}

/** Statuses with which an HTTP+SSE server meets a POST; a modern error in the body says that it is none. */
function mayBeOlder(status: number, error: ErrorMessage | undefined): boolean {
  if (status !== 400 && status !== 404 && status !== 405) return false;
  const code = error?.error.code;
  const modern = code === -32020 || code === -32021 || code === -32022 || (code === -32601 && status === 404);
  return !modern;
}
