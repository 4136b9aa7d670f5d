import type { IsolationOrder } from "../../core/isolation/scope.ts";
import type {
  ErrorMessage,
  Message,
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResponseMessage,
  Revision,
} from "../../wire/message.ts";
import type { Projection } from "./projection.ts";

// ---------------------------------------------------------------------------------------------------------------
// Transport, client side: how a client reaches the gateway.

/** A process, told apart from a later one with the same pid; `startedAt` is empty where the system does not say. */
export type ClientProcess = { readonly pid: number; readonly startedAt: string };

/** Facts of a client connection before its first message. The model chose none of them. */
export type ConnectionFacts = {
  readonly transport: "stdio" | "http";
  /** Name of the upstream this endpoint serves, or undefined for the merged endpoint. */
  readonly server: string | undefined;
  /** Authenticated user or service; on this machine `os:UID`. */
  readonly principal: string;
  /** Client process behind a stdio shim: pid and start time. */
  readonly process?: ClientProcess;
  /** Ancestors of the client process, nearest first. */
  readonly above?: readonly ClientProcess[];
  /** Run token from a run URL or a bearer token, not yet checked. */
  readonly runToken?: string;
  /** Legacy session id that this transport minted. */
  readonly sessionId?: string;
  /** Revision announced outside the messages (`MCP-Protocol-Version` header), if any. */
  readonly announcedRevision?: string;
  /** Set where the client's own credentials go on to the server behind (`same-origin`). */
  readonly credentials?: PassedCredentials;
  readonly workingDirectory?: string;
};

/** The credentials of a client for the server behind: never logged, never kept. */
export type PassedCredentials = {
  /** Keyed digest of the headers, which distinguishes two users; empty for a client that sent none. */
  readonly digest: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** One request of a client, with the way back to it. */
export interface Exchange {
  readonly request: RequestMessage;
  /** Sends a notification or a server request that belongs to this exchange (same SSE stream over HTTP). */
  send(message: RequestMessage | NotificationMessage): void;
  /** Answers, once; a second answer is ignored. */
  respond(message: ResponseMessage | ErrorMessage): void;
  /** Calls back once if the client gives up before the answer (connection closed). */
  onAbandoned(listener: () => void): void;
}

/** A conversation with one client. In the modern era over HTTP it lives for a single POST. */
export interface ClientConnection {
  readonly facts: ConnectionFacts;
  /** Sends something that belongs to no exchange (stdio: the stream; legacy HTTP: the GET stream, with resumption). */
  send(message: RequestMessage | NotificationMessage): void;
  /** Resolves when buffered output fell below the cap; undefined when it is below now. */
  drained(): Promise<void> | undefined;
  close(reason: string): void;
}

/** The handler of a client's messages; made by `Accept` for each new connection. */
export interface ClientHandler {
  request(exchange: Exchange): void;
  message(message: NotificationMessage | ResponseMessage | ErrorMessage): void;
  /** `over`: not only the connection has ended but the session that its facts name, so nothing of it can come again. */
  closed(reason: string, over?: boolean): void;
}

export type Accept = (connection: ClientConnection) => ClientHandler;

// ---------------------------------------------------------------------------------------------------------------
// Transport, server side: how the gateway reaches a server.

/** Receives what a server sends. `relatedTo` names our request whose stream carried the message, where known. */
export interface UpstreamHandler {
  message(message: Message, relatedTo?: RequestId): void;
  /**
   * This request will get no answer although the connection goes on (its stream was cut, HTTP only): its outcome is
   * unknown. Without this method the loss arrives as an error message.
   */
  lost?: ((id: RequestId, reason: string) => void) | undefined;
  /** Key of the run for which a request is being sent; undefined for what serves no run alone, such as a list. */
  runOf?: ((id: RequestId) => string | undefined) | undefined;
  /** A question that may come from a call of any of these runs (their keys) was put to none of them. */
  unplaced?: ((question: RequestMessage, runs: readonly string[]) => void) | undefined;
  /** The connection ended; requests without an answer have an unknown outcome. */
  closed(reason: string): void;
}

export interface UpstreamConnection {
  /** Sends any message; the answer to a request comes through `UpstreamHandler.message`. */
  send(message: Message): void;
  /** Gives up one request: closes its stream over HTTP (stdio needs a `notifications/cancelled` message as well). */
  abandon(id: RequestId): void;
  /** Tells the transport the negotiated revision, so that it sets headers and opens streams accordingly. */
  negotiated(revision: Revision): void;
  /** Resolves when buffered output fell below the cap; undefined when it is below now. */
  drained(): Promise<void> | undefined;
  /** Stops and resumes reading from the server: back-pressure when the client is slow. */
  pause(): void;
  resume(): void;
  /** Process group of a local server, so that a shim can end it if the gateway cannot. Known once it was started. */
  readonly processGroup?: number | undefined;
  /**
   * The projection that isolates the server; there from the beginning whenever `connect` was given an order. While the
   * server is still being started its `begin` waits for that, so no call can slip past it; `tier` and `notes` then give
   * the facts known so far.
   */
  readonly projection?: Projection | undefined;
  /** Ends the connection; a local server's whole process group ends with it. */
  close(): Promise<void>;
}

/** How to reach one server: a command of this machine or a URL. */
export type ServerTarget =
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly workingDirectory: string;
      /** The folder that its clients work in, where that is not the working directory. An isolated server sees this one. */
      readonly workspace?: string;
      readonly umask?: number;
      /** Names of the variables that the configuration of its client or gateway gives to this server alone. */
      readonly named?: readonly string[];
    }
  | {
      readonly kind: "http";
      readonly url: string;
      /** `auto` tries Streamable HTTP first, then legacy HTTP+SSE. */
      readonly flavour: "auto" | "streamable" | "sse";
      readonly headers: Readonly<Record<string, string>>;
      /** Digest of the client's credentials among the headers (`PassedCredentials`); only where some are passed on. */
      readonly credentials?: string;
    };

/** Opens a connection; start-up failure arrives as `handler.closed`. */
export interface Connector {
  /** With an order a local server runs as it says, or not at all; without one it runs bare. */
  connect(target: ServerTarget, handler: UpstreamHandler, order?: IsolationOrder): UpstreamConnection;
}
