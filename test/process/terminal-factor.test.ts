// `approvals.factor: terminal`: who may consent to what cannot be undone, and which ways around are closed.
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { GuardedClient, asking, has } from "./fixture/guarded-client.ts";
import { finished } from "./fixture/world.ts";

let desk: GuardedClient;
let id = "";

beforeEach(async () => {
  desk = new GuardedClient();
  await desk.begin("{factor: terminal}");
  id = await desk.card();
});
afterEach(() => desk.dispose());

const write = (): Promise<string> => desk.write();
const byAgent = (line: string): Promise<string> => desk.byAgent(line);
const command = (): string => desk.line("approve", id);

test.runIf(has("script"))(
  "a terminal without a client behind it may approve, and the log names the factor (needs script)",
  async () => {
    const shown = await finished(spawn("script", ["-qec", command(), "/dev/null"], { env: desk.env }));
    expect(shown.stdout).toContain("Approved");
    expect(await write()).toBe("written a");
    const { views } = await desk.log();
    expect(JSON.stringify(views)).toContain("operator:terminal");
  },
);

test("without a terminal nothing is approved, and refusing needs none", async () => {
  const plain = await desk.finish(["approve", id]);
  expect(plain.stderr).toContain("no controlling terminal");
  expect(await write()).toMatch(/^! Not executed/);
  expect((await desk.finish(["approve", id, "--refuse"])).stdout).toContain("Refused");
});

test.runIf(has("script"))("script(1) from a child of the client is refused (needs script)", async () => {
  expect(await byAgent(`script -qec "${command()}" OUT < /dev/null`)).toContain("started from a guarded client");
  expect(await write()).toMatch(/^! Not executed/);
});

test.runIf(has("script"))("a double fork from a child of the client is refused (needs script)", async () => {
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

test.runIf(has("tmux"))("tmux send-keys is refused, also into a session of the user (needs tmux)", async () => {
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

test("A9: a child of the client that takes the file of a proof gains nothing by it", async () => {
  // The approver's own process holds its file open for a moment; the thief reads the name and asks in its own name.
  const stolen = desk.byAgentProgram(`
    const { readdirSync, openSync } = require("node:fs");
    const until = Date.now() + 8000;
    const look = () => {
      const found = readdirSync(process.env.SLUICEGATE_HOME).filter((name) => name.startsWith("proof-"));
      if (found.length === 0 && Date.now() < until) return setTimeout(look, 1);
      for (const name of found) try { openSync(process.env.SLUICEGATE_HOME + "/" + name, "r"); } catch {}
      console.log("found " + found.length);
      ${asking(`{ kind: "approve", id: "${id}", choice: "once", tickets: found }`)}
    };
    look();`);
  await desk.finish(["approve", id]); // no terminal: its proof is refused, and its file was there to be taken
  const answered = await stolen;
  expect(answered).toMatch(/found [1-9]/);
  expect(answered).toContain("needs a terminal");
  expect(await write()).toMatch(/^! Not executed/);
});
