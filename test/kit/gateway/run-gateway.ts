import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answering, freePort, startChild } from "../client/child.ts";
import { allowAllPolicy, repositoryFolder } from "../server/run-fixture.ts";
import { makeWarmHome } from "../client/warm-home.ts";

const launcherOf = (checkout: string): string => join(checkout, "bin", "sluicegate.js");
const launcher = launcherOf(repositoryFolder);

/** Why the gateway cannot be started from this tree, or undefined when it can. */
export function gatewayMissing(): string | undefined {
  for (const command of ["run", "gateway"]) {
    const probe = spawnSync(process.execPath, [launcher, command, "--help"], { encoding: "utf8", timeout: 20_000 });
    if (probe.status !== 0) return `sluicegate ${command} does not start: ${(probe.stderr ?? "").trim().slice(-200)}`;
  }
  return undefined;
}

/** What a command of the package says on standard output. */
export async function outputOf(words: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const child = startChild([process.execPath, launcher, ...words], env);
  let said = "";
  child.process.stdout?.setEncoding("utf8").on("data", (text: string) => (said += text));
  await new Promise((resolve) => child.process.once("close", resolve));
  return said;
}

/** State, socket and log of one test run, away from the user's own, for the package of one checkout. */
export type Sandbox = {
  readonly folder: string;
  /** The program of that package. */
  readonly launcher: string;
  readonly env: Readonly<Record<string, string>>;
  /** Stops the daemon of this sandbox, if one runs, and removes the folder. */
  readonly remove: () => Promise<void>;
};

export async function createSandbox(checkout: string = repositoryFolder): Promise<Sandbox> {
  const program = launcherOf(checkout);
  // Socket paths are limited to about a hundred bytes, so the folder's name stays short.
  const folder = await mkdtemp(join(tmpdir(), "sg-"));
  for (const home of ["home", "gateway"]) makeWarmHome(join(folder, home));
  const env = {
    SLUICEGATE_HOME: join(folder, "home"),
    SLUICEGATE_RUNTIME_DIR: join(folder, "run"),
    SLUICEGATE_ISOLATION: "off",
  };
  const remove = async (): Promise<void> => {
    const stopping = startChild([process.execPath, program, "daemon", "stop"], env);
    await new Promise((resolve) => stopping.process.once("close", resolve));
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  return { folder, launcher: program, env, remove };
}

/** Command line that wraps a stdio server under a policy file, or under the one that objects to nothing. */
export function guarded(
  command: readonly string[],
  policy: string = allowAllPolicy,
  program: string = launcher,
): readonly string[] {
  return [process.execPath, program, "run", "--policy", policy, "--server", "fixture", "--", ...command];
}

export type GatewayOptions = { readonly policy?: string };

/** Starts the HTTP gateway in front of one HTTP server called `fixture`; `url` is its endpoint. */
export async function startGateway(upstream: string, sandbox: Sandbox, options: GatewayOptions = {}) {
  const port = await freePort();
  const config = join(sandbox.folder, `gateway-${port}.json`);
  const policy = options.policy === undefined ? {} : { policy: options.policy };
  await writeFile(config, JSON.stringify({ version: 1, servers: { fixture: { url: upstream } }, ...policy }));
  const address = `127.0.0.1:${port}`;
  const command = [process.execPath, sandbox.launcher, "gateway", "--config", config, "--http", address];
  // A state folder has one writer: the gateway must not wait for the daemon of the same test.
  const child = startChild(command, { ...sandbox.env, SLUICEGATE_HOME: join(sandbox.folder, "gateway") });
  const url = `http://${address}/s/fixture/mcp`;
  try {
    await answering(url, child);
  } catch (cause) {
    await child.stop();
    throw cause;
  }
  return { url, child, stop: child.stop };
}
