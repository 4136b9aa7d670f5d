import type { Result } from "../../core/result.ts";
import type { Accept, ConnectionFacts, PassedCredentials } from "../../gateway/ports/transport.ts";
import type { HeaderParameter } from "../../wire/headers.ts";
import type { WireLimits } from "../../wire/limits.ts";
import type { Clock } from "../clock.ts";
import type { TransportLimits } from "../net/net-limits.ts";
import type { HttpLimits } from "./http-limits.ts";
import type { UpstreamRefusal } from "./upstream-refusals.ts";

/** Facts about a request before its body is read. Header values may be secrets and must not be logged. */
export type RequestFacts = {
  readonly method: string;
  readonly path: string;
  /** Upstream that the URL names; undefined for the merged endpoint and for other routes. */
  readonly server: string | undefined;
  /** Token of a per-run URL. */
  readonly runToken: string | undefined;
  readonly bearerToken: string | undefined;
  readonly remoteAddress: string;
  readonly headers: Readonly<Record<string, string>>;
};

export type Identity = {
  readonly principal: string;
  readonly runToken?: string;
  /** Credentials that are passed on to the upstream server. A request with other credentials is another client. */
  readonly credentials?: PassedCredentials;
};

/** Refusal of a request: 401 or 403, a sentence, and a challenge for `WWW-Authenticate` where one helps. */
export type AuthenticationRefusal = { readonly status: 401 | 403; readonly text: string; readonly challenge?: string };

export type Authenticate = (
  facts: RequestFacts,
) => Result<Identity, AuthenticationRefusal> | Promise<Result<Identity, AuthenticationRefusal>>;

export type RouteRequest = {
  readonly facts: RequestFacts;
  /** The part after `?`, undecoded. */
  readonly query: string;
  /** Undefined for routes with `open: true`. */
  readonly identity: Identity | undefined;
  readonly body: Uint8Array;
};

export type RouteReply = {
  readonly status: number;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A route beside the MCP endpoints, such as `/healthz` or `POST /runs`. */
export type Route = {
  readonly method: string;
  /** An exact path, or a prefix that ends in `/`. */
  readonly path: string;
  /** True if the route needs no identity. */
  readonly open: boolean;
  readonly handle: (request: RouteRequest) => RouteReply | Promise<RouteReply>;
};

/** Bounds the memory of local servers, which each session starts for itself. */
export type SessionMemory = {
  /** Whether another server may start. */
  readonly hasRoom: () => boolean;
  /** Whether sessions of an endpoint start local servers. */
  readonly concerns: (server: string | undefined) => boolean;
};

export type HttpServerOptions = {
  readonly accept: Accept;
  readonly authenticate: Authenticate;
  /** True if an endpoint exists: `server` names an upstream, or is undefined for the merged endpoint. */
  readonly serves: (server: string | undefined) => boolean;
  readonly routes?: readonly Route[];
  /** Host names and page origins accepted beside loopback (http-guard.ts). */
  readonly hosts?: readonly string[];
  readonly origins?: readonly string[];
  /**
   * Finds the refusal of the upstream server that an error text refers to, for a client that sent its own credentials.
   */
  readonly refusalOf?: (text: string) => UpstreamRefusal | undefined;
  /** Header parameters of a tool as this client sees it; undefined if the tool is unknown. */
  readonly parametersOf?: (facts: ConnectionFacts, tool: string) => readonly HeaderParameter[] | undefined;
  /** Room for the servers that a session starts. */
  readonly memory?: SessionMemory;
  readonly wire?: WireLimits;
  readonly limits?: Partial<HttpLimits & TransportLimits>;
  readonly clock?: Clock;
};

export interface HttpServer {
  /** Starts to listen; the error is a sentence for the user. Port 0 takes any free one. */
  listen(host: string, port: number): Promise<Result<{ readonly port: number }, string>>;
  /** Takes no new requests, ends sessions and streams, waits `closeWaitMsMax` for answers and cuts the rest. */
  close(): Promise<void>;
}
