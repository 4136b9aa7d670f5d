import { afterEach, expect, test } from "vitest";
import type { Json } from "../../src/core/json.ts";
import { TestGateway, until } from "./http-harness.ts";

let gateway: TestGateway;
afterEach(() => gateway.stop());

const version = "2026-07-28";
const meta = {
  "io.modelcontextprotocol/protocolVersion": version,
  "io.modelcontextprotocol/clientCapabilities": {},
};

function modern(method: string, params: Record<string, Json> = {}, id = 1): Json {
  return { jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } };
}

function headers(method: string, name?: string): Record<string, string> {
  const base = { "mcp-protocol-version": version, "mcp-method": method };
  return name === undefined ? base : { ...base, "mcp-name": name };
}

test("a request is a conversation of its own, without session", async () => {
  gateway = await new TestGateway().start();
  const answer = await gateway.post(modern("tools/list"), { ...headers("tools/list"), "mcp-session-id": "ignored" });
  expect(answer.status).toBe(200);
  expect(answer.headers["mcp-session-id"]).toBeUndefined();
  expect(await answer.json()).toMatchObject({ id: 1, result: {} });
  await until(() => gateway.closed.length === 1);
  expect(gateway.connections[0]?.facts.announcedRevision).toBe(version);
  expect((await gateway.ask({ method: "GET", headers: headers("x") })).status).toBe(405);
  expect((await gateway.ask({ method: "DELETE", headers: headers("x") })).status).toBe(405);
});

test("headers that differ from the body are refused with -32020", async () => {
  const region = [{ header: "mcp-param-region", path: ["region"], type: "string" }];
  gateway = await new TestGateway({ parametersOf: (_facts, tool) => (tool === "query" ? region : undefined) }).start();
  const call = modern("tools/call", { name: "query", arguments: { region: "eu" } });
  const good = { ...headers("tools/call", "query"), "mcp-param-region": "eu" };
  expect((await gateway.post(call, good)).status).toBe(200);
  expect((await gateway.post(call, { ...good, "mcp-param-region": "=?base64?ZXU=?=" })).status).toBe(200);
  const wrong: readonly Record<string, string>[] = [
    { ...good, "mcp-method": "tools/list" },
    { ...good, "mcp-name": "other" },
    { ...good, "mcp-param-region": "us" },
    headers("tools/call", "query"),
    { "mcp-protocol-version": version },
    { ...good, "mcp-protocol-version": "2025-11-25" },
  ];
  for (const bad of wrong) {
    const answer = await gateway.post(call, bad);
    expect([answer.status, await answer.json()]).toMatchObject([400, { id: 1, error: { code: -32020 } }]);
  }
  expect(gateway.exchanges).toHaveLength(2);
});

test("an unknown version is answered with those that exist", async () => {
  gateway = await new TestGateway().start();
  const params = { _meta: { ...meta, "io.modelcontextprotocol/protocolVersion": "2030-01-01" } };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/list", params };
  const answer = await gateway.post(body, { "mcp-protocol-version": "2030-01-01", "mcp-method": "tools/list" });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ id: 1, error: { code: -32022, data: { supported: [version] } } });
});

test("errors carry the HTTP status that the specification names", async () => {
  gateway = await new TestGateway().start();
  let code = 0;
  gateway.onRequest = (exchange) =>
    exchange.respond({ kind: "error", id: exchange.request.id, error: { code, message: "x" } });
  const expected: readonly (readonly [number, number])[] = [
    [-32601, 404],
    [-32022, 400],
    [-32021, 400],
    [-32602, 200],
    [-32010, 200],
  ];
  for (const [error, status] of expected) {
    code = error;
    expect((await gateway.post(modern("tools/list"), headers("tools/list"))).status).toBe(status);
  }
});

test("a subscription is a stream that lives until the client closes it, which cancels", async () => {
  gateway = await new TestGateway().start();
  gateway.onRequest = (exchange) =>
    exchange.send({ kind: "notification", method: "notifications/subscriptions/acknowledged", params: {} });
  const answer = await gateway.post(modern("subscriptions/listen"), headers("subscriptions/listen"));
  expect(answer.headers).toMatchObject({ "content-type": "text/event-stream", "x-accel-buffering": "no" });
  await until(() => answer.events().length === 1);
  expect(answer.events()[0]?.id).toBeUndefined();
  gateway.connections[0]?.send({ kind: "notification", method: "notifications/tools/list_changed", params: {} });
  gateway.connections[0]?.send({ kind: "request", id: 1, method: "roots/list", params: undefined });
  await until(() => answer.events().length === 2);
  answer.cut();
  await until(() => gateway.closed.length === 1);
  expect(gateway.abandoned).toEqual([1]);
});

test("notifications are accepted, responses and batches are not", async () => {
  gateway = await new TestGateway().start();
  const note = { jsonrpc: "2.0", method: "notifications/x", params: { _meta: meta } };
  expect((await gateway.post(note, { "mcp-protocol-version": version })).status).toBe(202);
  expect(gateway.messages).toMatchObject([{ kind: "notification" }]);
  const response = { jsonrpc: "2.0", id: 1, result: {} };
  expect((await gateway.post(response, { "mcp-protocol-version": version })).status).toBe(400);
  expect((await gateway.post([modern("tools/list")], headers("tools/list"))).status).toBe(400);
  expect((await gateway.post({ jsonrpc: "2.0", id: 1, method: "tools/list" }, headers("tools/list"))).status).toBe(400);
});

test("a client that hangs up before the answer has cancelled", async () => {
  gateway = await new TestGateway({ limits: { plainAnswerWaitMsMax: 20 } }).start();
  gateway.onRequest = () => {};
  const answer = await gateway.post(modern("tools/list"), headers("tools/list"));
  answer.cut();
  await until(() => gateway.abandoned.length === 1);
  gateway.exchanges[0]?.respond({ kind: "response", id: 1, result: {} });
  expect(gateway.closed).toEqual(["The client closed the connection."]);
});
