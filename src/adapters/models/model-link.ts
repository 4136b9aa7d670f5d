/**
 * Requests to one model server. A request may contain private data, so it goes only to the configured address: no
 * redirect is followed, no proxy of the environment is used, and `localhost` is this machine whatever a resolver says.
 * The answer is untrusted, so its size is bounded before it is parsed.
 */
import type { LookupFunction } from "node:net";
import { Agent, request } from "undici";
import { type Result, err, ok } from "../../core/result.ts";
import type { ModelFailure } from "../../gateway/ports/model.ts";
import { answerBytesMax, connectionsMax, connectWaitMsMax } from "./model-limits.ts";

export type Posted = { readonly status: number; readonly text: string };

/** How long an unused connection is kept; a pause between two calls of an agent is usually shorter. */
const keepAliveMs = 10_000;

const loopback: LookupFunction = (_hostname, options, found) => {
  const both = [
    { address: "127.0.0.1", family: 4 },
    { address: "::1", family: 6 },
  ] as const;
  if (options.all === true) found(null, [...both]);
  else found(null, both[0].address, both[0].family);
};

export class ModelLink {
  #agent: Agent | undefined;
  readonly #local: boolean;

  constructor(url: string | undefined) {
    this.#local = url !== undefined && URL.canParse(url) && new URL(url).hostname === "localhost";
  }

  /** Sends one JSON body. The failure never holds words of the server, nor of a header. */
  async post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    signal: AbortSignal,
  ): Promise<Result<Posted, ModelFailure>> {
    try {
      const answer = await request(url, {
        dispatcher: this.#dispatcher(),
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json", ...headers },
        body,
        signal,
      });
      const parts: Buffer[] = [];
      let bytes = 0;
      for await (const part of answer.body) {
        // A body stream yields buffers as long as no encoding is set on it, and none is.
        const chunk = part as Buffer;
        bytes += chunk.length;
        if (bytes > answerBytesMax) {
          answer.body.destroy();
          return err({ kind: "too-large", cause: "its answer is too long" });
        }
        parts.push(chunk);
      }
      return ok({ status: answer.statusCode, text: Buffer.concat(parts).toString("utf8") });
    } catch {
      if (signal.aborted) return err(stopped);
      return err({ kind: "unreachable", cause: "it cannot be reached" });
    }
  }

  /** Made with the first question, so that a judge which is never asked holds no sockets. */
  #dispatcher(): Agent {
    this.#agent ??= new Agent({
      connections: connectionsMax,
      keepAliveTimeout: keepAliveMs,
      connect: { timeout: connectWaitMsMax, ...(this.#local ? { lookup: loopback } : {}) },
    });
    return this.#agent;
  }
}

export const stopped: ModelFailure = { kind: "stopped", cause: "it did not answer in time" };

/** The failure for a status other than success, as a sentence for the operator who configured the judge. */
export function statusFailure(status: number): ModelFailure {
  if (status === 401 || status === 403) {
    return { kind: "status", cause: `it refused the key (HTTP ${status}): check the variable that \`keyEnv\` names` };
  }
  if (status === 404) return { kind: "status", cause: "it knows no such address or model (HTTP 404)" };
  return { kind: "status", cause: `it answered with HTTP ${status}` };
}
