import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { Json } from "../../../src/core/json.ts";
import type { UpstreamConnection, UpstreamHandler } from "../../../src/gateway/ports/transport.ts";
import type { Message, RequestId, RequestMessage } from "../../../src/wire/message.ts";
import { until } from "../../adapters/http-harness.ts";

/** Records what an upstream connection tells the gateway. */
export class Recorder implements UpstreamHandler {
  readonly messages: { readonly message: Message; readonly relatedTo: RequestId | undefined }[] = [];
  readonly losses: { readonly id: RequestId; readonly reason: string }[] = [];
  readonly reasons: string[] = [];

  message(message: Message, relatedTo?: RequestId): void {
    this.messages.push({ message, relatedTo });
  }

  lost(id: RequestId, reason: string): void {
    this.losses.push({ id, reason });
  }

  closed(reason: string): void {
    this.reasons.push(reason);
  }

  async answer(id: RequestId, waitMs = 10_000): Promise<Message> {
    const find = (): Message | undefined =>
      this.messages.find(
        ({ message }) => (message.kind === "response" || message.kind === "error") && message.id === id,
      )?.message;
    await until(() => find() !== undefined || this.reasons.length > 0, waitMs);
    const found = find();
    if (found === undefined) throw new Error(`no answer to ${id}: ${this.reasons.join()}`);
    return found;
  }
}

export type Asked = {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};

/** A server that does what the test says, and remembers what it was asked. */
export class TestServer {
  readonly asked: Asked[] = [];
  url = "";
  readonly #server: Server;

  constructor(handle: (asked: Asked, response: ServerResponse) => void) {
    this.#server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (part: string) => (body += part));
      request.on("end", () => {
        const asked = { method: request.method ?? "", path: request.url ?? "", headers: request.headers, body };
        this.asked.push(asked);
        handle(asked, response);
      });
    });
  }

  async start(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    this.url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
    return this;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

export function request(id: RequestId, method: string, params?: { readonly [name: string]: Json }): RequestMessage {
  return { kind: "request", id, method, params };
}

export const initializeRequest = (revision = "2025-11-25"): RequestMessage =>
  request("init", "initialize", {
    protocolVersion: revision,
    capabilities: {},
    clientInfo: { name: "t", version: "1" },
  });

export const initialized: Message = { kind: "notification", method: "notifications/initialized", params: undefined };

/** The handshake of the legacy era over a connection, up to the client's word that it is ready. */
export async function shakeHands(upstream: UpstreamConnection, seen: Recorder): Promise<void> {
  upstream.send(initializeRequest());
  await seen.answer("init");
  upstream.negotiated("2025-11-25");
  upstream.send(initialized);
}

/** The id of a request, undefined for a message that has none. */
export const idOf = (asked: Asked): unknown => (JSON.parse(asked.body || "{}") as { id?: unknown }).id;

/** A result for a request. */
export const answerTo = (asked: Asked): unknown => ({ jsonrpc: "2.0", id: idOf(asked), result: { ok: true } });

export function json(
  response: ServerResponse,
  body: unknown,
  headers: Record<string, string> = {},
  status = 200,
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

export function sse(response: ServerResponse): ServerResponse {
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  return response;
}
