/**
 * The HTTP+SSE transport of revision 2024-11-05 as a client: one GET stream carries all messages of the server, and its
 * first event names the address that messages are posted to.
 */
import { encodeMessage } from "../../wire/encode.ts";
import type { Message, RequestId, Revision } from "../../wire/message.ts";
import type { LinkAnswer } from "./http-link.ts";
import { type FlavourParts, readEvents, type StreamPlace, type UpstreamFlavour } from "./upstream-flavour.ts";

export class SseUpstream implements UpstreamFlavour {
  readonly #parts: FlavourParts;
  readonly #endpoint: URL;
  /** Messages are posted one after the other: the transport has no other way to keep their order. */
  #last: Promise<void> = Promise.resolve();

  constructor(parts: FlavourParts, endpoint: URL) {
    this.#parts = parts;
    this.#endpoint = endpoint;
  }

  send(message: Message): void {
    const { delivery, headers } = this.#parts;
    if (message.kind === "request") delivery.asked(message.id);
    headers.sent(message);
    this.#last = this.#last.then(() => this.#post(message));
  }

  abandon(id: RequestId): void {
    this.#parts.delivery.forget(id);
  }

  negotiated(revision: Revision): void {
    this.#parts.delivery.revision = revision;
  }

  async leave(): Promise<void> {}

  async #post(message: Message): Promise<void> {
    const { delivery, link, limits, ended, url } = this.#parts;
    if (delivery.closed) return;
    const headers = { "content-type": "application/json" };
    const body = encodeMessage(message);
    const asked = { method: "POST", url: this.#endpoint, headers, body, signal: ended } as const;
    const answer = await link.ask({ ...asked, quietMsMax: limits.answerWaitMsMax });
    if (answer.ok) answer.value.discard();
    if (message.kind !== "request" || (answer.ok && answer.value.status < 300)) return;
    if (!answer.ok) {
      const text = `The server at ${url.host} did not take the message. ${answer.error.text}`;
      return answer.error.sent ? delivery.lost(message.id, text) : delivery.failed(message.id, text);
    }
    const { status } = answer.value;
    const text = `The server at ${url.host} answered with HTTP status ${status}. Check the server and its URL.`;
    const refused = status === 401 || status === 403;
    delivery.failed(message.id, refused ? this.#parts.refused(status, answer.value.headers) : text);
  }
}

/**
 * Opens the stream and waits for the address. The result is a flavour, or a sentence on why there is none; after a
 * success the end of the stream ends the connection.
 */
export async function openSse(parts: FlavourParts): Promise<SseUpstream | string> {
  const { link, url, limits, ended } = parts;
  const control = new AbortController();
  const signal = AbortSignal.any([control.signal, ended]);
  const headers = { accept: "text/event-stream" };
  const waited = setTimeout(() => control.abort(), limits.endpointWaitMsMax);
  const answer = await link.ask({ method: "GET", url, headers, signal, quietMsMax: 0 });
  if (!answer.ok || answer.value.status !== 200 || answer.value.type !== "text/event-stream") {
    clearTimeout(waited);
    if (!answer.ok) return `The server at ${url.host} gave no answer. ${answer.error.text}`;
    answer.value.discard();
    const { status } = answer.value;
    if (status === 401 || status === 403) return parts.refused(status, answer.value.headers);
    return `The server at ${url.host} offers no event stream (HTTP status ${status}). Check its URL.`;
  }
  const found = await awaitEndpoint(parts, answer.value, control.signal);
  clearTimeout(waited);
  if (typeof found === "string") control.abort();
  return typeof found === "string" ? found : new SseUpstream(parts, found);
}

function awaitEndpoint(parts: FlavourParts, answer: LinkAnswer, late: AbortSignal): Promise<URL | string> {
  const { url, delivery, close } = parts;
  return new Promise((resolve) => {
    let known = false;
    const place: StreamPlace = { lastEventId: undefined, retryMs: undefined };
    late.addEventListener("abort", () =>
      resolve(`The server at ${url.host} named no endpoint in time. Check its URL.`),
    );
    const other = (name: string, data: Uint8Array): void => {
      if (name !== "endpoint" || known) return;
      known = true;
      const text = Buffer.from(data).toString("utf8");
      const endpoint = URL.canParse(text, url.href) ? new URL(text, url) : undefined;
      // Another origin would get our credentials and every message, at the server's word alone.
      if (endpoint?.origin === url.origin) resolve(endpoint);
      else resolve(`The server at ${url.host} named an endpoint at another address, which is refused. Do not use it.`);
    };
    void readEvents(answer, { delivery, relatedTo: undefined, place, other }).then(() => {
      if (known) close(`The server at ${url.host} closed its event stream. Reconnect to go on.`);
      else resolve(`The server at ${url.host} closed its event stream at once. Check its URL.`);
    });
  });
}
