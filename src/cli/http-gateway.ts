/** A gateway from a configuration file: several servers, over Streamable HTTP or over this process's own stdio. */
import { isIPv4, isIPv6 } from "node:net";
import { randomBytes, timingSafeEqual } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { stdioClient } from "../adapters/stdio/stdio-client.ts";
import { systemConnector } from "../adapters/connector.ts";
import type { HttpServerOptions, Route, RouteReply } from "../adapters/http/http-contract.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { member, stringMember } from "../core/json.ts";
import type { Result } from "../core/result.ts";
import { err, ok } from "../core/result.ts";
import type { ClientConnection, ConnectionFacts, ServerTarget } from "../gateway/ports.ts";
import { checkRunToken } from "../gateway/run-keys.ts";
import type { HeaderParameter } from "../wire/headers.ts";
import { headerParameters } from "../wire/headers.ts";
import type { Composition } from "./composition.ts";
import { compose } from "./composition.ts";
import type { GatewayConfig, ServerConfig } from "./config.ts";
import { shown } from "./output.ts";
import type { MoreMechanisms } from "./policies.ts";

/** Bytes of a `POST /runs` request that are read as JSON. */
export const runRequestBytesMax = 1024 * 1024;

export type Listening = { readonly url: string; readonly close: () => Promise<void> };

/** Characters of one line that a server writes to its standard error and that the operator's terminal shows. */
const diagnosticCharactersMax = 2_000;

/** The principal of whoever can reach this machine's loopback: the user who runs the gateway. */
const localPrincipal = `os:${userInfo().uid}`;

/** Opens the gateway of a configuration without any client yet. */
export function openGateway(
  config: GatewayConfig,
  home: string,
  tell: (text: string) => void,
  more?: MoreMechanisms,
): Promise<Result<Composition, string>> {
  return compose({
    home,
    ...(more === undefined ? {} : { more }),
    policies: config.policies,
    connector: systemConnector({
      home,
      diagnostic: (_target, line) => tell(shown(line, diagnosticCharactersMax)),
    }),
    servers: [...config.servers].map(([name, server]) => ({ name, target: (facts) => targetFor(server, facts) })),
    tagOf: () => undefined,
    tag: config.tag,
    tell,
  });
}

/** In `same-origin` the client's own credentials are for the server behind; in `static` only configured ones are sent. */
function targetFor({ target, auth }: ServerConfig, facts: ConnectionFacts): ServerTarget {
  if (target.kind !== "http" || auth !== "same-origin") return target;
  const authorization = facts.headers?.["authorization"];
  return authorization === undefined ? target : { ...target, headers: { ...target.headers, authorization } };
}

/** Listens for clients; the error is a sentence for the user. */
export async function listen(
  composition: Composition,
  config: GatewayConfig,
  place: { readonly host: string; readonly port: number; readonly control: ControlToken },
): Promise<Result<Listening, string>> {
  if (!isLoopback(place.host)) {
    return err(
      `Listening on ${shown(place.host, 60)} would let everybody on the network act as you, since the gateway has no sign-in. Use 127.0.0.1, behind a proxy that signs users in if others must reach it.`,
    );
  }
  const { httpServer } = await import("../adapters/http/http-server.ts");
  const passesCredentials = [...config.servers.values()].some(({ auth }) => auth === "same-origin");
  const { mac } = composition.gateway.shared.services.secrets;
  const address = { url: "" };
  const server = httpServer({
    accept: (connection) => composition.gateway.accept(inWorkspace(connection, config.workspace)),
    serves: (name) => name === undefined || config.servers.has(name),
    origins: [...config.origins],
    parametersOf: parametersOf(composition),
    ...(passesCredentials ? { forwardedHeaders: ["authorization"] } : {}),
    routes: routes(composition, () => address.url, place.control),
    authenticate: (facts) => {
      const bearer = facts.bearerToken;
      const minted = bearer !== undefined && checkRunToken(bearer, mac) !== undefined ? bearer : undefined;
      const token = facts.runToken ?? minted;
      if (facts.runToken !== undefined && checkRunToken(facts.runToken, mac) === undefined) {
        return err({
          status: 401,
          text: "This run URL is not one of this gateway: ask it for a new one (POST /runs).",
        });
      }
      if (bearer !== undefined && minted === undefined && !passesCredentials) {
        return err({
          status: 401,
          text: "This bearer token is not one of this gateway: leave it out, or use a run token.",
        });
      }
      return ok(token === undefined ? { principal: localPrincipal } : { principal: localPrincipal, runToken: token });
    },
  });
  const listening = await server.listen(place.host, place.port);
  if (!listening.ok) return listening;
  address.url = `http://${place.host.includes(":") ? `[${place.host}]` : place.host}:${listening.value.port}`;
  return ok({ url: address.url, close: () => server.close() });
}

