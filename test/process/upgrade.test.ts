import { afterEach, beforeEach, expect, test } from "vitest";
import { daemonPaths } from "../../src/adapters/daemon/paths.ts";
import { Daemon } from "../../src/adapters/daemon/server.ts";
import { ownVersion } from "../../src/adapters/daemon/version.ts";
import { openRelay } from "./fixture/relay-services.ts";
import { World } from "./fixture/world.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.dispose());

/** A daemon of another version, in this process. */
async function startDaemon(version: string): Promise<Daemon> {
  const paths = daemonPaths(world.env);
  if (!paths.ok) throw new Error(paths.error);
  const services = await openRelay(paths.value.home);
  if (!services.ok) throw new Error(services.error);
  const { socket, home } = paths.value;
  const log = (): void => undefined;
  const started = await Daemon.start({ socket, home, version, idleMs: 60_000, services: services.value, log });
  if (!started.ok) throw new Error(started.error);
  return started.value;
}

test("a newer command drains an older daemon and starts its own; the old sessions end", async () => {
  const older = await startDaemon("0.0.1");
  const client = world.shim();
  expect((await client.call("facts")).result).toMatchObject({ cwd: world.root });
  expect(await older.stopped).toBe("replaced by another version");
  const status = JSON.parse((await world.finish(["daemon", "status", "--json"])).stdout) as unknown;
  expect(status).toMatchObject({ daemon: { version: ownVersion(), sessions: 1 } });
  expect((await client.close()).code).toBe(0);
});

test("an older command does not replace a newer daemon: one sentence and exit code 2", async () => {
  const newer = await startDaemon("999.0.0");
  const refused = await world.finish(["run", "--", "cat"]);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain("The Sluicegate daemon is version 999.0.0");
  const hook = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: {} };
  const asked = await world.finish(["hook", "claude-code"], JSON.stringify(hook));
  expect(asked.stdout).toContain('"permissionDecision":"ask"');
  await newer.stop("the test is over");
});
