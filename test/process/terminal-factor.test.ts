// `approvals.factor: terminal`: who may consent to what cannot be undone, and which ways around are closed.
import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Desk, deskServer, shakeHands, textOf } from "./fixture/desk.ts";
import { Client, finished } from "./fixture/world.ts";

let desk: Desk;
let client: Client;
let id = "";

/** A client process of its own, between this test and the shim, so that the test itself is no child of a client. */
const clientProgram = `
const { spawn } = require("node:child_process");
const shim = spawn(process.execPath, process.argv.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
process.stdin.pipe(shim.stdin);
shim.stdout.pipe(process.stdout);
process.on("SIGUSR2", () => {
  const [command, ...words] = JSON.parse(process.env.AGENT_COMMAND);
  spawn(command, words, { stdio: "ignore", detached: true });
});
shim.on("exit", () => process.exit());
`;

/** What the agent runs: a file that each case writes first, since the client is started once. */
const agent = (): string => join(desk.root, "agent.sh");

beforeEach(async () => {
  desk = new Desk();
  const policy = join(desk.root, "factor.yaml");
  writeFileSync(policy, "version: 1\nextends: [default]\napprovals: {factor: terminal}\n");
  const words = [desk.launcher, "run", "--policy", policy, "--server", "desk", "--", process.execPath, deskServer];
  desk.env["AGENT_COMMAND"] = JSON.stringify(["/bin/sh", agent()]);
  client = new Client(spawn(process.execPath, ["-e", clientProgram, ...words], { env: desk.env, cwd: desk.root }));
  await shakeHands(client);
  id = /sluicegate approve ([\w-]+)`/.exec(await write())?.[1] ?? "none";
});
afterEach(() => desk.dispose());

const write = async (): Promise<string> => textOf(await client.call("write", { arguments: { text: "a" } }));
const has = (program: string): boolean => spawnSync("which", [program]).status === 0;
const command = (): string => `${process.execPath} ${desk.launcher} approve ${id}`;

/** Runs a line from a child of the client, and gives what it wrote once it is through. */
async function byAgent(line: string): Promise<string> {
  const out = join(desk.root, `out-${id}`);
  writeFileSync(agent(), `exec > ${out}.part 2>&1\n${line.replaceAll("OUT", `${out}.in`)}\nmv ${out}.part ${out}\n`);
  client.child.kill("SIGUSR2");
  for (let look = 0; look < 150; look += 1) {
    const read = spawnSync("cat", [out, `${out}.in`], { encoding: "utf8" });
    if (spawnSync("test", ["-e", out]).status === 0) return read.stdout;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the agent's command did not end");
}

test("a terminal that no client stands behind may approve, and the log names the factor", async () => {
  if (!has("script")) throw new Error("script(1) is needed");
  const shown = await finished(spawn("script", ["-qec", command(), "/dev/null"], { env: desk.env }));
  expect(shown.stdout).toContain("Approved");
  expect(await write()).toBe("written a");
  const { views } = await desk.log();
  expect(JSON.stringify(views)).toContain("operator:terminal");
});

test("without a terminal nothing is approved, and refusing needs none", async () => {
  const plain = await desk.finish(["approve", id]);
  expect(plain.stderr).toContain("no controlling terminal");
  expect(await write()).toMatch(/^! Not executed/);
  expect((await desk.finish(["approve", id, "--refuse"])).stdout).toContain("Refused");
});

test.runIf(has("script"))("script(1) from a child of the client is refused", async () => {
  expect(await byAgent(`script -qec "${command()}" OUT < /dev/null`)).toContain("started from a guarded client");
  expect(await write()).toMatch(/^! Not executed/);
});

test.runIf(has("script"))("a double fork from a child of the client is refused", async () => {
  const line = `(setsid sh -c 'sleep 0.3; script -qec "${command()}" OUT < /dev/null; touch OUT.done' > /dev/null 2>&1 &)\nwhile ! test -e OUT.done; do sleep 0.1; done`;
  expect(await byAgent(line)).toContain("started from a guarded client");
  expect(await write()).toMatch(/^! Not executed/);
});

test.runIf(has("systemd-run") && spawnSync("systemd-run", ["--user", "--pty", "true"]).status === 0)(
  "systemd-run --user --pty is refused: it holds the other end of the terminal itself",
  async () => {
    expect(await byAgent(`systemd-run --user --pty -q ${command()}`)).toContain("started from a guarded client");
    expect(await write()).toMatch(/^! Not executed/);
  },
);

test.runIf(has("tmux"))("tmux send-keys is refused, also into a session of the user", async () => {
  const tmux = `tmux -S ${join(desk.root, "t")}`;
  const started = spawnSync("sh", ["-c", `${tmux} -f /dev/null new-session -d -x 200 sh`], { env: desk.env });
  expect(started.status).toBe(0);
  try {
    const line = `${tmux} send-keys '${command()} > OUT 2>&1; touch OUT.done' Enter\nwhile ! test -e OUT.done; do sleep 0.1; done`;
    expect(await byAgent(line)).toContain("takes orders over a socket");
  } finally {
    spawnSync("sh", ["-c", `${tmux} kill-server`]);
  }
  expect(await write()).toMatch(/^! Not executed/);
});
