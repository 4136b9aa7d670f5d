// A slow start: the client gets what the server said last, and learns of what differs (gateway.md 6).
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import { FakeLog } from "../../../test/kit/gateway/fake-log.ts";
import { fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { play, Stage } from "../../../test/kit/gateway/playbook.ts";
import { startGraceMsMax } from "../ports/limits.ts";

const initialize = {
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
};
const result = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: "s", version: "1" },
};
const initialized = { method: "notifications/initialized" };
const list = { id: 1, method: "tools/list" };
const tool = (name: string): JsonObject => ({ name, inputSchema: { type: "object" } });
const tools = (...names: string[]): JsonObject => ({ tools: names.map(tool) });
const look = { id: 2, method: "tools/call", params: { name: "look", arguments: {} } };
const done = { content: [] };
const own = expect.stringMatching(/^sluicegate-start:/);
const refused = (text: RegExp) =>
  expect.objectContaining({ error: expect.objectContaining({ message: expect.stringMatching(text) }) });

type Line = Parameters<typeof play>[1][number];

const stageWith = (log: FakeLog): Stage => new Stage({ policy: fakePolicy(), log });

/** A request that reaches the server, and its answer that reaches the client. */
const relayed = (asked: JsonObject, answer: JsonObject): readonly Line[] => [
  { client: ">>", message: asked },
  { server: "<<", message: asked },
  { server: ">>", message: answer },
  { client: "<<", message: answer },
];

/** A first, quick start, which fills the cache. */
async function known(listed = tools("look")): Promise<FakeLog> {
  const log = new FakeLog();
  await play(stageWith(log), [
    ...relayed(initialize, { id: 0, result }),
    { client: ">>", message: initialized },
    { server: "<<", message: initialized },
    ...relayed(list, { id: 1, result: listed }),
  ]);
  return log;
}

/** A start whose server does not answer its first request within the grace; `then` is what follows at the client. */
async function slowly(log: FakeLog, asked: JsonObject, then: readonly Line[]): Promise<Stage> {
  const stage = stageWith(log);
  await play(stage, [
    { client: ">>", message: asked },
    { server: "<<", message: asked },
  ]);
  stage.clock.pass(startGraceMsMax);
  await play(stage, then);
  return stage;
}

/** The second start; the client got what is known. */
const slow = (log: FakeLog): Promise<Stage> =>
  slowly(log, initialize, [
    { client: "<<", message: { id: 0, result } },
    { client: ">>", message: initialized },
    { client: ">>", message: list },
    { client: "<<", message: { id: 1, result: tools("look") } },
  ]);

describe("a known server that starts slowly", () => {
  it("its handshake and lists come from the cache, a call waits and is then sent", async () => {
    const stage = await slow(await known());
    await play(stage, [
      { client: ">>", message: look },
      { server: ">>", message: { id: 0, result } },
      { server: "<<", message: initialized },
      { server: "<<", message: { id: own, method: "tools/list" } },
      { server: ">>", message: { id: "sluicegate-start:1", result: tools("look") } },
      { server: "<<", message: look },
      { server: ">>", message: { id: 2, result: done } },
      { client: "<<", message: { id: 2, result: done } },
    ]);
    expect(stage.notices).toEqual([]);
  });

  it("regression: a client that says that it is ready before it has an answer does not wait for ever", async () => {
    const stage = stageWith(await known());
    await play(stage, [
      { client: ">>", message: initialize },
      { client: ">>", message: initialized },
      { server: "<<", message: initialize },
    ]);
    stage.clock.pass(startGraceMsMax);
    await play(stage, [
      { client: "<<", message: { id: 0, result } },
      { client: ">>", message: list },
      { client: "<<", message: { id: 1, result: tools("look") } },
      { client: ">>", message: look },
      { server: ">>", message: { id: 0, result } },
      { server: "<<", message: initialized },
      { server: "<<", message: { id: own, method: "tools/list" } },
      { server: ">>", message: { id: "sluicegate-start:1", result: tools("look") } },
      { server: "<<", message: look },
      { server: ">>", message: { id: 2, result: done } },
      { client: "<<", message: { id: 2, result: done } },
    ]);
  });

  it("other tools: the call judged by the old list is not sent, and the list is announced as changed", async () => {
    const stage = await slow(await known());
    await play(stage, [
      { client: ">>", message: look },
      { server: ">>", message: { id: 0, result } },
      { server: "<<", message: initialized },
      { server: "<<", message: { id: own, method: "tools/list" } },
      { server: ">>", message: { id: "sluicegate-start:1", result: tools("look", "steal") } },
      { client: "<<", message: { method: "notifications/tools/list_changed" } },
      { client: "<<", message: refused(/tools changed while it started/) },
      { client: ">>", message: { ...list, id: 5 } },
      { server: "<<", message: { ...list, id: 5 } },
      { server: ">>", message: { id: 5, result: tools("look", "steal") } },
      { client: "<<", message: { id: 5, result: tools("look", "steal") } },
    ]);
  });

  it("the next start knows the new list", async () => {
    const log = await known(tools("old"));
    await play(stageWith(log), [
      { client: ">>", message: initialize },
      { server: "<<", message: initialize },
      { server: ">>", message: { id: 0, result } },
      { client: "<<", message: { id: 0, result } },
      { client: ">>", message: initialized },
      { server: "<<", message: initialized },
      { client: ">>", message: list },
      { server: "<<", message: list },
      { server: ">>", message: { id: 1, result: tools("look") } },
      { client: "<<", message: { id: 1, result: tools("look") } },
    ]);
    await slow(log);
  });

  it.each([
    ["version of the protocol", { ...result, protocolVersion: "2025-06-18" }],
    ["version of the server", { ...result, serverInfo: { name: "s", version: "2" } }],
    ["abilities", { ...result, capabilities: {} }],
  ])("another %s: quarantined until the client reconnects", async (_what, real) => {
    const log = await known();
    const stage = await slow(log);
    await play(stage, [
      { client: ">>", message: look },
      { server: ">>", message: { id: 0, result: real } },
      { client: "<<", message: refused(/reconnect/) },
      { client: ">>", message: { ...look, id: 3 } },
      { client: "<<", message: refused(/reconnect/) },
    ]);
    expect(stage.notices).toEqual([expect.stringContaining("in quarantine until its client reconnects")]);
    // Who reconnects is told the truth.
    const again = stageWith(log);
    await play(again, [
      { client: ">>", message: initialize },
      { server: "<<", message: initialize },
    ]);
    again.clock.pass(startGraceMsMax);
    await play(again, [{ client: "<<", message: { id: 0, result: real } }]);
  });

  it("a request that is given up while it waits never reaches the server", async () => {
    const stage = await slow(await known());
    await play(stage, [
      { client: ">>", message: { id: 7, method: "resources/read", params: { uri: "a:b" } } },
      { client: ">>", message: { method: "notifications/cancelled", params: { requestId: 7 } } },
      { server: ">>", message: { id: 0, result } },
      { server: "<<", message: initialized },
      { server: "<<", message: { id: own, method: "tools/list" } },
      { server: ">>", message: { id: "sluicegate-start:1", result: tools("look") } },
    ]);
  });
});

