// The gateway is killed while a call waits in the outbox: it leaves once what it waits for has happened, exactly once, or
// the person who ends the run learns that it never did.
import { fileURLToPath } from "node:url";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Desk, textOf } from "./fixture/desk.ts";
import { type Client, pause, until } from "./fixture/world.ts";

const policy = fileURLToPath(new URL("./fixture/waiting.yaml", import.meta.url));
const mail = { to: "zoe@far.example", body: "see you at noon" };

let desk: Desk;
beforeEach(() => {
  desk = new Desk();
});
afterEach(() => desk.dispose());

/** The daemon dies as if by a bug, and the client's shim has another one. */
async function crash(client: Client): Promise<void> {
  const old = desk.daemonPid() ?? 0;
  process.kill(old, "SIGKILL");
  await until(() => desk.daemonPid() !== undefined && desk.daemonPid() !== old);
  for (let tries = 0; tries < 400; tries += 1) {
    if (textOf(await client.call("read_private", { arguments: {} })).startsWith("The merger")) return;
    await pause(25);
  }
  throw new Error(`the gateway did not come back: ${client.stderr}`);
}

const sent = () => desk.executed().filter(({ tool }) => tool === "send");

test("a held call is sent once, and the log says where it came from", async () => {
  const client = await desk.connect(policy);
  expect(textOf(await client.call("send", { arguments: mail }))).toMatch(
    /^! Not sent yet: the call waits in the outbox/,
  );
  await crash(client);
  expect(sent()).toEqual([]);
  expect(textOf(await client.call("backup", { arguments: {} }))).toBe("backed up");
  await until(() => sent().length === 1);
  expect(textOf(await client.call("backup", { arguments: {} }))).toBe("backed up");
  expect((await desk.json("runs", "new")).value).toMatchObject({ owed: [] });
  expect(sent()).toMatchObject([{ arguments: mail }]);
  await client.close();
  await desk.finish(["daemon", "stop"]);
  const { views, valid } = await desk.log();
  expect(valid).toBe(true);
  const notes = views.map(({ clear }) => clear["notes"] as Record<string, unknown> | undefined); // of our own log
  const held = notes.find((note) => note?.["held"] === "desk.send")?.["decision"];
  expect(notes.filter((note) => note?.["outbox"] === held)).toHaveLength(1);
});

test("one that was not kept is said to whoever ends the run", async () => {
  const digests = join(desk.root, "digests.yaml");
  writeFileSync(digests, `version: 1\nextends: [${JSON.stringify(policy)}]\naudit: { payload: digests }\n`);
  const client = await desk.connect(digests);
  expect(textOf(await client.call("send", { arguments: mail }))).toContain("waits in the outbox");
  await crash(client);
  const ended = await desk.json("runs", "new");
  expect(ended.value).toMatchObject({
    owed: [expect.stringMatching(/`send` of `desk` was held and never sent: its arguments were not kept/)],
  });
  expect(sent()).toEqual([]);
  await client.close();
});
