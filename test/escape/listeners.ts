/** Listeners of the host that greet whoever comes with a secret, and remember that somebody came. */
import { chmodSync } from "node:fs";
import { createSocket } from "node:dgram";
import { createServer, type AddressInfo, type ListenOptions, type Server } from "node:net";
import { join } from "node:path";

export type Listeners = {
  /** Where the TCP listener is found under each of the addresses that it has here. */
  readonly targets: (addresses: readonly string[]) => readonly { readonly address: string; readonly port: number }[];
  readonly resolver: string;
  readonly unixSocket: string;
  readonly abstractSocket: string;
  /** Who came since the last time. */
  readonly heard: () => string[];
  readonly close: () => Promise<void>;
};

const heardMax = 1_000;

export async function plantListeners(folder: string, token: string, secret: string): Promise<Listeners> {
  let heard: string[] = [];
  const servers: Server[] = [];
  const listen = async (name: string, options: ListenOptions): Promise<Server> => {
    const server = createServer((socket) => {
      if (heard.length < heardMax) heard.push(`somebody connected to ${name}`);
      socket.on("error", () => undefined);
      socket.end(secret);
    });
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(options, resolve));
    servers.push(server);
    return server;
  };
  // One listener for all addresses of both families.
  const tcp = await listen("a port", { port: 0, host: "::" });
  // A server on a TCP port always has an AddressInfo.
  const { port } = tcp.address() as AddressInfo;
  const unixSocket = join(folder, "agent.sock");
  await listen("a socket of the host", { path: unixSocket });
  chmodSync(unixSocket, 0o777);
  const abstractSocket = `${token}-abstract`;
  await listen("an abstract socket", { path: `\0${abstractSocket}` });
  const datagrams = createSocket("udp4");
  datagrams.on("message", (message) => {
    // Names are sent in parts; the token is one of them.
    if (message.includes(token) && heard.length < heardMax) heard.push("a datagram carried the token");
  });
  await new Promise<void>((resolve) => datagrams.bind(0, "127.0.0.1", resolve));
  return {
    targets: (addresses) => addresses.map((address) => ({ address, port })),
    resolver: `127.0.0.1:${datagrams.address().port}`,
    unixSocket,
    abstractSocket,
    heard: () => {
      const all = heard;
      heard = [];
      return all;
    },
    close: async () => {
      datagrams.close();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