describe("nothing is answered from the cache", () => {
  it("at first contact, however slow the server is", async () => {
    const stage = stageWith(new FakeLog());
    await play(stage, [
      { client: ">>", message: initialize },
      { server: "<<", message: initialize },
    ]);
    stage.clock.pass(60_000);
    await play(stage, [
      { server: ">>", message: { id: 0, result } },
      { client: "<<", message: { id: 0, result } },
    ]);
  });

  it("when the server answers within the grace", async () => {
    const stage = stageWith(await known());
    const real = { ...result, instructions: "new words" };
    await play(stage, [
      { client: ">>", message: initialize },
      { server: "<<", message: initialize },
      { server: ">>", message: { id: 0, result: real } },
      { client: "<<", message: { id: 0, result: real } },
    ]);
    stage.clock.pass(startGraceMsMax);
    await play(stage, []);
  });

  it.each([
    ["other capabilities", { ...initialize, params: { ...initialize.params, capabilities: { roots: {} } } }],
    ["another revision", { ...initialize, params: { ...initialize.params, protocolVersion: "2025-06-18" } }],
  ])("for a client with %s", async (_what, request) => {
    const stage = stageWith(await known());
    await play(stage, [
      { client: ">>", message: request },
      { server: "<<", message: request },
    ]);
    stage.clock.pass(startGraceMsMax);
    await play(stage, []);
  });
});

describe("a modern client", () => {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const discover = { id: 0, method: "server/discover", params: { _meta: meta } };
  const found = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
  const modernList = { id: 1, method: "tools/list", params: { _meta: meta } };
  const listed = { resultType: "complete", ...tools("look") };

  async function knownModern(): Promise<FakeLog> {
    const log = new FakeLog();
    await play(stageWith(log), [
      ...relayed(discover, { id: 0, result: found }),
      ...relayed(modernList, { id: 1, result: listed }),
    ]);
    return log;
  }

  const slowModern = (log: FakeLog): Promise<Stage> =>
    slowly(log, discover, [
      { client: "<<", message: { id: 0, result: found } },
      { client: ">>", message: modernList },
      { client: "<<", message: { id: 1, result: listed } },
    ]);

  it("gets discovery and lists from the cache; the real list is asked for with its version and capabilities", async () => {
    const stage = await slowModern(await knownModern());
    const call = { ...look, params: { ...look.params, _meta: meta } };
    await play(stage, [
      { client: ">>", message: call },
      { server: ">>", message: { id: 0, result: found } },
      { server: "<<", message: { id: own, method: "tools/list", params: { _meta: meta } } },
      { server: ">>", message: { id: "sluicegate-start:1", result: { ...listed, ttlMs: 5 } } },
      { server: "<<", message: call },
    ]);
  });

  it("other abilities end the connection, since nobody would reconnect", async () => {
    const stage = await slowModern(await knownModern());
    await play(stage, [{ server: ">>", message: { id: 0, result: { ...found, capabilities: {} } } }]);
    expect(stage.server.closed).toBe(true);
    expect(stage.notices).toEqual([expect.stringContaining("quarantine")]);
  });
});
