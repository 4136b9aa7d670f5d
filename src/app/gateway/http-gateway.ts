/** A gateway from a configuration file: several servers, over Streamable HTTP or over this process's own stdio. */
import { isIPv4, isIPv6 } from "node:net";
import { stdioClient } from "../../adapters/stdio/stdio-client.ts";
import { stateHome } from "../../adapters/daemon/paths.ts";
import { systemConnector } from "../../adapters/connector.ts";
import type { HttpServerOptions } from "../../adapters/http/http-contract.ts";
import { UpstreamRefusals } from "../../adapters/http/upstream-refusals.ts";
import { type JsonObject, member } from "../../core/json.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { ClientConnection, ConnectionFacts, ServerTarget } from "../../gateway/ports/transport.ts";
import { prepareLaunch } from "../../adapters/process/launch.ts";
import { serverLine } from "./server-lines.ts";
import { ServerMemory, defaultServerMemoryBytes } from "../../adapters/process/server-memory.ts";
import { systemClock } from "../../adapters/clock.ts";
import { workFolder } from "./work-folder.ts";
import { type HeaderParameter, headerParameters } from "../../wire/headers.ts";
import { missedFile } from "../needs/missed-file.ts";
import { type Composition, compose } from "./composition.ts";
import type { GatewayConfig, ServerConfig } from "./config.ts";
import type { ControlToken } from "./control-token.ts";
import { authenticator, localPrincipal } from "./http-identity.ts";
import { gatewayRoutes } from "./http-routes.ts";
import { shown } from "../state/sentences.ts";
import type { MoreMechanisms } from "../policy/policy-files.ts";

/** Refusals by the servers behind of credentials that clients brought come back to these clients. */
export type HttpComposition = Composition & { readonly refusals: UpstreamRefusals; readonly memory: ServerMemory };

export type Listening = { readonly url: string; readonly close: () => Promise<void> };

/** Opens the gateway of a configuration without any client yet. */
export async function openGateway(
  config: GatewayConfig,
  home: string,
  tell: (text: string) => void,
  more?: MoreMechanisms,
): Promise<Result<HttpComposition, string>> {
  const refusals = new UpstreamRefusals();
  const bytesMax = config.memoryMb === undefined ? defaultServerMemoryBytes() : config.memoryMb * 1024 * 1024;
  const memory = new ServerMemory({ bytesMax, nowMs: systemClock.monotonicMs });
  const composed = await compose({
    home,
    ...(more === undefined ? {} : { more }),
    policies: config.policies,
    configuration: [config.file],
    connector: systemConnector({
      home,
      packages: stateHome(process.env),
      memory,
      refusals,
      notice: tell,
      missedFile,
      diagnostic: (target, line) => tell(serverLine(nameOf(config, target), line)),
    }),
    servers: [...config.servers].map(([name, server]) => ({ name, target: (facts) => targetFor(server, facts) })),
    tagOf: () => undefined,
    tag: config.tag,
    tell,
  });
  return composed.ok ? ok({ ...composed.value, refusals, memory }) : composed;
}

/** Local servers that cannot start as they are configured, each with a sentence; nothing is started to find out. */
export function unstartable(config: GatewayConfig): readonly { readonly server: string; readonly why: string }[] {
  return [...config.servers].flatMap(([server, { target }]) => {
    const launch = target.kind === "stdio" ? prepareLaunch(target) : undefined;
    return launch?.ok === false ? [{ server, why: launch.error }] : [];
  });
}

/** The name under which the configuration has a server. */
function nameOf({ servers }: GatewayConfig, target: ServerTarget): string {
  const isThis = ({ target: own }: ServerConfig): boolean =>
    own === target || (own.kind === "http" && target.kind === "http" && own.url === target.url);
  return [...servers].find(([, server]) => isThis(server))?.[0] ?? "server";
}

/** In `same-origin` the client's own credentials are for the server behind; in `static` only configured ones are sent. */
function targetFor({ target }: ServerConfig, { credentials }: ConnectionFacts): ServerTarget {
  if (target.kind !== "http" || credentials === undefined) return target;
  return { ...target, headers: { ...target.headers, ...credentials.headers }, credentials: credentials.digest };
}

/** Listens for clients; the error is a sentence for the user. */
export async function listen(
  composition: HttpComposition,
  config: GatewayConfig,
  place: { readonly host: string; readonly port: number; readonly control: ControlToken },
): Promise<Result<Listening, string>> {
  if (!isLoopback(place.host)) {
    return err(
      `Listening on ${shown(place.host, 60)} would let everybody on the network act as you, since the gateway has no sign-in. Use 127.0.0.1, behind a proxy that signs users in if others must reach it.`,
    );
  }
  const { httpServer } = await import("../../adapters/http/http-server.ts");
  const { gateway, log } = composition;
  const address = { url: "" };
  const server = httpServer({
    accept: (connection) => gateway.accept(inWorkspace(connection, config.workspace)),
    serves: (name) => name === undefined || config.servers.has(name),
    memory: {
      hasRoom: () => composition.memory.hasRoom(),
      concerns: (name) => startsLocally(config, name),
    },
    hosts: [...config.hosts],
    origins: [...config.origins],
    parametersOf: parametersOf(composition),
    routes: gatewayRoutes({ composition, config, url: () => address.url, control: place.control }),
    refusalOf: (text) => composition.refusals.of(text),
    authenticate: authenticator({
      passesCredentials: [...config.servers.values()].some(({ auth }) => auth === "same-origin"),
      controlToken: place.control.token,
      mac: gateway.state.services.secrets.mac,
      ownerOf: async (run) => {
        const known = gateway.runs.find(run) ?? gateway.runs.dormant.find(run);
        if (known !== undefined) return ok(known.principal);
        const row = await log.store.run(run);
        return row.ok ? ok(row.value?.principal) : err(row.error.sentence);
      },
    }),
  });
  const listening = await server.listen(place.host, place.port);
  if (!listening.ok) return listening;
  address.url = `http://${place.host.includes(":") ? `[${place.host}]` : place.host}:${listening.value.port}`;
  return ok({ url: address.url, close: () => server.close() });
}

/** Whether sessions of an endpoint start programs of this machine; that of all servers does if one of them is. */
function startsLocally({ servers }: GatewayConfig, name: string | undefined): boolean {
  const behind = name === undefined ? [...servers.values()] : [servers.get(name)];
  return behind.some((server) => server?.target.kind === "stdio");
}

/** True for an address that only this machine reaches. A name could resolve to anything, so only one is known. */
export function isLoopback(host: string): boolean {
  if (host === "localhost") return true;
  return isIPv4(host) ? host.startsWith("127.") : isIPv6(host) && new URL(`http://[${host}]/`).hostname === "[::1]";
}

/** An HTTP client sends no working directory; the operator's configuration says where its work is. */
function inWorkspace(connection: ClientConnection, workingDirectory: string): ClientConnection {
  return {
    facts: { ...connection.facts, ...workFolder(workingDirectory) },
    send: (message) => connection.send(message),
    drained: () => connection.drained(),
    close: (reason) => connection.close(reason),
  };
}

/** Serves one client on this process's own standard input and output, in the workspace of the configuration. */
export function serveStdio(composition: Composition, { workspace }: GatewayConfig): Promise<void> {
  const facts: ConnectionFacts = {
    transport: "stdio",
    server: undefined,
    principal: localPrincipal,
    process: { pid: process.ppid, startedAt: "" },
    ...workFolder(workspace),
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
