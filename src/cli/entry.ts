/**
 * Chooses what to load. `run` and `hook` are started once for each server and for each tool call, so they bypass the
 * command-line framework; everything else goes to `main.ts`.
 */
import type { OpenServices } from "../adapters/daemon/services.ts";
import type { Host } from "./shim/host.ts";

/** Runs one command; `entry` is the launcher, which the daemon is started from. Resolves with the exit code. */
export async function dispatch(words: readonly string[], entry: string): Promise<number> {
  const [command, ...rest] = words;
  return (await fastCommand(command, rest, { entry, loadServices })) ?? (await import("./main.ts")).main(words);
}

/** The commands that need no framework; undefined when it is another one. */
export async function fastCommand(
  command: string | undefined,
  rest: readonly string[],
  host: Host,
): Promise<number | undefined> {
  // Help is the framework's business, but only before `--`: what stands behind it belongs to the server.
  const own = rest.includes("--") ? rest.slice(0, rest.indexOf("--")) : rest;
  if (own.includes("--help") || own.includes("-h")) return undefined;
  if (command === "run") return (await import("./shim/run.ts")).runShim(rest, host);
  if (command === "hook") return (await import("./hook.ts")).runHook(rest, host);
  if (command === "daemon") return (await import("./daemon.ts")).daemonCommand(rest, host);
  return undefined;
}

async function loadServices(): Promise<OpenServices> {
  return (await import("../app/gateway/daemon-gateway.ts")).openServices;
}
