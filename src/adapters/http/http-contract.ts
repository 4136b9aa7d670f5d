import type { Result } from "../../core/result.ts";
import type { Accept, ConnectionFacts, PassedCredentials } from "../../gateway/ports.ts";
import type { HeaderParameter } from "../../wire/headers.ts";
import type { WireLimits } from "../../wire/limits.ts";
import type { Clock } from "../clock.ts";
import type { TransportLimits } from "../limits.ts";
import type { HttpLimits } from "./limits.ts";
import type { UpstreamRefusal } from "./upstream-refusals.ts";

/** What is known of a request before its body is read. Header values are secrets: not for logs. */
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
  /** Credentials that go on to the server behind. Whoever brings others is somebody else. */
  readonly credentials?: PassedCredentials;
};

/** Why a request may not go on: 401 or 403, a sentence, and a challenge for `WWW-Authenticate` where one helps. */
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

/** Anything beside the MCP endpoints, such as `/healthz` or `POST /runs`. */
export type Route = {
  readonly method: string;
  /** An exact path, or a prefix that ends in `/`. */
  readonly path: string;
  /** True for what may be asked without identity. */
  readonly open: boolean;
  readonly handle: (request: RouteRequest) => RouteReply | Promise<RouteReply>;
};

export type HttpServerOptions = {
  readonly accept: Accept;
  readonly authenticate: Authenticate;
  /** Whether an endpoint exists: the name of an upstream, or undefined for the merged one. */
  readonly serves: (server: string | undefined) => boolean;
  readonly routes?: readonly Route[];
  /** Host names and page origins that are ours beside loopback (http-guard.ts). */
  readonly hosts?: readonly string[];
  readonly origins?: readonly string[];
  /** The refusal by the server behind that an error tells of, for a client that brought the credentials for it. */
  readonly refusalOf?: (text: string) => UpstreamRefusal | undefined;
  /** Header parameters of a tool as this client sees it; undefined if the tool is unknown. */
  readonly parametersOf?: (facts: ConnectionFacts, tool: string) => readonly HeaderParameter[] | undefined;
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
