/**
 * The gateway's HTTP side: Streamable HTTP for every revision that has it, and a table of other routes.
 *
 * Order for every request: host and origin, route, identity, then the endpoint. A request that fails one check learns
 * nothing about the next.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { err, ok, type Result } from "../../core/result.ts";
import { defaultTransportLimits, type TransportLimits } from "../net/net-limits.ts";
import { answerBytes, refuse, refuseAndClose } from "./http-answer.ts";
import { BodyReader } from "./http-body.ts";
import type { HttpServer, HttpServerOptions, Identity, RequestFacts, Route } from "./http-contract.ts";
import { bearerToken, endpointOf, refuseForeign, repeatedField } from "./http-guard.ts";
import { McpEndpoint } from "./http-mcp.ts";
import { defaultHttpLimits, type HttpLimits } from "./http-limits.ts";

/** Interval of the search for idle sessions. */
const sweepIntervalMs = 60_000;

export function httpServer(options: HttpServerOptions): HttpServer {
  return new GatewayServer(options);
}

class GatewayServer implements HttpServer {
  readonly #options: HttpServerOptions;
  readonly #limits: HttpLimits & TransportLimits;
  readonly #server: Server;
  readonly #bodies: BodyReader;
  readonly #endpoint: McpEndpoint;
  #sweeper: NodeJS.Timeout | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#limits = { ...defaultTransportLimits, ...defaultHttpLimits, ...options.limits };
    this.#bodies = new BodyReader(this.#limits);
    this.#endpoint = new McpEndpoint(options, this.#limits, this.#bodies);
    const { headerBytesMax, headersWaitMsMax, requestWaitMsMax, keepAliveMsMax } = this.#limits;
    const settings = {
      maxHeaderSize: headerBytesMax,
      headersTimeout: headersWaitMsMax,
      requestTimeout: requestWaitMsMax,
      keepAliveTimeout: keepAliveMsMax,
      connectionsCheckingInterval: Math.min(1_000, headersWaitMsMax),
    };
    this.#server = createServer(settings, (request, response) => {
      void this.#handle(request, response).catch(() => {
        // A bug of the gateway: the client gets an error, not a stack trace.
        if (response.headersSent) response.destroy();
        else refuseAndClose(response, 500, "The gateway failed on this request. Nothing was forwarded; try again.");
      });
    });
    this.#server.maxHeadersCount = this.#limits.headersMax;
    this.#server.maxConnections = this.#limits.connectionsMax;
  }

  listen(host: string, port: number): Promise<Result<{ readonly port: number }, string>> {
    return new Promise((resolve) => {
      this.#server.once("error", (error) => resolve(err(listenFault(error, host, port))));
      this.#server.listen(port, host, () => {
        this.#sweeper = setInterval(() => this.#endpoint.sweep(), sweepIntervalMs);
        this.#sweeper.unref();
        const address = this.#server.address();
        resolve(ok({ port: typeof address === "object" && address !== null ? address.port : port }));
      });
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#endpoint.close();
    this.#server.closeIdleConnections();
    const cut = setTimeout(() => this.#server.closeAllConnections(), this.#limits.closeWaitMsMax);
    await closed;
    clearTimeout(cut);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => {});
    const repeated = repeatedField(request.rawHeaders);
    if (repeated !== undefined)
      return refuseAndClose(response, 400, `The header field ${repeated} is there twice. Send it once.`);
    const { hosts = [], origins = [] } = this.#options;
    const foreign = refuseForeign(request.headers.host, request.headers.origin, { hosts, origins });
    if (foreign !== undefined) return refuseAndClose(response, 403, foreign);
    const [path = "/", query = ""] = (request.url ?? "/").split("?", 2);
    const endpoint = endpointOf(path);
    const facts = factsOf(request, path, endpoint.kind === "mcp" ? endpoint : undefined);
    if (endpoint.kind === "other") return this.#route(request, response, { facts, query });
    const identity = await this.#identify(facts, response);
    if (identity === undefined) return;
    if (!this.#options.serves(endpoint.server))
      return refuseAndClose(response, 404, "There is no such server here: check the name in the address.");
    await this.#endpoint.handle({ request, response, facts, identity });
  }

  async #route(
    request: IncomingMessage,
    response: ServerResponse,
    asked: { readonly facts: RequestFacts; readonly query: string },
  ): Promise<void> {
    const { facts, query } = asked;
    const here = (this.#options.routes ?? []).filter((route) => leadsTo(route, facts.path));
    const route = here.find((candidate) => candidate.method === facts.method);
    if (route === undefined) {
      if (here.length === 0)
        return refuseAndClose(
          response,
          404,
          "There is nothing at this address: clients connect to /mcp, or to /s/SERVER/mcp for one server.",
        );
      const allow = here.map((candidate) => candidate.method).join(", ");
      return refuse(response, 405, "This method is not used here.", { allow, connection: "close" });
    }
    let identity: Identity | undefined;
    if (!route.open) {
      identity = await this.#identify(facts, response);
      if (identity === undefined) return;
    }
    const body = await this.#bodies.read(request, identity?.principal ?? "");
    if (!body.ok) return refuseAndClose(response, body.error.status, body.error.text);
    const reply = await route.handle({ facts, query, identity, body: body.value });
    answerBytes(response, reply.status, reply.body, reply.headers);
  }

  async #identify(facts: RequestFacts, response: ServerResponse): Promise<Identity | undefined> {
    const identity = await this.#options.authenticate(facts);
    if (identity.ok) return identity.value;
    const { status, text, challenge } = identity.error;
    const headers = challenge === undefined ? {} : { "www-authenticate": challenge };
    refuse(response, status, text, { connection: "close", ...headers });
    return undefined;
  }
}

function leadsTo(route: Route, path: string): boolean {
  return route.path === path || (route.path.endsWith("/") && path.startsWith(route.path));
}

function factsOf(
  request: IncomingMessage,
  path: string,
  endpoint: { readonly server: string | undefined; readonly runToken: string | undefined } | undefined,
): RequestFacts {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return {
    method: request.method ?? "",
    path,
    server: endpoint?.server,
    runToken: endpoint?.runToken,
    bearerToken: bearerToken(request.headers.authorization),
    remoteAddress: request.socket.remoteAddress ?? "",
    headers,
  };
}

function listenFault(error: Error, host: string, port: number): string {
  const code = "code" in error ? String(error.code) : "unknown";
  const where = `${host}:${port}`;
  if (code === "EADDRINUSE") return `The address ${where} is in use. Stop the other program or choose another port.`;
  if (code === "EACCES") return `Listening on ${where} is not permitted. Choose a port above 1023.`;
  return `Listening on ${where} failed (${code}). Check the host name and port.`;
}
