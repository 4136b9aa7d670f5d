/** A server that knows its users by `Authorization`, over every HTTP transport, and a gateway in front of it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Json, member, stringMember } from "../../src/core/json.ts";
import { configOf } from "../../src/app/gateway/config.ts";
import { controlHeader, makeControlToken, type ControlToken } from "../../src/app/gateway/control-token.ts";
import { listen, openGateway, type HttpComposition, type Listening } from "../../src/app/gateway/http-gateway.ts";
import { type Asked, json, sse, TestServer } from "../kit/server/test-server.ts";

export const version = "2026-07-28";
const meta = {
  "io.modelcontextprotocol/protocolVersion": version,
  "io.modelcontextprotocol/clientCapabilities": {},
};

export const challenge =
  'Bearer resource_metadata="https://api.example/.well-known/oauth-protected-resource/v1/mcp", error="invalid_token"';

export const metadata = { resource: "https://api.example/v1/mcp", authorization_servers: ["https://login.example"] };

export type Flavour = "streamable" | "legacy" | "sse";

/** Answers `whoami` with the `Authorization` of the connection that the call came over. */
export class Upstream {
  readonly server: TestServer;
  /** Credentials that are no longer good. */
  readonly expired = new Set<string>();
  challenge = challenge;
  metadata: { readonly [name: string]: Json } = metadata;
  readonly flavour: Flavour;
  readonly #streams = new Map<string, ServerResponse>();
  #sessions = 0;
  /** Who opened each session: like many servers, this one asks nobody again. */
  readonly #users = new Map<string, string>();

  constructor(flavour: Flavour) {
    this.flavour = flavour;
    this.server = new TestServer((asked, response) => this.#handle(asked, response));
  }

  get credentials(): readonly string[] {
    return this.server.asked.map(({ headers }) => headers.authorization ?? "nobody");
  }

  #handle(asked: Asked, response: ServerResponse): void {
    const user = asked.headers.authorization ?? "nobody";
    if (asked.path.startsWith("/.well-known/oauth-protected-resource")) return json(response, this.metadata);
    if (asked.path === "/.well-known/oauth-authorization-server") return json(response, this.#authority());
    if (asked.path === "/token") return json(response, { access_token: "issued", token_type: "Bearer" });
    if (this.expired.has(user)) {
      return void response.writeHead(401, { "www-authenticate": this.challenge }).end();
    }
    if (asked.method === "DELETE") return void response.writeHead(204).end();
    if (asked.method === "GET") {
      if (this.flavour !== "sse") return void response.writeHead(405).end();
      this.#sessions += 1;
      const id = String(this.#sessions);
      this.#streams.set(id, sse(response));
      this.#users.set(id, user);
      return void response.write(`event: endpoint\ndata: /v1/messages/${id}\n\n`);
    }
    const message = JSON.parse(asked.body) as Json; // of our own gateway
    if (this.flavour === "sse") {
      const id = asked.path.split("/").at(-1) ?? "";
      const stream = this.#streams.get(id);
      if (stream === undefined) return void response.writeHead(405).end();
      response.writeHead(202).end();
      const answer = this.#answer(message, this.#users.get(id) ?? "");
      if (answer !== undefined) stream.write(`data: ${JSON.stringify(answer)}\n\n`);
      return;
    }
    const method = stringMember(message, "method");
    const named = asked.headers["mcp-session-id"];
    const speaker = typeof named === "string" ? (this.#users.get(named) ?? "") : user;
    const answer = this.#answer(message, speaker);
    if (answer === undefined) return void response.writeHead(202).end();
    if (method !== "initialize" || this.flavour !== "legacy") return json(response, answer);
    this.#sessions += 1;
    this.#users.set(`s${this.#sessions}`, user);
    return json(response, answer, { "mcp-session-id": `s${this.#sessions}` });
  }

  #authority(): Json {
    const issuer = this.server.url;
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      response_types_supported: ["code"],
      token_endpoint_auth_methods_supported: ["client_secret_basic"],
    };
  }

  #answer(message: Json, user: string): Json | undefined {
    const id = member(message, "id");
    if (id === undefined) return undefined;
    const method = stringMember(message, "method");
    const modern = this.flavour === "streamable";
    const complete = modern ? { resultType: "complete" } : {};
    const say = (result: { readonly [name: string]: Json }): Json => ({
      jsonrpc: "2.0",
      id,
      result: { ...complete, ...result },
    });
    const serverInfo = { name: "users", version: "1" };
    if (method === "initialize" && !modern) {
      return say({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo });
    }
    if (method === "server/discover" && modern) {
      return say({ supportedVersions: [version], capabilities: { tools: {} }, ttlMs: 0, cacheScope: "private" });
    }
    if (method === "tools/list") {
      const tools = [{ name: "whoami", inputSchema: { type: "object" } }];
      return say(modern ? { tools, ttlMs: 0, cacheScope: "private" } : { tools });
    }
    if (method === "tools/call") return say({ content: [{ type: "text", text: `you are ${user}` }] });
    return { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } };
  }
}

