/** Where gateways in the foreground answer control requests: sockets beside the daemon's, named by process. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

const socketName = /^gateway-[0-9]+\.sock$/;

/** The socket of the gateway that runs as this process. */
export function gatewaySocket(runtime: string, pid: number): string {
  return join(runtime, `gateway-${pid}.sock`);
}

/** Sockets of all gateways, including those that were killed and left theirs behind. */
export function gatewaySockets(runtime: string): readonly string[] {
  return readdirSync(runtime)
    .filter((name) => socketName.test(name))
    .map((name) => join(runtime, name));
}
