import { request, type IncomingMessage } from "node:http";
import { expect } from "vitest";
import { httpServer } from "../../src/adapters/http/http-server.ts";
import type { HttpServer, HttpServerOptions } from "../../src/adapters/http/http-contract.ts";
import { type Json, stringMember } from "../../src/core/json.ts";
import { ok } from "../../src/core/result.ts";
import type { ClientConnection, ClientHandler, Exchange } from "../../src/gateway/ports/transport.ts";
import type { Message } from "../../src/wire/message.ts";

/** A gateway in miniature behind the HTTP server: it records what it sees and answers as the test says. */
export class TestGateway {
  readonly connections: ClientConnection[] = [];
  readonly exchanges: Exchange[] = [];
  readonly messages: Message[] = [];
  readonly closed: string[] = [];
  readonly abandoned: unknown[] = [];
  port = 0;
  onRequest: (exchange: Exchange, connection: ClientConnection) => void = echo;
  readonly #server: HttpServer;

  constructor(options: Partial<HttpServerOptions> = {}) {
    this.#server = httpServer({
      accept: (connection): ClientHandler => {
        this.connections.push(connection);
        return {
          request: (exchange) => {
            this.exchanges.push(exchange);
            exchange.onAbandoned(() => this.abandoned.push(exchange.request.id));
            this.onRequest(exchange, connection);
          },
          message: (message) => this.messages.push(message),
          closed: (reason) => this.closed.push(reason),
        };
      },
      authenticate: (facts) => ok({ principal: facts.bearerToken ?? "anyone" }),
      serves: (server) => server === undefined || server === "files",
      ...options,
    });
  }

  async start(): Promise<this> {
    const started = await this.#server.listen("127.0.0.1", 0);
    if (!started.ok) throw new Error(started.error);
    this.port = started.value.port;
    return this;
  }

  stop(): Promise<void> {
    return this.#server.close();
  }

  /** Sends one request and waits for the head of its answer. */
  ask(how: Ask): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: "127.0.0.1",
          port: this.port,
          path: how.path ?? "/mcp",
          method: how.method ?? "POST",
          headers: how.headers ?? {},
          agent: false,
        },
        (response) => resolve(new Answer(response)),
      );
      outgoing.on("error", reject);
      outgoing.end(how.body);
    });
  }

  post(body: Json, headers: Record<string, string> = {}, path = "/mcp"): Promise<Answer> {
    return this.ask({ body: JSON.stringify(body), headers: { ...jsonHeaders, ...headers }, path });
  }

  async openSession(revision = "2025-11-25", path = "/mcp"): Promise<string> {
    const answer = await this.post(initialize(revision), {}, path);
    expect(answer.status).toBe(200);
    const id = answer.headers["mcp-session-id"];
    expect(id).toMatch(/^[\x21-\x7e]{20,}$/);
    await answer.text();
    return String(id);
  }
}

export type Ask = {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
};

export const jsonHeaders = { "content-type": "application/json", accept: "application/json, text/event-stream" };

export function initialize(revision: string): Json {
  return {
    jsonrpc: "2.0",
    id: "init",
    method: "initialize",
    params: { protocolVersion: revision, capabilities: {}, clientInfo: { name: "t", version: "1" } },
  };
}

export function ask(id: number | string, method = "tools/list", params?: Json): Json {
  return params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params };
}

/** Answers with what was asked; a handshake with the revision asked for. */
export function echo(exchange: Exchange): void {
  const { id, method, params } = exchange.request;
  const protocolVersion = stringMember(params, "protocolVersion");
  const info = { capabilities: { tools: {} }, serverInfo: { name: "echo", version: "1" } };
  const result =
    method === "initialize" && protocolVersion !== undefined ? { protocolVersion, ...info } : { echoed: method, id };
  exchange.respond({ kind: "response", id, result });
}

export class Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly #response: IncomingMessage;
  #text = "";
  #ended = false;

  constructor(response: IncomingMessage) {
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    this.#response = response;
    response.setEncoding("utf8");
    response.on("data", (part: string) => (this.#text += part));
    response.on("close", () => (this.#ended = true));
    response.on("error", () => {});
  }

  get ended(): boolean {
    return this.#ended;
  }

  cut(): void {
    this.#response.destroy();
  }

  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  async text(): Promise<string> {
    await until(() => this.#ended);
    return this.#text;
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  /** Events so far, as the id and the parsed data. */
  events(): { readonly id: string | undefined; readonly data: unknown }[] {
    return this.#text
      .split("\n\n")
      .slice(0, -1)
      .map((block) => ({ id: /^id: (.*)$/m.exec(block)?.[1], text: /^data: ?(.*)$/m.exec(block)?.[1] ?? "" }))
      .map(({ id, text }) => ({ id, data: text === "" ? undefined : (JSON.parse(text) as unknown) }));
  }
}

export async function until(condition: () => boolean, waitMs = 5_000): Promise<void> {
  for (let waited = 0; waited < waitMs && !condition(); waited += 5) await new Promise((done) => setTimeout(done, 5));
  expect(condition()).toBe(true);
}
