/**
 * The connections of a server, whichever way it took: straight to an address, through the HTTP proxy (RFC 9110 section
 * 9.3.6) or through SOCKS5. All three become the same kind of arrival, so that one decision applies to all.
 */
import { createServer, type Server, type Socket } from "node:net";
import { type Authority, headBytesMax, parseAuthority, parseRequestHead, type RequestHead } from "./http-head.ts";
import { readFirst } from "./first-flight.ts";
import { dnsPort, type Listeners, proxyPort, socksPort } from "./listeners.ts";
import { brokerAddress } from "./name-files.ts";
import {
  greetingBytesMax,
  methodAccepted,
  methodRefused,
  parseGreeting,
  parseRequest,
  replies,
  requestBytesMax,
  socksReply,
  type SocksRequest,
} from "./socks.ts";

export type Arrival = {
  readonly client: Socket;
  /** As the server asked for it: an address where it connected by itself, a name or address through a proxy. */
  readonly host: string;
  readonly port: number;
  /** Bytes of the client after its request to a proxy. */
  readonly early: Buffer;
  /** Tells the client of a proxy that it may send; other clients are connected by the kernel already. */
  readonly accept: () => void;
  /** Tells the client that the destination is denied or unreachable, and ends the connection. */
  readonly refuse: (why: "denied" | "unreachable") => void;
};

export type ArrivalHandler = {
  /** Asked first for each connection; false resets it. */
  readonly admits: () => boolean;
  readonly arrived: (arrival: Arrival) => void;
  /** A connection to port 53. */
  readonly dnsStream: (client: Socket) => void;
  /** A connection ended before anything was asked for: too many at a time, or no request that a proxy understands. */
  readonly turnedAway: (port: number, rule: TurnedAway) => void;
  /** Listening has failed: no further connection will arrive. */
  readonly failed: (reason: string) => void;
};

export type TurnedAway = "egress-connections-max" | "egress-proxy-silent" | "egress-proxy-request";

/** Connections of one server at a time; those beyond are reset. */
export const connectionsMax = 256;
/** How long the client of a proxy may take to read the reason for a refusal. */
const lastWordWaitMsMax = 1_000;

/** Takes over the listening sockets. The function that is given back closes them and every connection. */
export function receiveArrivals(listeners: Listeners, handler: ArrivalHandler): () => void {
  const open = new Set<Socket>();
  const servers: Server[] = [];
  for (const [port, listening] of listeners.tcp) {
    // Taken over rather than used, because half-closed connections and pausing are decided at accept.
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
      client.on("error", () => client.destroy());
      if (!handler.admits()) return void client.resetAndDestroy();
      if (open.size >= connectionsMax) {
        client.resetAndDestroy();
        return handler.turnedAway(port, "egress-connections-max");
      }
      open.add(client);
      client.once("close", () => open.delete(client));
      dispatch(client, port, handler).catch(() => handler.failed("a connection could not be read"));
    });
    server.on("error", () => handler.failed(`listening on port ${port} failed`));
    servers.push(server.listen(listening));
  }
  return () => {
    for (const server of servers) server.close();
    for (const client of open) client.resetAndDestroy();
  };
}

async function dispatch(client: Socket, port: number, handler: ArrivalHandler): Promise<void> {
  const host = client.localAddress;
  if (host === undefined) return void client.destroy();
  if (port === dnsPort) return handler.dnsStream(client);
  // At other addresses these ports belong to the destination that the server asked for.
  const ours = host === brokerAddress;
  if (ours && port === proxyPort) return arriveByProxy(client, handler);
  if (ours && port === socksPort) return arriveBySocks(client, handler);
  const refuse = (): void => void client.resetAndDestroy();
  handler.arrived({ client, host, port, early: Buffer.alloc(0), accept: () => {}, refuse });
}

const connected = "HTTP/1.1 200 Connection established\r\n\r\n";
const refusals = {
  denied: "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
  unreachable: "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
} as const;

async function arriveByProxy(client: Socket, handler: ArrivalHandler): Promise<void> {
  const settle = (bytes: Buffer): RequestHead | "malformed" | undefined => {
    const parsed = parseRequestHead(bytes);
    return parsed.kind === "more" ? undefined : parsed.kind === "head" ? parsed.head : "malformed";
  };
  const read = await readFirst(client, settle, { bytesMax: headBytesMax, already: Buffer.alloc(0) });
  if (read.kind !== "settled") return silent(client, proxyPort, handler);
  const target = read.value === "malformed" ? undefined : connectTarget(read.value);
  if (read.value === "malformed" || target?.port === undefined) {
    finish(client, Buffer.from(refusals.denied));
    return handler.turnedAway(proxyPort, "egress-proxy-request");
  }
  const { host, port } = target;
  handler.arrived({
    client,
    host,
    port,
    early: read.bytes.subarray(read.value.bytes),
    accept: () => void client.write(connected),
    refuse: (why) => finish(client, Buffer.from(refusals[why])),
  });
}

function connectTarget(head: RequestHead): Authority | undefined {
  return head.method === "CONNECT" ? parseAuthority(head.target) : undefined;
}

type Connect = Extract<SocksRequest, { kind: "connect" }>;

async function arriveBySocks(client: Socket, handler: ArrivalHandler): Promise<void> {
  const greeting = await readFirst(
    client,
    (bytes) => {
      const parsed = parseGreeting(bytes);
      return parsed.kind === "more" ? undefined : parsed;
    },
    { bytesMax: greetingBytesMax + requestBytesMax, already: Buffer.alloc(0) },
  );
  if (greeting.kind !== "settled") return silent(client, socksPort, handler);
  if (greeting.value.kind === "malformed" || !greeting.value.usable) {
    finish(client, methodRefused);
    return handler.turnedAway(socksPort, "egress-proxy-request");
  }
  client.write(methodAccepted);
  const request = await readFirst(client, settleRequest, {
    bytesMax: requestBytesMax,
    already: greeting.bytes.subarray(greeting.value.bytes),
  });
  if (request.kind !== "settled") return silent(client, socksPort, handler);
  if (request.value === "unusable") {
    finish(client, socksReply(replies.unsupported));
    return handler.turnedAway(socksPort, "egress-proxy-request");
  }
  const { host, port, bytes } = request.value;
  handler.arrived({
    client,
    host,
    port,
    early: request.bytes.subarray(bytes),
    accept: () => void client.write(socksReply(replies.done)),
    refuse: (why) => finish(client, socksReply(why === "denied" ? replies.notAllowed : replies.unreachable)),
  });
}

function settleRequest(bytes: Buffer): Connect | "unusable" | undefined {
  const parsed = parseRequest(bytes);
  return parsed.kind === "more" ? undefined : parsed.kind === "connect" ? parsed : "unusable";
}

function silent(client: Socket, port: number, handler: ArrivalHandler): void {
  client.resetAndDestroy();
  handler.turnedAway(port, "egress-proxy-silent");
}

/** Sends a last message and ends both directions, whether or not the client goes on sending. */
function finish(client: Socket, last: Uint8Array): void {
  client.end(last);
  // Later bytes of the client are discarded: closing over unread bytes would reset the connection and lose the last
  // message.
  client.on("data", () => {});
  client.resume();
  setTimeout(() => client.destroy(), lastWordWaitMsMax).unref();
}
