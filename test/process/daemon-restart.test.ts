import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { commandLine, pause, until, World } from "./fixture/world.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.dispose());

function killDaemon(): number {
  const pid = world.daemonPid() ?? 0;
  process.kill(pid, "SIGKILL");
  return pid;
}

test("a lost daemon: open requests end as unknown, the server dies, a new daemon continues the session", async () => {
  const client = world.shim();
  await client.call("facts");
  const before = world.serverPids();
  const open = client.send("tools/call", { name: "silent" });
  const list = client.send("tools/call", { name: "facts" });
  await client.answer(list);
  const old = killDaemon();
  const unknown = await client.answer(open);
  expect(unknown.result).toMatchObject({ isError: true });
  expect(JSON.stringify(unknown.result)).toContain("whether it was carried out is unknown");
  // Whatever was answered already is not answered again.
  expect(client.answers.get(list)).toHaveLength(1);
  await until(() => world.requests().some((request) => request["resume"] !== ""));
  let answer = await client.call("facts");
  while (answer.result?.["isError"] === true) answer = await client.call("facts");
  expect(answer.result).toMatchObject({ cwd: world.root });
  expect(world.daemonPid()).not.toBe(old);
  for (const pid of before) expect(world.processes()).not.toContain(pid);
  const [first, second] = world.requests().filter((request) => "session" in request);
  expect(second?.["resume"]).toBe(first?.["session"]);
  expect(client.noise).toEqual([]);
  expect((await client.close()).code).toBe(0);
});

test("while the daemon is away each kind of request gets its refusal, notifications none", async () => {
  const client = world.shim();
  await client.call("facts");
  killDaemon();
  const call = client.send("tools/call", { name: "facts" });
  const read = client.send("resources/read", { uri: "x:y" });
  client.child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const [called, answered] = [await client.answer(call), await client.answer(read)];
  expect(called.result).toMatchObject({ isError: true, content: [{ type: "text" }] });
  expect(answered.error).toMatchObject({ code: -32010 });
  expect(answered.error?.data).toHaveProperty("way");
  expect(answered.error?.message.length).toBeLessThanOrEqual(240);
});

test("a second loss within a minute: refusals that name `sluicegate doctor`, until the client ends", async () => {
  const client = world.shim();
  await client.call("facts");
  const first = killDaemon();
  await until(() => world.daemonPid() !== undefined && world.daemonPid() !== first);
  await until(() => world.serverPids().length > 0);
  await pause(200);
  killDaemon();
  await until(() => client.stderr.includes("lost twice"));
  const answer = await client.call("facts");
  expect(JSON.stringify(answer.result)).toContain("sluicegate doctor");
  await pause(300);
  expect(world.daemonPid()).toBeUndefined();
  expect((await client.close()).code).toBe(1);
  expect(await world.leftOver()).toEqual([]);
});

test("an answer cut off by the loss does not swallow the next line, and half a request is refused whole", async () => {
  const client = world.shim();
  await client.call("facts");
  client.send("tools/call", { name: "large", bytes: 40_000_000 });
  const half = `{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"${"y".repeat(20_000)}`;
  await pause(30);
  client.child.stdout.pause();
  await pause(300);
  client.child.stdin.write(half);
  await pause(100);
  killDaemon();
  client.child.stdout.resume();
  await pause(200);
  client.child.stdin.write('"}}\n');
  const answer = await client.answer(77);
  expect(answer.result).toMatchObject({ isError: true });
  expect(client.noise.length).toBeLessThanOrEqual(1);
});

test("what was refused during the outage never reaches the new daemon's server, even in one piece with its end", async () => {
  const client = world.shim();
  await client.call("facts");
  client.child.stdin.write('{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"facts"');
  await pause(100);
  killDaemon();
  await until(() => world.requests().some(({ resume }) => resume !== undefined && resume !== ""));
  await pause(300); // the reopened session waits for the end of the client's line
  client.child.stdin.write('}}\n{"jsonrpc":"2.0","id":78,"method":"tools/call","params":{"name":"facts"}}\n');
  expect((await client.answer(77)).result).toMatchObject({ isError: true });
  expect((await client.answer(78)).result).toMatchObject({ isError: true });
  expect((await client.call("facts")).result).toHaveProperty("pid");
  expect([client.answers.get(77)?.length, client.answers.get(78)?.length, client.noise]).toEqual([1, 1, []]);
  expect((await client.close()).code).toBe(0);
});

