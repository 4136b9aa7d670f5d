// `daemon` where something is wrong around it: the reason is whole, names what to set, and is JSON where that was asked.
import { afterAll, expect, test } from "vitest";
import { join } from "node:path";
import { mkdirSync } from "node:fs";
import { Terminal } from "../kit/client/command.ts";

const terminal = new Terminal();
afterAll(async () => {
  await terminal.run("daemon", "stop");
  terminal.remove();
});

test("why it did not start is told to its end, where the remedy is, also as JSON", async () => {
  const broken = Object.assign(new Terminal(), { home: join(terminal.root, "broken") });
  mkdirSync(broken.home, { mode: 0o700 });
  terminal.file("broken/log.db", "no database");
  const ran = await broken.run("daemon", "start");
  expect(ran).toMatchObject({ code: 2, stdout: "" });
  expect(ran.stderr).toMatch(/did not start: .* event log .* run `sluicegate audit set-aside` .*\n$/);
  const { code, value } = await broken.json("daemon", "start");
  expect(code).toBe(2);
  expect(value).toMatchObject({ ok: false, error: { code: "SG-DAEMON-START" } });
  broken.remove();
});

test("a state folder that is none is named with the variable that names another", async () => {
  const world = Object.assign(new Terminal(), { home: terminal.file("no-folder", "") });
  expect(await world.json("daemon", "start")).toMatchObject({
    code: 2,
    value: { error: { code: "SG-DAEMON-FOLDER", message: expect.stringContaining("set SLUICEGATE_HOME") } },
  });
  world.remove();
});

test("a daemon of another state folder is not called running, since `run` is refused there", async () => {
  expect((await terminal.run("daemon", "start")).code).toBe(0);
  const elsewhere = Object.assign(new Terminal(), { root: terminal.root, home: join(terminal.root, "elsewhere") });
  expect(await elsewhere.json("daemon", "status")).toMatchObject({
    code: 2,
    value: { error: { code: "SG-DAEMON-HOME" } },
  });
  expect((await elsewhere.run("doctor")).stdout).toContain("✗ The running daemon uses another state folder");
}, 120_000);

test("a wrong word is JSON as well", async () => {
  expect(await terminal.json("daemon", "begin")).toMatchObject({ code: 2, value: { error: { code: "SG-USAGE" } } });
});