export type Answered = {
  readonly status: number;
  readonly body: string;
  readonly challenge: string | null;
  readonly session: string | null;
};

/** A gateway with one server in it, and clients of any user. */
export class PassingGateway {
  readonly home = mkdtempSync(join(tmpdir(), "sg-passing-"));
  readonly upstream: Upstream;
  composition!: HttpComposition;
  control!: ControlToken;
  #listening!: Listening;

  constructor(flavour: Flavour) {
    this.upstream = new Upstream(flavour);
  }

  get url(): string {
    return this.#listening.url;
  }

  async start(auth: string, policy: string, more: { readonly [name: string]: unknown } = {}): Promise<this> {
    await this.upstream.server.start();
    writeFileSync(join(this.home, "policy.yaml"), policy);
    const flavour = this.upstream.flavour === "sse" ? "sse" : "auto";
    const users = { url: `${this.upstream.server.url}/v1/mcp`, auth, flavour };
    const value = { version: 1, servers: { users }, policy: "policy.yaml", ...more };
    const config = configOf(value, join(this.home, "gateway.yaml"));
    if (!config.ok) throw new Error(config.error.sentence);
    const opened = await openGateway(config.value, this.home, () => undefined);
    if (!opened.ok) throw new Error(opened.error);
    this.composition = opened.value;
    this.control = makeControlToken(this.home);
    const place = { host: "127.0.0.1", port: 0, control: this.control };
    const listening = await listen(this.composition, config.value, place);
    if (!listening.ok) throw new Error(listening.error);
    this.#listening = listening.value;
    return this;
  }

  async stop(): Promise<void> {
    await this.#listening.close();
    await this.composition.close();
    this.upstream.server.stop();
    rmSync(this.home, { recursive: true });
  }

  async ask(method: string, path: string, headers: Record<string, string>, body?: Json | string): Promise<Answered> {
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const answer = await fetch(`${this.url}${path}`, {
      method,
      headers,
      ...(text === undefined ? {} : { body: text }),
    });
    return {
      status: answer.status,
      body: await answer.text(),
      challenge: answer.headers.get("www-authenticate"),
      session: answer.headers.get("mcp-session-id"),
    };
  }

  /** A request of the modern era, which is a conversation of its own. */
  modern(user: string | undefined, method: string, params: { readonly [name: string]: Json } = {}, path = "/mcp") {
    const name = params["name"];
    const headers = {
      ...posted(user),
      "mcp-protocol-version": version,
      "mcp-method": method,
      ...(typeof name === "string" ? { "mcp-name": name } : {}),
    };
    return this.ask("POST", path, headers, { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } });
  }

  whoami(user: string | undefined, path = "/mcp"): Promise<Answered> {
    return this.modern(user, "tools/call", { name: "whoami", arguments: {} }, path);
  }

  /** Opens a legacy session. */
  async session(user: string | undefined, path = "/mcp"): Promise<Answered> {
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };
    const opened = await this.ask("POST", path, posted(user), { jsonrpc: "2.0", id: 0, method: "initialize", params });
    if (opened.session !== null) {
      await this.within(opened.session, user, { jsonrpc: "2.0", method: "notifications/initialized" }, path);
    }
    return opened;
  }

  within(session: string, user: string | undefined, message: Json, path = "/mcp"): Promise<Answered> {
    const headers = { ...posted(user), "mcp-session-id": session, "mcp-protocol-version": "2025-06-18" };
    return this.ask("POST", path, headers, message);
  }

  runs(body?: Json | string, headers: Record<string, string> = {}): Promise<Answered> {
    return this.ask("POST", "/runs", { [controlHeader]: this.control.token, ...headers }, body);
  }
}

function posted(user: string | undefined): Record<string, string> {
  const base = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  return user === undefined ? base : { ...base, authorization: user };
}

export const whoamiCall = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "whoami", arguments: {} } };
