/**
 * The gateway's side of a server behind a URL. `auto` posts the first message as Streamable HTTP and, where that fails
 * as the specification describes, looks for the HTTP+SSE transport of 2024-11-05.
 */
import type { ServerTarget, UpstreamConnection, UpstreamHandler } from "../../gateway/ports/transport.ts";
import { defaultWireLimits, type WireLimits } from "../../wire/limits.ts";
import type { Message, RequestId, Revision } from "../../wire/message.ts";
import { HeaderTable } from "./header-table.ts";
import { hostName } from "./http-guard.ts";
import { HttpLink } from "./http-link.ts";
import { defaultUpstreamLimits, type UpstreamLimits } from "./http-limits.ts";
import { openSse } from "./sse-upstream.ts";
import { type Fallback, StreamableUpstream } from "./streamable-upstream.ts";
import { UpstreamDelivery } from "./upstream-delivery.ts";
import { credentialsRefused, type FlavourParts, type UpstreamFlavour } from "./upstream-flavour.ts";
import type { UpstreamRefusals } from "./upstream-refusals.ts";

export type HttpTarget = Extract<ServerTarget, { kind: "http" }>;

export type HttpUpstreamOptions = {
  readonly wire?: WireLimits;
  readonly limits?: Partial<UpstreamLimits>;
  /** One line for the operator about what was skipped. */
  readonly diagnostic?: (line: string) => void;
  /** Store for refusals of credentials that a client sent along. */
  readonly refusals?: UpstreamRefusals;
};

/** Headers that the transport sets itself; a configured one would contradict the message that it travels with. */
const ownHeaders = /^(?:content-type|content-length|accept|host|connection|transfer-encoding|last-event-id|mcp-.*)$/i;

/** Connects to a server over HTTP. Failures arrive as `handler.closed`, after this call has returned. */
export function connectHttp(
  target: HttpTarget,
  handler: UpstreamHandler,
  options: HttpUpstreamOptions = {},
): UpstreamConnection {
  return new HttpUpstream(target, handler, options);
}

/** Reason why a target cannot be used, in one sentence; undefined if it can. */
export function refuseTarget(target: HttpTarget): string | undefined {
  const url = URL.canParse(target.url) ? new URL(target.url) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return "The server's URL is not an https or http URL. Correct it in the configuration.";
  }
  if (url.username !== "" || url.password !== "") {
    return "The server's URL holds a password, which ends up in logs. Move it into a header.";
  }
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(hostName(url.host) ?? "");
  if (url.protocol === "http:" && !local && Object.keys(target.headers).length > 0) {
    return `Headers for ${url.host} would be sent unencrypted. Use an https URL, or leave the headers out.`;
  }
  const own = Object.keys(target.headers).find((name) => ownHeaders.test(name));
  if (own !== undefined)
    return `The header ${own.slice(0, 40)} is set by the gateway itself. Remove it from the server's headers.`;
  return undefined;
}

class HttpUpstream implements UpstreamConnection {
  readonly #delivery: UpstreamDelivery;
  readonly #ended = new AbortController();
  #link: HttpLink | undefined;
  #flavour: UpstreamFlavour | undefined;
  /** Messages that wait for a flavour: HTTP+SSE has none before its endpoint is known. */
  readonly #early: Message[] = [];

  constructor(target: HttpTarget, handler: UpstreamHandler, options: HttpUpstreamOptions) {
    const limits = { ...defaultUpstreamLimits, ...options.limits };
    const headers = new HeaderTable(limits.toolsMax);
    this.#delivery = new UpstreamDelivery(handler, {
      wire: options.wire ?? defaultWireLimits,
      diagnostic: options.diagnostic ?? (() => {}),
      received: (message) => headers.received(message),
    });
    const refusal = refuseTarget(target);
    if (refusal !== undefined) {
      queueMicrotask(() => this.#end(refusal));
      return;
    }
    const url = new URL(target.url);
    const link = new HttpLink(url, target.headers, limits);
    this.#link = link;
    const close = (reason: string): void => this.#end(reason);
    const kept = target.credentials === undefined ? undefined : options.refusals;
    const refused: FlavourParts["refused"] = (status, answered) =>
      kept?.keep(url.host, status, answered["www-authenticate"]) ?? credentialsRefused(url, status);
    const parts = { url, link, delivery: this.#delivery, headers, limits, ended: this.#ended.signal, refused, close };
    if (target.flavour === "sse") void this.#useSse(parts);
    else this.#flavour = new StreamableUpstream(parts, target.flavour === "auto" ? this.#fallback(parts) : undefined);
  }

  send(message: Message): void {
    if (this.#delivery.closed) return;
    if (this.#flavour === undefined) this.#early.push(message);
    else this.#flavour.send(message);
  }

  abandon(id: RequestId): void {
    this.#flavour?.abandon(id);
  }

  negotiated(revision: Revision): void {
    this.#flavour?.negotiated(revision);
  }

  /** Every message has a request of its own, and how many are open is the gateway's to limit. */
  drained(): undefined {
    return undefined;
  }

  pause(): void {
    this.#link?.pause();
  }

  resume(): void {
    this.#link?.resume();
  }

  async close(): Promise<void> {
    if (this.#delivery.closed) return;
    this.#delivery.close("The connection was closed by the gateway.");
    await this.#flavour?.leave();
    this.#ended.abort();
    await this.#link?.destroy();
  }

  #end(reason: string): void {
    if (this.#delivery.closed) return;
    this.#delivery.close(reason);
    this.#ended.abort();
    void this.#link?.destroy();
  }

  async #useSse(parts: FlavourParts): Promise<void> {
    const opened = await openSse(parts);
    if (typeof opened === "string") return this.#end(opened);
    this.#flavour = opened;
    for (const message of this.#early.splice(0)) opened.send(message);
  }

  #fallback(parts: FlavourParts): Fallback {
    return async (message) => {
      const opened = await openSse(parts);
      if (typeof opened === "string" || this.#delivery.closed) return undefined;
      this.#flavour = opened;
      opened.send(message);
      return opened;
    };
  }
}
