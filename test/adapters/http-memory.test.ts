// B13: sessions and the memory of the servers that they start.
import { afterEach, expect, test } from "vitest";
import { initialize, TestGateway } from "./http-harness.ts";

let gateway: TestGateway;
afterEach(() => gateway.stop());

/** Room for so many sessions, each of which counts until it is closed. */
async function withRoom(sessions: number, concerns = (_server: string | undefined): boolean => true) {
  const time = { now: 0 };
  const hasRoom = (): boolean => gateway.connections.length - gateway.closed.length < sessions;
  gateway = await new TestGateway({
    memory: { hasRoom, concerns },
    limits: { evictIdleMsMin: 1_000 },
    clock: { monotonicMs: () => time.now, wallMs: () => time.now },
  }).start();
  return time;
}

const opens = async (): Promise<number> => (await gateway.post(initialize("2025-11-25"))).status;

test("a session that was idle makes room, the one that was so longest first", async () => {
  const time = await withRoom(2);
  const first = await gateway.openSession();
  time.now = 10;
  const second = await gateway.openSession();
  time.now = 2_000;
  await gateway.openSession();
  expect(gateway.closed).toEqual(["The session was idle, and the memory of its servers is needed."]);
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  expect((await gateway.post(list, { "mcp-session-id": first })).status).toBe(404);
  expect((await gateway.post(list, { "mcp-session-id": second })).status).toBe(200);
});

test("sessions in use stay, and another one is refused with the way on", async () => {
  const time = await withRoom(2);
  const first = await gateway.openSession();
  await gateway.openSession();
  time.now = 900;
  const refused = await gateway.post(initialize("2025-11-25"));
  expect(refused.status).toBe(503);
  expect(refused.headers["retry-after"]).toBe("30");
  expect(await refused.text()).toMatch(/memory for local servers is used up.*`memoryMb`/);
  expect(gateway.closed).toEqual([]);
  await gateway.ask({ method: "DELETE", headers: { "mcp-session-id": first } });
  expect(await opens()).toBe(200);
});

test("a session with an open stream is in use, however long", async () => {
  const time = await withRoom(1);
  const session = await gateway.openSession();
  await gateway.ask({ method: "GET", headers: { "mcp-session-id": session, accept: "text/event-stream" } });
  time.now = 9_000_000;
  expect(await opens()).toBe(503);
});

test("endpoints without local servers need no room", async () => {
  await withRoom(0, (server) => server === "files");
  expect(await opens()).toBe(200);
  expect((await gateway.post(initialize("2025-11-25"), {}, "/s/files/mcp")).status).toBe(503);
});

test("at most a few sessions are ended at once, since their servers need time to end", async () => {
  let room = true;
  const time = { now: 0 };
  gateway = await new TestGateway({
    memory: { hasRoom: () => room, concerns: () => true },
    limits: { evictIdleMsMin: 1_000 },
    clock: { monotonicMs: () => time.now, wallMs: () => time.now },
  }).start();
  for (let count = 0; count < 9; count += 1) await gateway.openSession();
  room = false;
  time.now = 5_000;
  expect(await opens()).toBe(503);
  expect(gateway.closed).toHaveLength(4);
});
