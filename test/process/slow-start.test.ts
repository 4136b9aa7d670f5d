// A server that sleeps three seconds before it answers, through launcher, shim, daemon and gateway (gateway.md 6).
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Desk, deskPolicy, shakeHands, textOf } from "./fixture/desk.ts";
import { Client } from "./fixture/world.ts";

const lateServer = fileURLToPath(new URL("./fixture/late-server.js", import.meta.url));

let desk: Desk;
beforeEach(() => {
  desk = new Desk();
});
afterEach(() => desk.dispose());

const start = (): Client =>
  new Client(desk.start(["run", "--policy", deskPolicy, "--server", "desk", "--", process.execPath, lateServer]));

test("the second start answers handshake and lists before the server is up; a call waits for the server", async () => {
  const first = start();
  await shakeHands(first);
  expect(desk.handshakes()).toBe(1);
  const listed = (await first.answer(first.send("tools/list"))).result;
  await first.close();
  const second = start();
  await shakeHands(second);
  expect((await second.answer(second.send("tools/list"))).result).toEqual(listed);
  // The server has not read a byte yet, and everything so far came without it.
  expect(desk.handshakes()).toBe(1);
  expect(textOf(await second.call("backup", { arguments: {} }))).toBe("backed up");
  expect(desk.handshakes()).toBe(2);
  expect(desk.executed().filter(({ tool }) => tool === "backup")).toHaveLength(1);
  await second.close();
});