test("with daemon and guardian killed together the shim still kills the server's group", async () => {
  const client = world.shim();
  await client.call("facts");
  const before = world.processes().filter((pid) => /toy-server|sleep 1000|^\/bin\/sh -c/.test(commandLine(pid)));
  const servers = before.filter((pid) => !commandLine(pid).includes("launch.js"));
  const guardians = servers.filter((pid) => commandLine(pid).startsWith("/bin/sh -c"));
  expect([servers.length, guardians.length]).toEqual([3, 1]);
  const daemon = world.daemonPid() ?? 0;
  process.kill(daemon, "SIGSTOP"); // it would kill the group itself when it sees its guardian go
  for (const pid of guardians) process.kill(pid, "SIGKILL");
  await pause(50);
  for (const pid of servers) expect(commandLine(pid) !== "" || guardians.includes(pid)).toBe(true);
  process.kill(daemon, "SIGKILL");
  await until(() => !world.processes().some((pid) => servers.includes(pid)));
});

test("`daemon stop` ends every session with its server, and nobody starts the daemon again", async () => {
  const client = world.shim();
  await client.call("facts");
  const end = new Promise((resolve) => client.child.on("close", resolve));
  expect((await world.finish(["daemon", "stop"])).stdout).toContain("was stopped");
  expect(await end).toBe(1);
  expect(await world.leftOver()).toEqual([]);
});

test("an idle daemon ends by itself, one with a shim does not", async () => {
  world.env["SLUICEGATE_DAEMON_IDLE_MS"] = "300";
  const client = world.shim();
  await client.call("facts");
  await pause(700);
  await client.call("facts");
  expect(world.processes().some((pid) => commandLine(pid).includes("daemon run"))).toBe(true);
  await client.close();
  expect(await world.leftOver()).toEqual([]);
});

test("control requests: parts before the value, refusals in words, and no daemon is started by asking", async () => {
  const { ask } = await import("../../src/adapters/daemon/connect.ts");
  const { ownVersion } = await import("../../src/adapters/daemon/version.ts");
  const socket = `${world.env["SLUICEGATE_RUNTIME_DIR"] ?? ""}/daemon.sock`;
  const options = { version: ownVersion(), waitMsMax: 2_000 };
  expect(await ask(socket, { kind: "count" }, options)).toMatchObject({ ok: false, error: { code: "ENOENT" } });
  await world.finish(["daemon", "start"]);
  const parts: unknown[] = [];
  const counted = await ask(socket, { kind: "count" }, { ...options, onPart: (part) => parts.push(part) });
  expect(counted).toEqual({ ok: true, value: "done" });
  expect(parts).toEqual([1, 2, 3]);
  expect(await ask(socket, { kind: "nonsense" }, options)).toMatchObject({
    error: { kind: "refused", reason: "refused" },
  });
  const other = await ask(socket, { kind: "count" }, { ...options, version: "0.0.1" });
  expect(other).toMatchObject({ error: { kind: "refused", reason: "version" } });
  // Housekeeping is understood across versions, or no daemon could ever be replaced.
  const drained = await ask(socket, { kind: "daemon", command: "drain" }, { ...options, version: "9.0.0" });
  expect(drained).toMatchObject({ ok: true, value: { state: "draining" } });
  expect(await world.leftOver()).toEqual([]);
});

test("C21: `daemon stop` leaves a daemon alone that has another state folder", async () => {
  const client = world.shim();
  await client.answer(client.send("initialize", {}));
  const other = { env: { SLUICEGATE_HOME: join(world.root, "other") } };
  const refused = await world.finish(["daemon", "stop"], "", other);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("another state folder") });
  expect(world.daemonPid()).toBeDefined();
  expect((await world.finish(["daemon", "stop"])).stdout).toContain("was stopped");
});
