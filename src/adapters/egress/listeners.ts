/**
 * Listening sockets that were made inside of a server's network namespace and live in the gateway. A socket belongs to
 * the namespace in which it was made, whichever process holds it, so the gateway accepts from inside while it connects
 * from outside, and no process of the gateway has to run beside the server.
 */
import { Socket as DatagramSocket } from "node:dgram";
import { Server } from "node:net";
import { parseDestination } from "../../core/isolation/scope-patterns.ts";

export const dnsPort = 53;
export const proxyPort = 3128;
export const socksPort = 1080;

/** Ports that are captured although nothing on them may be granted, so that attempts are seen. */
const watchedPorts = [80, 443];
/**
 * Ports at which a server that is only watched may reach every public name: shells, mail, web, and what databases,
 * caches, queues and search engines listen on. An attempt at another port is refused by the kernel.
 */
export const learnedPorts: readonly number[] = [
  22, 25, 80, 443, 465, 587, 993, 1433, 3000, 3306, 4222, 4317, 4318, 5000, 5001, 5432, 5672, 6333, 6334, 6379, 6443,
  7474, 7687, 8000, 8001, 8080, 8081, 8086, 8123, 8443, 8529, 8888, 9000, 9042, 9090, 9092, 9200, 9300, 9418, 11_211,
  11_434, 15_672, 19_530, 27_017, 27_018,
];

/** Each port costs a socket and a message at start-up. */
export const listenedPortsMax = 256;

export type Listeners = {
  readonly dns: DatagramSocket;
  /** By port, listening on all addresses of the namespace. */
  readonly tcp: ReadonlyMap<number, Server>;
};

/** Message of the launcher that accompanies each handle. */
export type ListenerMessage = {
  readonly kind: "egress-listener";
  readonly transport: "tcp" | "udp";
  readonly port: number;
};

export type ListenerHandle = Server | DatagramSocket;

/**
 * The ports that need a listener for these destinations (`host:port`), without those of the broker's own services;
 * whatever has no listener is refused by the kernel. Bounded by `listenedPortsMax`, the smallest ports first.
 */
export function portsOf(destinations: readonly string[], others: readonly number[] = []): readonly number[] {
  const named = destinations.flatMap((one) => parseDestination(one)?.port ?? []);
  return [...new Set([...watchedPorts, ...named, ...others])]
    .filter((port) => !serviceListeners.includes(port))
    .toSorted((one, other) => one - other)
    .slice(0, listenedPortsMax);
}

/** TCP ports that always have a listener. */
export const serviceListeners: readonly number[] = [dnsPort, socksPort, proxyPort];

/** Gathers the sockets of one launcher as they arrive over its channel. */
export class ListenerCollection {
  #dns: DatagramSocket | undefined;
  readonly #tcp = new Map<number, Server>();

  /** True if the message announced a listener; other messages are left to other readers. */
  accept(message: unknown, handle: unknown): boolean {
    if (!isListenerMessage(message)) return false;
    if (message.transport === "udp" && handle instanceof DatagramSocket && this.#dns === undefined) {
      this.#dns = handle;
    } else if (message.transport === "tcp" && handle instanceof Server && !this.#tcp.has(message.port)) {
      this.#tcp.set(message.port, handle);
    }
    return true;
  }

  /** All of them, once the socket for names is among them. */
  listeners(): Listeners | undefined {
    return this.#dns === undefined ? undefined : { dns: this.#dns, tcp: this.#tcp };
  }

  /** For a start that failed halfway: closes the sockets, which will not be served. */
  close(): void {
    if (this.#dns !== undefined) closeDatagrams(this.#dns);
    for (const server of this.#tcp.values()) server.close();
    this.#tcp.clear();
    this.#dns = undefined;
  }
}

/** Closes a datagram socket; does nothing if other code has closed it already. */
export function closeDatagrams(socket: DatagramSocket): void {
  try {
    socket.close();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_SOCKET_DGRAM_NOT_RUNNING")) throw error;
  }
}

function isListenerMessage(message: unknown): message is ListenerMessage {
  if (typeof message !== "object" || message === null) return false;
  const { kind, transport, port } = message as Record<string, unknown>; // Parsing edge: only compared below.
  const known = transport === "tcp" || transport === "udp";
  return kind === "egress-listener" && known && Number.isInteger(port);
}
