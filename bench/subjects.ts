import { join } from "node:path";
import { firstLine, startChild, type Child } from "../test/kit/client/child.ts";
import { guarded, startGateway, type Sandbox } from "../test/kit/gateway/run-gateway.ts";
import { httpDriver, stdioDriver, type Driver } from "./driver.ts";

export type SubjectName =
  | "direct"
  | "relay"
  | "relay-pair"
  | "parse-relay"
  | "sdk-v1"
  | "sdk-v2"
  /** Sluicegate of another checkout, which has its own sandbox. */
  | "before"
  | "guarded";
export type TransportKind = "stdio" | "http";

/** One way to reach the echo server, ready for calls. */
export type Subject = {
  readonly name: SubjectName;
  readonly driver: Driver;
  /** Root of the processes under test, or undefined where there is nothing between. */
  readonly root: number | undefined;
  readonly assignment: string | undefined;
  readonly stop: () => Promise<void>;
};

const here = import.meta.dirname;
const script = (name: string): string => join(here, name);
const node = process.execPath;
/** The default policy, with labels for the benchmark's own server. */
const policy = script("policy.yaml");

function between(name: SubjectName, server: readonly string[], sandbox: Sandbox): readonly string[] {
  switch (name) {
    case "direct":
      return server;
    case "relay":
      return [node, script("relay.ts"), ...server];
    case "relay-pair":
      return [node, script("relay.ts"), node, script("relay.ts"), ...server];
    case "parse-relay":
      return [node, script("relay.ts"), "--parse", ...server];
    case "sdk-v1":
      return [node, script("sdk-passthrough.ts"), "v1", "stdio", ...server];
    case "sdk-v2":
      return [node, script("sdk-passthrough.ts"), "v2", "stdio", ...server];
    case "before":
    case "guarded":
      return guarded(server, policy, sandbox.launcher);
  }
}

async function urlOf(child: Child): Promise<string> {
  // The first line of every HTTP process of the benchmark.
  const { url } = JSON.parse(await firstLine(child)) as { readonly url: string };
  return url;
}

async function startHttpBetween(name: SubjectName, upstream: string, sandbox: Sandbox) {
  if (isGuard(name)) return await startGateway(upstream, sandbox, { policy });
  const command =
    name === "sdk-v1" || name === "sdk-v2"
      ? [node, script("sdk-passthrough.ts"), name.slice(4), "http", upstream]
      : [node, script("http-relay.ts"), ...(name === "parse-relay" ? ["--parse"] : []), upstream];
  const child = startChild(command);
  return { url: await urlOf(child), child, stop: child.stop };
}

async function handshake(driver: Driver): Promise<void> {
  const clientInfo = { name: "bench", version: "1.0.0" };
  await driver.ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }, 50);
  await driver.notify("notifications/initialized");
  // As every client does: a guard that has never seen the list has no labels for a tool.
  await driver.ask("tools/list", {}, 50);
}

const isGuard = (name: SubjectName): boolean => name === "guarded" || name === "before";

/** Starts a subject with an echo server of its own that lists so many tools. */
export async function startSubject(
  name: SubjectName,
  transport: TransportKind,
  tools: number,
  sandbox: Sandbox,
): Promise<Subject> {
  const server = [node, script("echo-server.ts"), "--tools", String(tools)];
  const assignment = isGuard(name) ? `SLUICEGATE_HOME=${sandbox.env["SLUICEGATE_HOME"]}` : undefined;
  if (transport === "stdio") {
    const child = startChild(between(name, server, sandbox), isGuard(name) ? sandbox.env : {});
    const driver = stdioDriver(child.process);
    const root = name === "direct" ? undefined : child.process.pid;
    const stop = async (): Promise<void> => {
      driver.close();
      await child.stop();
    };
    await handshake(driver).catch(failed(name, child));
    return { name, driver, root, assignment, stop };
  }
  const upstream = startChild([...server, "--http"]);
  const upstreamUrl = await urlOf(upstream);
  const front = name === "direct" ? undefined : await startHttpBetween(name, upstreamUrl, sandbox);
  const driver = httpDriver(front?.url ?? upstreamUrl);
  await handshake(driver).catch(failed(name, front?.child ?? upstream));
  const stop = async (): Promise<void> => {
    driver.close();
    await front?.stop();
    await upstream.stop();
  };
  return { name, driver, root: front?.child.process.pid, assignment, stop };
}

function failed(name: SubjectName, child: Child) {
  return async (cause: unknown): Promise<never> => {
    await child.stop();
    throw new Error(`${name} does not start: ${String(cause)} ${child.stderr().slice(-500)}`);
  };
}