/** True for an address that only this machine reaches. A name could resolve to anything, so only one is known. */
export function isLoopback(host: string): boolean {
  if (host === "localhost") return true;
  return isIPv4(host) ? host.startsWith("127.") : isIPv6(host) && new URL(`http://[${host}]/`).hostname === "[::1]";
}

/** An HTTP client sends no working directory; the operator's configuration says where its work is. */
function inWorkspace(connection: ClientConnection, workingDirectory: string): ClientConnection {
  return {
    facts: { ...connection.facts, workingDirectory },
    send: (message) => connection.send(message),
    drained: () => connection.drained(),
    close: (reason) => connection.close(reason),
  };
}

/** Serves one client on this process's own standard input and output. */
export function serveStdio(composition: Composition): Promise<void> {
  const facts: ConnectionFacts = {
    transport: "stdio",
    server: undefined,
    principal: localPrincipal,
    process: { pid: process.ppid, startedAt: "" },
    workingDirectory: process.cwd(),
  };
  return new Promise((resolve) => {
    stdioClient({ input: process.stdin, output: process.stdout }, facts, (connection) => {
      const handler = composition.gateway.accept(connection);
      return {
        request: (exchange) => handler.request(exchange),
        message: (message) => handler.message(message),
        closed: (reason) => {
          handler.closed(reason);
          resolve();
        },
      };
    });
  });
}

/** Header parameters of the tools that clients have seen; a schema is searched once. */
function parametersOf({ gateway }: Composition): NonNullable<HttpServerOptions["parametersOf"]> {
  const searched = new WeakMap<JsonObject, readonly HeaderParameter[]>();
  return (facts, tool) => {
    const listed = gateway.listedTool(facts, tool);
    if (listed === undefined) return undefined;
    const known = searched.get(listed);
    if (known !== undefined) return known;
    // A broken definition has no headers: the call goes on without, as to a tool that wants none.
    const found = headerParameters(member(listed, "inputSchema")) ?? [];
    searched.set(listed, found);
    return found;
  };
}

/** Header that carries the control token; a bearer token would be taken for a run's. */
export const controlHeader = "sluicegate-control";

export type ControlToken = { readonly token: string; readonly file: string };

/** A new token for each start, in a file of the state folder that only this user can read. */
export function makeControlToken(home: string): ControlToken {
  const file = join(home, "control.token");
  const token = randomBytes(24).toString("hex");
  rmSync(file, { force: true });
  writeFileSync(file, `${token}\n`, { mode: 0o600, flag: "wx" });
  return { token, file };
}

function sameToken(given: string, token: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(token)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function routes(composition: Composition, url: () => string, control: ControlToken): readonly Route[] {
  const text = (status: number, body: string): RouteReply => ({
    status,
    body,
    headers: { "content-type": "text/plain" },
  });
  return [
    { method: "GET", path: "/healthz", open: true, handle: () => text(200, "ok\n") },
    {
      method: "GET",
      path: "/readyz",
      open: true,
      handle: () => {
        const health = composition.log.health();
        return health.kind === "ok" ? text(200, "ready\n") : text(503, `${health.failure.sentence}\n`);
      },
    },
    {
      method: "POST",
      path: "/runs",
      open: false,
      handle: async ({ body, identity, facts }) => {
        // A clean run forgets labels, so starting one takes more than reaching a port that every local user reaches.
        const given = facts.headers[controlHeader];
        if (given === undefined || !sameToken(given, control.token)) {
          const sentence = `Send the token in ${control.file} as the header ${controlHeader}: it is made when the gateway starts.`;
          return {
            status: 403,
            body: JSON.stringify({ error: sentence }),
            headers: { "content-type": "application/json" },
          };
        }
        const made = await newRun(composition, body, identity?.principal ?? localPrincipal, url());
        const status = made.ok ? 201 : 400;
        const json: Json = made.ok ? made.value : { error: made.error };
        return { status, body: JSON.stringify(json), headers: { "content-type": "application/json" } };
      },
    },
  ];
}

/** `POST /runs`: a trusted act that starts a clean run, with the instruction that provenance may draw on. */
async function newRun(
  { gateway }: Composition,
  body: Uint8Array,
  principal: string,
  url: string,
): Promise<Result<Json, string>> {
  if (body.length > runRequestBytesMax)
    return err(`The request is larger than ${runRequestBytesMax} bytes: shorten it.`);
  let request: Json = {};
  try {
    if (body.length > 0) request = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as Json; // JSON.parse yields JSON
  } catch {
    return err('The request is no JSON: send {"instruction": "..."} or nothing.');
  }
  const instruction = member(request, "instruction");
  if (instruction !== undefined && typeof instruction !== "string") return err("`instruction` must be a text.");
  const parent = stringMember(request, "parent");
  const made = await gateway.beginRun({
    principal,
    urlBase: url,
    ...(parent === undefined ? {} : { parent }),
    ...(instruction === undefined ? {} : { instruction }),
  });
  return made.ok ? ok({ ...made.value }) : made;
}
