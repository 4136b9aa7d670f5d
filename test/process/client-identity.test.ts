/** Which calls share a run: whatever launches a server, and whichever process of the user speaks. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Desk, deskPolicy, deskServer, secret, shakeHands, textOf } from "./fixture/desk.ts";
import { Client, until } from "./fixture/world.ts";

let desk: Desk;
beforeEach(() => {
  desk = new Desk();
  desk.env["SLUICEGATE_POLICY"] = deskPolicy;
});
afterEach(() => desk.dispose());

const leak = (client: Client): Promise<string> =>
  client.call("send", { arguments: { to: "ann@corp.example", body: secret } }).then(textOf);
const readPrivate = (client: Client): Promise<unknown> => client.call("read_private", { arguments: {} });
const shim = (): string[] => [desk.launcher, "run", "--server", "desk", "--", process.execPath, deskServer];

async function through(program: string, words: readonly string[]): Promise<Client> {
  const client = new Client(spawn(program, words, { env: { ...desk.env }, cwd: desk.root }));
  await shakeHands(client);
  return client;
}

const start = () => ({ cwd: desk.root, hook_event_name: "SessionStart", source: "startup" });

/** A program that starts the shim and copies what both say, as an agent framework or a logging wrapper does. */
const relay = `const { spawn } = require("node:child_process");
const child = spawn(process.execPath, process.argv.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
process.stdin.pipe(child.stdin); child.stdout.pipe(process.stdout); child.on("close", () => process.exit());`;
const another = (): Promise<Client> => through(process.execPath, ["-e", relay, ...shim()]);

const inherits = `require("node:child_process").spawn(process.execPath, process.argv.slice(1), { stdio: "inherit" })`;
const titled = (title: string): string => `process.title = ${JSON.stringify(title)}; ${inherits}`;
const inPython = "import subprocess, sys; subprocess.run(sys.argv[1:])";
const quoted = (): string =>
  shim()
    .map((word) => `'${word}'`)
    .join(" ");

test.each<[string, () => [string, string[]]]>([
  [
    "npx with a path in its title",
    () => [process.execPath, ["-e", titled("npm exec sluicegate run -- /srv/x"), ...shim()]],
  ],
  ["Node with the title of a client", () => [process.execPath, ["-e", titled("claude"), ...shim()]]],
  ["timeout", () => ["timeout", ["60", process.execPath, ...shim()]]],
  ["Python", () => ["python3", ["-c", inPython, process.execPath, ...shim()]]],
  ["a shell with a further command", () => ["sh", ["-c", `'${process.execPath}' ${quoted()}; true`]]],
])("A1: servers started directly and by %s share one run", async (_name, launched) => {
  const one = await desk.connect();
  const [program, words] = launched();
  const two = await through(program, words);
  expect(await leak(two)).toBe("sent to ann@corp.example");
  await readPrivate(one);
  expect(await leak(two)).toMatch(/^! Not executed/);
  const { value } = await desk.json("runs");
  expect((value as { runs: unknown[] }).runs).toHaveLength(1); // our own command's answer
});

test("A1: behind launchers that relay, servers have runs of their own that share what restricts, in both directions", async () => {
  const one = await another();
  const two = await another();
  expect(await leak(two)).toBe("sent to ann@corp.example");
  await readPrivate(one);
  expect(await leak(two)).toMatch(/^! Not executed/);
  const { stdout } = await desk.finish(["doctor"]);
  expect(stdout).toMatch(/The servers desk share the run os:\d+\/process:/);
  expect(stdout).toContain("client processes have no hook");
});

test("A2: a client process that starts beside an open run takes its restrictions over, and `status` names it", async () => {
  const one = await desk.connect();
  await readPrivate(one);
  const two = await another();
  expect(await leak(two)).toMatch(/^! Not executed/);
  const from = new RegExp(`holds .*private.* because of os:\\d+/process:${process.pid}@`);
  expect((await desk.finish(["daemon", "status"])).stdout).toMatch(from);
  expect((await desk.finish(["runs"])).stdout).toContain("Taken over from other runs of this user");
  // A process whose own run was closed by hand is still beside the other.
  await desk.finish(["runs", "new"]);
  expect(await leak(two)).toBe("sent to ann@corp.example");
});

test("A2: after the last run ended with its client, the next process starts clean", async () => {
  const one = await another();
  await readPrivate(one);
  const two = await another();
  expect(await leak(two)).toMatch(/^! Not executed/);
  for (const client of [one, two]) {
    client.child.stdin.end();
    await once(client.child, "close");
  }
  expect(await leak(await another())).toBe("sent to ann@corp.example");
});

test("A2: a killed daemon forgets nothing of it", async () => {
  const one = await desk.connect();
  await readPrivate(one);
  const daemon = desk.daemonPid() ?? 0;
  process.kill(daemon, "SIGKILL");
  await until(() => desk.daemonPid() !== undefined && desk.daemonPid() !== daemon);
  expect(await leak(await another())).toMatch(/^! Not executed/);
});

test("A2: a conversation that a hook names is clean, and what others read later does not concern it", async () => {
  const one = await another();
  await readPrivate(one);
  const said = join(desk.root, "said");
  const hook = `process.on("SIGUSR1", () => require("node:fs").writeFileSync(${JSON.stringify(said)}, JSON.stringify(
    require("node:child_process").spawnSync(process.execPath, [${JSON.stringify(desk.launcher)}, "hook", "claude-code"],
      { input: ${JSON.stringify(JSON.stringify({ ...start(), session_id: "new" }))} }).status)));`;
  // The servers of this process connect first, so its run has taken over what the other holds.
  const two = await through(process.execPath, ["-e", hook + relay, ...shim()]);
  expect(await leak(two)).toMatch(/^! Not executed/);
  two.child.kill("SIGUSR1");
  await until(() => existsSync(said));
  expect(await leak(two)).toBe("sent to ann@corp.example");
  await readPrivate(one);
  expect(await leak(two)).toBe("sent to ann@corp.example");
  await readPrivate(two);
  expect(await leak(two)).toMatch(/^! Not executed/);
});

test("A2: a client that a guarded client starts holds what that one's conversation holds, under a hook as well", async () => {
  const outer = { ...start(), session_id: "outer" };
  await desk.finish(["hook", "claude-code"], JSON.stringify(outer));
  const one = await desk.connect();
  await readPrivate(one);
  // This test process is above the relay, so it may have started it with what it read.
  const inner = await another();
  expect(await leak(inner)).toMatch(/^! Not executed/);
  const hookOfRelay = `const { spawnSync } = require("node:child_process");
    spawnSync(process.execPath, [${JSON.stringify(desk.launcher)}, "hook", "claude-code"], { input: ${JSON.stringify(
      JSON.stringify({ ...start(), session_id: "inner" }),
    )} }); ${relay}`;
  const named = await through(process.execPath, ["-e", hookOfRelay, ...shim()]);
  expect(await leak(named)).toMatch(/^! Not executed/);
});
