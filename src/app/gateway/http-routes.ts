/** Routes of the gateway over HTTP beside MCP: its health, trusted acts on runs, and where clients sign in. */
import type { Route, RouteReply, RouteRequest } from "../../adapters/http/http-contract.ts";
import { fetchMetadata, metadataPath, metadataPathAt } from "../../adapters/http/resource-metadata.ts";
import type { Json } from "../../core/json.ts";
import { cardRoutes } from "./card-routes.ts";
import type { Composition } from "./composition.ts";
import type { GatewayConfig } from "./config.ts";
import { closeRun } from "./control.ts";
import { type ControlToken, controlHeader, sameToken } from "./control-token.ts";
import { localPrincipal } from "./http-identity.ts";
import { shown } from "../state/sentences.ts";
import { type RunFault, readRunRequest } from "./run-request.ts";

export type RouteSetup = {
  readonly composition: Composition;
  readonly config: GatewayConfig;
  /** Where clients reach the gateway. */
  readonly url: () => string;
  readonly control: ControlToken;
};

export function gatewayRoutes(setup: RouteSetup): readonly Route[] {
  const cards = cardRoutes(setup.composition, guardedBy(setup.control));
  return [...healthRoutes(setup), ...runRoutes(setup), ...cards, ...metadataRoutes(setup)];
}

function healthRoutes({ composition }: RouteSetup): readonly Route[] {
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
  ];
}

/**
 * A clean run forgets labels, and the end of one forgets what is owed: both take more than reaching a port that every
 * local user reaches.
 */
function runRoutes({ composition, url, control }: RouteSetup): readonly Route[] {
  const guarded = guardedBy(control);
  return [
    {
      method: "POST",
      path: "/runs",
      open: false,
      handle: guarded(async ({ body, identity }) => {
        const read = readRunRequest(body);
        if (!read.ok) return failed(400, read.error);
        const principal = read.value.principal ?? identity?.principal ?? localPrincipal;
        const made = await composition.gateway.beginRun({ ...read.value, principal, urlBase: url() });
        if (!made.ok) return failed(400, { code: "SG-RUNS-REFUSED", place: "body", sentence: made.error });
        return json(201, { ...made.value });
      }),
    },
    {
      method: "DELETE",
      path: "/runs/",
      open: false,
      handle: guarded(async ({ facts }) => {
        const run = decoded(facts.path.slice("/runs/".length));
        const closed = run === undefined ? undefined : await closeRun(composition, run);
        if (closed?.ok === true) return json(200, closed.value);
        const sentence = `No run \`${shown(run ?? "", 60)}\` is open: \`sluicegate runs\` lists them.`;
        return failed(404, { code: "SG-RUNS-UNKNOWN", place: "path", sentence });
      }),
    },
  ];
}

/** Lets those in who can read the file of the token: users of this gateway's account. */
function guardedBy(control: ControlToken) {
  return (handle: (asked: RouteRequest) => Promise<RouteReply>) =>
    (asked: RouteRequest): RouteReply | Promise<RouteReply> => {
      const given = asked.facts.headers[controlHeader];
      if (given !== undefined && sameToken(given, control.token)) return handle(asked);
      const sentence = `Send the token in ${control.file} as the header ${controlHeader}: it is made when the gateway starts.`;
      return failed(403, { code: "SG-RUNS-CONTROL", place: controlHeader, sentence });
    };
}

/** Only in front of a server whose users sign in with it: a client rejects metadata of another origin. */
function metadataRoutes({ config }: RouteSetup): readonly Route[] {
  const server = [...config.servers.values()].find(({ auth }) => auth === "same-origin")?.target;
  if (server?.kind !== "http") return [];
  const serves = (name: string | undefined): boolean => name === undefined || config.servers.has(name);
  const handle = async ({ facts }: RouteRequest): Promise<RouteReply> => {
    const path = metadataPathAt(facts.path, new URL(server.url), serves);
    return path === undefined ? text(404, "There is nothing at this address.\n") : fetchMetadata(server, path);
  };
  return [metadataPath, `${metadataPath}/`].map((path) => ({ method: "GET", path, open: true, handle }));
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

function failed(status: number, { code, place, sentence }: RunFault): RouteReply {
  return json(status, { error: sentence, code, place });
}

function json(status: number, body: Json): RouteReply {
  return { status, body: JSON.stringify(body), headers: { "content-type": "application/json" } };
}

function text(status: number, body: string): RouteReply {
  return { status, body, headers: { "content-type": "text/plain" } };
}
