/**
 * A gateway in the foreground answers the same questions as the daemon (`runs`, `approve`, ...), on a socket of its own
 * beside the daemon's: a refusal that says `sluicegate approve ID` must be true wherever the call was refused.
 */
import { rmSync } from "node:fs";
import { connectSocket } from "../../adapters/daemon/connect.ts";
import { daemonPaths } from "../../adapters/daemon/paths.ts";
import { Daemon } from "../../adapters/daemon/server.ts";
import { ownVersion } from "../../adapters/daemon/version.ts";
import { privateFolder } from "../../adapters/keys/key-files.ts";
import { type Result, err, ok } from "../../core/result.ts";
import type { Composition } from "./composition.ts";
import { control } from "./control.ts";
import { gatewaySocket, gatewaySockets } from "./gateway-sockets.ts";
import { logHome } from "../state/log-files.ts";

/** The control socket of a gateway never idles out; Node's timers cannot wait longer. */
const idleMs = 2 ** 31 - 1;

/** State folder of gateways in the foreground. */
export function gatewayHome(environment: NodeJS.ProcessEnv): Result<string, string> {
  const home = logHome(environment, "gateway");
  const made = privateFolder(home);
  return made.ok ? ok(home) : made;
}

/** Removes the sockets of gateways that were killed: no other process would. */
async function removeLeftSockets(runtime: string): Promise<void> {
  for (const path of gatewaySockets(runtime)) {
    const tried = await connectSocket(path);
    if (tried.ok) tried.value.destroy();
    else if (tried.error === "ECONNREFUSED") rmSync(path, { force: true });
  }
}

/** Answers control requests until the returned function is called; without a place for a socket it does without. */
export async function answerControl(composition: Composition, home: string): Promise<() => Promise<void>> {
  const paths = daemonPaths(process.env);
  if (!paths.ok) return () => Promise.resolve();
  await removeLeftSockets(paths.value.runtime);
  const started = await Daemon.start({
    socket: gatewaySocket(paths.value.runtime, process.pid),
    home,
    version: ownVersion(),
    idleMs,
    services: {
      open: () => Promise.resolve(err("This is a gateway in the foreground: connect to its address instead.")),
      control: (request, context) => control(composition, request, context),
      drain: () => Promise.resolve(),
      close: () => Promise.resolve(),
    },
    log: (sentence) => void process.stderr.write(`${sentence}\n`),
  });
  return started.ok ? () => started.value.stop("the gateway ends") : () => Promise.resolve();
}
