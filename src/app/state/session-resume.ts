/**
 * A client session that outlives the daemon (gateway.md 6): the handshake of the client is kept in the store, and a
 * session that continues another one replays it to the new server before anything of the client is served. The client
 * shook hands once and will not do it again.
 */
import type { JsonObject } from "../../core/json.ts";
import type { Accept, ClientConnection, ClientHandler, Exchange } from "../../gateway/ports/transport.ts";
import { forwardingClient } from "../../gateway/ports/forwarding.ts";
import type { Store } from "../../gateway/ports/store.ts";
import type { RequestMessage } from "../../wire/message.ts";

/** Messages kept while the handshake is replayed; a client that sends more meanwhile is cut off. */
export const resumeQueueMax = 1_024;

export type SessionIdentity = {
  readonly session: string;
  readonly resume: string | undefined;
  readonly principal: string;
  readonly run: string;
  readonly server: string;
  readonly targetDigest: string;
  readonly wallMs: () => number;
};

/** Wraps the entry point of a gateway for one session. `handshake`: the session's parameters of `initialize`. */
export function resumable(
  accept: Accept,
  store: Store,
  identity: SessionIdentity,
  handshake: JsonObject | undefined,
): Accept {
  return (connection) => {
    const handler = accept(connection);
    const keeping = forwardingClient(handler, {
      request: (exchange) => {
        if (exchange.request.method === "initialize") void keep(store, identity, exchange.request.params ?? {});
        handler.request(exchange);
      },
    });
    return handshake === undefined ? keeping : replaying(keeping, connection, handshake);
  };
}

async function keep(store: Store, identity: SessionIdentity, initialize: JsonObject): Promise<void> {
  const { session, principal, run, server, targetDigest, wallMs } = identity;
  await store.putSession({ id: session, principal, run, server, targetDigest, initialize, touchedWallMs: wallMs() });
}

/** Serves nothing of the client until the server has shaken hands again. */
function replaying(handler: ClientHandler, connection: ClientConnection, handshake: JsonObject): ClientHandler {
  let waiting: (() => void)[] | undefined = [];
  const later = (serve: () => void): void => {
    if (waiting === undefined) serve();
    else if (waiting.length < resumeQueueMax) waiting.push(serve);
    else connection.close("The client sent too much while its server was started again.");
  };
  // No reserved id, which clients may not use: to the gateway this is a request of the client like any other.
  const request: RequestMessage = { kind: "request", id: "resumed-handshake", method: "initialize", params: handshake };
  const exchange: Exchange = {
    request,
    send: (message) => connection.send(message),
    // The answer is the gateway's own: the client had its answer from the server before.
    respond: (answer) => {
      // A server that failed to start gets no `initialized` notice; each request then reports that it is gone.
      if (answer.kind === "response") {
        handler.message({ kind: "notification", method: "notifications/initialized", params: undefined });
      }
      const queue = waiting ?? [];
      waiting = undefined;
      for (const serve of queue) serve();
    },
    onAbandoned: () => undefined,
  };
  queueMicrotask(() => handler.request(exchange));
  return forwardingClient(handler, {
    request: (one) => later(() => handler.request(one)),
    message: (one) => later(() => handler.message(one)),
  });
}
