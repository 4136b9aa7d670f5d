/**
 * Connects to a destination that was allowed. A name is resolved once, every address it has is checked, and the
 * connection goes to an address that was checked: no second resolution between check and use could give another answer.
 */
import { lookup } from "node:dns/promises";
import { connect as connectSocket, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { parseAddress } from "../../core/isolation/internet-address.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { type Guarded, guarded } from "./address-guard.ts";
import type { Destination, Permissions } from "./permissions.ts";

const resolveWaitMsMax = 5_000;
const connectWaitMsMax = 5_000;
/** Addresses of one name that are checked, and of the checked ones that are tried. */
const addressesMax = 16;
const attemptsMax = 4;

export type Surroundings = {
  /** Addresses of a name; rejects or is empty where it has none. */
  readonly resolver: (name: string) => Promise<readonly string[]>;
  /** Opens a connection to an address. The socket must leave half-closing to its user (`allowHalfOpen`). */
  readonly connect: (address: string, port: number) => Socket;
  /** Addresses of this machine, asked anew for each connection: they change. */
  readonly ownAddresses: () => readonly string[];
};

export const systemSurroundings: Surroundings = {
  resolver: async (name) => (await lookup(name, { all: true, order: "ipv4first" })).map(({ address }) => address),
  connect: (address, port) => connectSocket({ host: address, port, allowHalfOpen: true, autoSelectFamily: false }),
  ownAddresses: () => Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []),
};

export type Reached = {
  readonly socket: Socket;
  readonly address: string;
  /** True if the address can be reached only by a grant that names it. */
  readonly special: boolean;
};

export type Unreached = {
  readonly outcome: "denied" | "failed";
  readonly rule: "egress-unresolved" | "egress-unreachable" | `egress-resolved-${Guarded}`;
  readonly address?: string;
};

/** Resolves, checks and connects. The error is a rule for evidence, with the refused address if there is one. */
export async function reach(
  destination: Destination,
  permissions: Permissions,
  surroundings: Surroundings,
): Promise<Result<Reached, Unreached>> {
  const addresses = await addressesOf(destination, surroundings);
  if (addresses.length === 0) return err({ outcome: "failed", rule: "egress-unresolved" });
  const own = surroundings.ownAddresses();
  const checked = addresses.map((address) => ({ address, why: objection(address, destination, permissions, own) }));
  const usable = checked.filter(({ why }) => why === undefined).slice(0, attemptsMax);
  const [first] = checked;
  if (usable.length === 0 && first?.why !== undefined) {
    return err({ outcome: "denied", rule: `egress-resolved-${first.why}`, address: first.address });
  }
  for (const { address } of usable) {
    const socket = await connected(surroundings.connect(address, destination.port));
    if (socket !== undefined) return ok({ socket, address, special: guarded(address, own) !== undefined });
  }
  return err({ outcome: "failed", rule: "egress-unreachable", ...(first && { address: first.address }) });
}

async function addressesOf({ host }: Destination, { resolver }: Surroundings): Promise<readonly string[]> {
  if (host === "localhost") return ["127.0.0.1", "::1"];
  if (parseAddress(host) !== undefined) return [host];
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly string[]>((resolve) => {
    timer = setTimeout(() => resolve([]), resolveWaitMsMax);
  });
  try {
    const found = await Promise.race([resolver(host), late]);
    return found.slice(0, addressesMax);
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
  }
}

function objection(
  address: string,
  { port }: Destination,
  permissions: Permissions,
  own: readonly string[],
): Guarded | undefined {
  const why = guarded(address, own);
  return why === undefined || why === "no-address" || !isGranted(address, port, permissions) ? why : undefined;
}

/** True iff the permissions name the address itself; for a loopback address also if they name `localhost`. */
export function isGranted(address: string, port: number, permissions: Permissions): boolean {
  if (permissions.names({ host: address, port })) return true;
  return guarded(address, []) === "loopback" && permissions.names({ host: "localhost", port });
}

function connected(socket: Socket): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const fail = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(undefined);
    };
    const timer = setTimeout(fail, connectWaitMsMax);
    // A listener for errors stays on for good: one that comes later must end the connection, not the process.
    socket.on("error", fail);
    socket.once("connect", () => {
      clearTimeout(timer);
      resolve(socket);
    });
  });
}
