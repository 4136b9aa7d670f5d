/**
 * Requests to one server's origin: a pool of connections, the configured headers, redirects, caps and waits.
 *
 * The headers may hold credentials, so they are sent to this origin only and appear in no reason. A redirect to another
 * origin would hand them, and the call, to a server that the operator has not admitted; it is refused.
 */
import { type Dispatcher, Pool } from "undici";
import { err, ok, type Result } from "../../core/result.ts";
import type { UpstreamLimits } from "./http-limits.ts";

/** Failure of a request without an answer. `sent`: true if the server may have acted on it. */
export type LinkFault = { readonly sent: boolean; readonly aborted: boolean; readonly text: string };

export type LinkAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly type: string;
  /** Parts of the body, as fast as `resume` allows. Throws when the stream is cut. */
  readonly parts: () => AsyncGenerator<Uint8Array>;
  /** The whole body, or undefined if it is over the cap or was cut. */
  readonly whole: (bytesMax: number) => Promise<Uint8Array | undefined>;
  /** Gives up the rest of the body. */
  readonly discard: () => void;
};

export type LinkRequest = {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly signal: AbortSignal;
  /** Longest silence, before the head and between parts of the body; 0 for streams that may stay quiet. */
  readonly quietMsMax: number;
};

export class HttpLink {
  readonly #pool: Pool;
  readonly #origin: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #limits: UpstreamLimits;
  #paused: PromiseWithResolvers<void> | undefined;

  constructor(url: URL, headers: Readonly<Record<string, string>>, limits: UpstreamLimits) {
    this.#origin = url.origin;
    this.#headers = headers;
    this.#limits = limits;
    this.#pool = new Pool(url.origin, {
      connections: limits.connectionsMax,
      connect: { timeout: limits.connectWaitMsMax },
    });
  }

  /** Stops reading bodies; the sender is held back by TCP. */
  pause(): void {
    this.#paused ??= Promise.withResolvers<void>();
  }

  resume(): void {
    this.#paused?.resolve();
    this.#paused = undefined;
  }

  destroy(): Promise<void> {
    this.resume();
    return this.#pool.destroy();
  }

  async ask(request: LinkRequest): Promise<Result<LinkAnswer, LinkFault>> {
    let url = request.url;
    for (let redirects = 0; ; redirects += 1) {
      const response = await this.#dispatch(request, url);
      if (!response.ok) return response;
      const answer = this.#answer(response.value);
      // 301 to 303 would turn a POST into a GET; only those that repeat the request as it is are followed.
      const moved = answer.status >= 300 && answer.status < 400;
      if (!moved || (request.method === "POST" && answer.status !== 307 && answer.status !== 308)) return ok(answer);
      answer.discard();
      const target = redirectTarget(answer.headers["location"], url);
      if (target?.origin !== this.#origin || redirects >= this.#limits.redirectsMax) {
        const text =
          "The server redirects to another address, which is not followed. Configure that address if you trust it.";
        return err({ sent: false, aborted: false, text });
      }
      url = target;
    }
  }

  async #dispatch(request: LinkRequest, url: URL): Promise<Result<Dispatcher.ResponseData, LinkFault>> {
    try {
      const options = {
        method: request.method,
        path: `${url.pathname}${url.search}`,
        headers: { ...this.#headers, ...request.headers },
        signal: request.signal,
        headersTimeout: request.quietMsMax,
        bodyTimeout: request.quietMsMax,
      };
      return ok(await this.#pool.request(request.body === undefined ? options : { ...options, body: request.body }));
    } catch (error) {
      return err(faultOf(error, request.signal.aborted));
    }
  }

  #answer(response: Dispatcher.ResponseData): LinkAnswer {
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(response.headers)) {
      if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
    }
    const { body } = response;
    // A discarded body ends with an error that has no other listener.
    body.on("error", () => {});
    const parts = async function* (this: HttpLink): AsyncGenerator<Uint8Array> {
      for await (const part of body) {
        if (this.#paused !== undefined) await this.#paused.promise;
        if (part instanceof Uint8Array) yield part;
      }
    }.bind(this);
    const whole = async (bytesMax: number): Promise<Uint8Array | undefined> => {
      const held: Uint8Array[] = [];
      let lengthBytes = 0;
      try {
        for await (const part of parts()) {
          lengthBytes += part.length;
          if (lengthBytes > bytesMax) return undefined;
          held.push(part);
        }
      } catch {
        return undefined;
      }
      const only = held[0];
      return held.length === 1 && only !== undefined ? only : Buffer.concat(held);
    };
    const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
    return { status: response.statusCode, headers, type, parts, whole, discard: () => void body.destroy() };
  }
}

function redirectTarget(location: string | undefined, base: URL): URL | undefined {
  return location !== undefined && URL.canParse(location, base.href) ? new URL(location, base) : undefined;
}

/** Codes that say for certain that nothing reached the server, with what to do about them. */
const unreached: Readonly<Record<string, string>> = {
  ECONNREFUSED: "Nothing listens at its address. Start the server or correct the URL.",
  ENOTFOUND: "Its host name is unknown. Correct the URL.",
  EAI_AGAIN: "Its host name could not be looked up. Check the network.",
  EHOSTUNREACH: "Its host cannot be reached. Check the network.",
  ENETUNREACH: "Its network cannot be reached. Check the network.",
  UND_ERR_CONNECT_TIMEOUT: "It did not accept a connection in time. Check the URL and the network.",
  UND_ERR_INVALID_ARG: "A configured header is not valid. Correct the server's headers.",
  CERT_HAS_EXPIRED: "Its certificate has expired. Have it renewed.",
  DEPTH_ZERO_SELF_SIGNED_CERT: "Its certificate is signed by itself. Add it with NODE_EXTRA_CA_CERTS if you trust it.",
  SELF_SIGNED_CERT_IN_CHAIN: "Its certificate authority is unknown. Add it with NODE_EXTRA_CA_CERTS if you trust it.",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "Its certificate cannot be verified. Add its authority with NODE_EXTRA_CA_CERTS.",
  ERR_TLS_CERT_ALTNAME_INVALID: "Its certificate is for another name. Correct the URL.",
};

function faultOf(error: unknown, aborted: boolean): LinkFault {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const known = unreached[code];
  if (known !== undefined) return { sent: false, aborted, text: known };
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") {
    return { sent: true, aborted, text: "It did not answer in time. Check the server." };
  }
  return { sent: true, aborted, text: "The connection was cut before the answer. Check the server." };
}
