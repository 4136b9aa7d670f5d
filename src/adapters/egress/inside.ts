/**
 * Runs in the launcher, inside of a server's fresh network namespace: makes every IPv4 address end here, opens the
 * sockets on which the gateway will answer, and hands them over. After that no process of the gateway is left inside
 * that a server could attack, stop or impersonate.
 *
 * There is no route for IPv6, and the broker's answers hold no IPv6 address: such a connection fails at once.
 */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";
import { err, ok, type Result } from "../../core/result.ts";
import { dnsPort, type ListenerHandle, type ListenerMessage, listenedPortsMax, serviceListeners } from "./listeners.ts";
import { captureAllAddresses } from "./namespace.ts";

const everyAddress = "0.0.0.0";
/** Connections that the kernel keeps until the gateway accepts them. */
const backlogMax = 128;

export type InsideOptions = {
  /** Ports that get a listener beside those for names and proxies (`portsOf`). */
  readonly tcpPorts: readonly number[];
  /** `process.send` with the handle; `done` is called when it is on its way. */
  readonly send: (message: ListenerMessage, handle: ListenerHandle, done: (error: Error | null) => void) => void;
};

/**
 * Resolves when the gateway has been sent every socket; then this process holds none of them any more. Needs a user
 * namespace that owns the network namespace, mapped to root. An error is a sentence; the server then has no network.
 */
export async function openListeners({ tcpPorts, send }: InsideOptions): Promise<Result<void, string>> {
  const captured = await captureAllAddresses();
  if (!captured.ok) return captured;
  const ports = [...new Set([...serviceListeners, ...tcpPorts])];
  if (ports.length > listenedPortsMax + serviceListeners.length) {
    return err(`The scope names more than ${listenedPortsMax} ports. Name fewer destinations.`);
  }
  try {
    await handOverDatagrams(send);
    // One after the other: a handle that is still queued when its socket closes would arrive without it.
    for (const port of ports) await handOverServer(port, send);
    return ok(undefined);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "unknown error";
    return err(`The sockets for the server's network could not be opened: ${reason.slice(0, 120)}.`);
  }
}

async function handOverDatagrams(send: InsideOptions["send"]): Promise<void> {
  const socket = createSocket("udp4");
  socket.bind({ address: everyAddress, port: dnsPort, exclusive: true });
  await once(socket, "listening");
  await sent(send, { kind: "egress-listener", transport: "udp", port: dnsPort }, socket);
  socket.close();
}

async function handOverServer(port: number, send: InsideOptions["send"]): Promise<void> {
  const server = createServer();
  server.listen({ host: everyAddress, port, exclusive: true, backlog: backlogMax });
  await once(server, "listening");
  await sent(send, { kind: "egress-listener", transport: "tcp", port }, server);
  // From here on only the gateway accepts. No connection can exist yet: the server does not run.
  server.close();
}

function sent(send: InsideOptions["send"], message: ListenerMessage, handle: ListenerHandle): Promise<void> {
  return new Promise((resolve, reject) => {
    send(message, handle, (error) => (error === null ? resolve() : reject(error)));
  });
}
