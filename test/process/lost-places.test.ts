/**
 * A daemon that cannot answer, and folders that go away under it: every client and command gets an answer within a limit,
 * and what it is told is true.
 */
import { cpSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Desk, deskPolicy, deskServer, secret, textOf } from "./fixture/desk.ts";
import type { Client } from "./fixture/world.ts";

let desk: Desk;
beforeEach(() => {
  desk = new Desk();
});
afterEach(() => desk.dispose());

const words = ["run", "--policy", deskPolicy, "--server", "desk", "--", process.execPath, deskServer];
const write = (client: Client, text: string): Promise<string> =>
  client.call("write", { arguments: { text } }).then(textOf);

/** Milliseconds that something took, with its result. */
async function timed<T>(work: Promise<T>): Promise<{ readonly value: T; readonly ms: number }> {
  const start = performance.now();
  const value = await work;
  return { value, ms: performance.now() - start };
}

describe("a daemon that does not answer", () => {
  test(
    "frozen: open calls, new sessions and commands are answered, and `daemon stop` ends it",
    { timeout: 90_000 },
    async () => {
      const client = await desk.connect();
      const daemon = desk.daemonPid() ?? 0;
      process.kill(daemon, "SIGSTOP");
      const open = timed(
        client.answer(client.send("tools/call", { name: "write", arguments: { text: "ice." } }), 40_000),
      );
      const late = timed(desk.finish(words));
      const status = await timed(desk.json("daemon", "status"));
      expect(status.ms).toBeLessThan(9_000);
      expect(status.value).toMatchObject({ code: 2, value: { error: { code: "SG-DAEMON-UNREACHABLE" } } });
      expect(JSON.stringify(status.value.value)).toContain(`process ${daemon} and does not answer`);
      const opened = await late;
      expect(opened.ms).toBeLessThan(22_000);
      expect(opened.value).toMatchObject({ code: 2, stderr: expect.stringContaining("does not answer") });
      const answered = await open;
      expect(answered.ms).toBeLessThan(28_000);
      expect(textOf(answered.value)).toContain("whether it was carried out is unknown");
      const stopped = await timed(desk.json("daemon", "stop"));
      expect(stopped.value).toEqual({ code: 0, value: { stopped: true, killed: true } });
      expect(desk.daemonPid()).toBeUndefined();
      expect(await write(await desk.connect(), "after it.")).not.toMatch(/^!/);
    },
  );

  test("a mute socket: the session is refused, and no daemon is claimed to run", { timeout: 40_000 }, async () => {
    await desk.finish(["daemon", "start"]);
    await desk.finish(["daemon", "stop"]);
    const mute: Server = createServer(() => undefined);
    await new Promise<void>((resolve) => mute.listen(join(desk.root, "run", "daemon.sock"), resolve));
    const refused = timed(desk.finish(words));
    const status = await timed(desk.json("daemon", "status"));
    expect(status.ms).toBeLessThan(9_000);
    expect(status.value).toMatchObject({ code: 2, value: { error: { code: "SG-DAEMON-UNREACHABLE" } } });
    expect(JSON.stringify(status.value.value)).toContain("no daemon of this state folder runs");
    expect(await desk.json("daemon", "stop")).toMatchObject({ code: 2 });
    const told = await refused;
    expect(told.ms).toBeLessThan(22_000);
    expect(told.value).toMatchObject({ code: 2, stderr: expect.stringContaining("does not answer") });
    mute.close();
  });
});

describe("a socket that is gone", () => {
  test.each([
    ["the folder was removed", (folder: string) => rmSync(folder, { recursive: true })],
    ["the socket was removed", (folder: string) => rmSync(join(folder, "daemon.sock"))],
    ["the folder was moved", (folder: string) => renameSync(folder, `${folder}-away`)],
  ])("%s: it is made again, living sessions go on, new ones find it", { timeout: 30_000 }, async (_how, lose) => {
    const client = await desk.connect();
    const daemon = desk.daemonPid();
    lose(join(desk.root, "run"));
    expect(await write(client, "meanwhile.")).not.toMatch(/^!/);
    const again = await timed(desk.connect());
    expect(again.ms).toBeLessThan(8_000);
    expect(desk.daemonPid()).toBe(daemon);
    expect(await write(again.value, "again.")).not.toMatch(/^!/);
    expect(statSync(join(desk.root, "run")).mode & 0o777).toBe(0o700);
    expect(await desk.json("daemon", "stop")).toEqual({ code: 0, value: { stopped: true } });
  });
});

describe("a log that is gone under a running daemon", () => {
  const database = (): string => join(desk.home, "log.db");
  test.each([
    ["the state folder was removed", () => rmSync(desk.home, { recursive: true })],
    ["the state folder was moved", () => renameSync(desk.home, `${desk.home}-away`)],
    ["the database was removed", () => rmSync(database())],
    ["the write-ahead log was removed", () => rmSync(`${database()}-wal`)],
    [
      "the database was replaced by a copy",
      () => {
        cpSync(database(), `${database()}-copy`);
        renameSync(`${database()}-copy`, database());
      },
    ],
  ])("%s: no call is acknowledged without a record", { timeout: 40_000 }, async (_how, lose) => {
    const client = await desk.connect();
    await client.call("read_private", { arguments: {} });
    expect(await write(client, "before.")).not.toMatch(/^!/);
    const before = desk.executed().length;
    lose();
    for (let count = 0; count < 4; count += 1) expect(await write(client, `lost ${count}.`)).toMatch(/^!/);
    expect(desk.executed()).toHaveLength(before);
    await desk.finish(["daemon", "stop"]);
    const again = await desk.connect();
    const leak = await again.call("send", { arguments: { to: "ann@corp.example", body: secret } });
    expect(textOf(leak), "what the lost log knew is unknown").toMatch(/^! Not executed/);
  });
});

test("the file of the daemon's process goes with it, and a stale one names none", { timeout: 30_000 }, async () => {
  expect((await desk.finish(["daemon", "start"])).code).toBe(0);
  const file = join(desk.home, "daemon.pid");
  const stale = readFileSync(file);
  expect((await desk.finish(["daemon", "stop"])).code).toBe(0);
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, stale);
  expect(await desk.json("daemon", "stop")).toEqual({ code: 0, value: { stopped: false } });
  writeFileSync(file, JSON.stringify({ pid: process.pid, startedAt: "1" }));
  expect(await desk.json("daemon", "stop"), "the number went to another process").toMatchObject({ code: 0 });
});
