import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { err } from "../../src/core/result.ts";
import { ask, echo, initialize, jsonHeaders, TestGateway, until } from "./http-harness.ts";

let gateway: TestGateway;
afterEach(() => gateway.stop());

async function open(options: ConstructorParameters<typeof TestGateway>[0] = {}): Promise<string> {
  gateway = await new TestGateway(options).start();
  return gateway.openSession();
}

const note = { jsonrpc: "2.0", method: "notifications/initialized" };

test("a session: handshake, request, notification, end", async () => {
  const session = { "mcp-session-id": await open() };
  const answer = await gateway.post(ask(1), session);
  expect(answer.headers["content-type"]).toBe("application/json");
  expect(await answer.json()).toEqual({ jsonrpc: "2.0", id: 1, result: { echoed: "tools/list", id: 1 } });
  expect((await gateway.post(note, session)).status).toBe(202);
  expect(gateway.messages).toMatchObject([{ kind: "notification" }]);
  expect((await gateway.ask({ method: "DELETE", headers: session })).status).toBe(204);
  expect((await gateway.post(ask(2), session)).status).toBe(404);
  expect(gateway.closed).toEqual(["The client ended the session."]);
  expect(gateway.connections[0]?.facts).toMatchObject({ transport: "http", server: undefined, principal: "anyone" });
});

test("endpoints carry the upstream and the run token", async () => {
  gateway = await new TestGateway().start();
  await gateway.openSession("2025-06-18", "/r/abc.DEF-1/s/files/mcp");
  expect(gateway.connections[0]?.facts).toMatchObject({ server: "files", runToken: "abc.DEF-1" });
  expect((await gateway.post(initialize("2025-06-18"), {}, "/s/other/mcp")).status).toBe(404);
  expect((await gateway.post(initialize("2025-06-18"), {}, "/s/files/mcp/x")).status).toBe(404);
});

test("a session answers to its own endpoint and principal only", async () => {
  const session = { "mcp-session-id": await open() };
  expect((await gateway.post(ask(1), session, "/s/files/mcp")).status).toBe(404);
  expect((await gateway.post(ask(1), session, "/r/t/mcp")).status).toBe(404);
  expect((await gateway.post(ask(1), { ...session, authorization: "Bearer eve" })).status).toBe(404);
  expect((await gateway.post(ask(1))).status).toBe(400);
  expect((await gateway.post(ask(1), { "mcp-session-id": "guess" })).status).toBe(404);
});

test("foreign hosts and origins are refused before anything else", async () => {
  const session = { "mcp-session-id": await open({ hosts: ["gate.example"], origins: ["https://ok.example"] }) };
  const status = async (headers: Record<string, string>): Promise<number> =>
    (await gateway.post(ask(1), { ...session, ...headers })).status;
  expect(await status({ host: "evil.example" })).toBe(403);
  expect(await status({ host: "127.0.0.1.evil.example" })).toBe(403);
  expect(await status({ origin: "https://evil.example" })).toBe(403);
  expect(await status({ origin: "http://localhost.evil.example" })).toBe(403);
  expect(await status({ origin: "http://localhost:80@evil.example" })).toBe(403);
  expect(await status({ origin: "null" })).toBe(403);
  expect(await status({ host: "GATE.example:8080" })).toBe(200);
  expect(await status({ origin: "https://ok.example" })).toBe(200);
  expect(await status({ origin: "http://localhost:6274" })).toBe(200);
  expect(await status({ host: "[::1]:1" })).toBe(200);
});

test("a second Host, whatever it says, is 400: which of them a proxy judged is unknown", async () => {
  gateway = await new TestGateway().start();
  for (const second of ["Host: 127.0.0.1", "host: evil.example", "Origin: http://localhost\r\nOrigin: null"]) {
    const socket = connect(gateway.port, "127.0.0.1");
    socket.write(`GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n${second}\r\n\r\n`);
    const [head] = (await once(socket, "data")) as [Buffer];
    expect(head.toString()).toMatch(/^HTTP\/1\.1 400 /);
    socket.destroy();
  }
  expect(gateway.exchanges).toEqual([]);
});

test("versions: unknown is 400, one that contradicts the handshake is 400", async () => {
  const session = { "mcp-session-id": await open() };
  const status = async (version: string): Promise<number> =>
    (await gateway.post(ask(1), { ...session, "mcp-protocol-version": version })).status;
  expect(await status("2025-11-25")).toBe(200);
  expect(await status("2025-06-18")).toBe(400);
  expect(await status("1999-01-01")).toBe(400);
});

test("what is said before the answer makes it a stream, with ids to resume from", async () => {
  const session = { "mcp-session-id": await open() };
  gateway.onRequest = (exchange) => {
    exchange.send({ kind: "notification", method: "notifications/progress", params: { progress: 1 } });
    exchange.send({ kind: "request", id: "s1", method: "roots/list", params: undefined });
    exchange.respond({ kind: "response", id: exchange.request.id, result: {} });
  };
  const answer = await gateway.post(ask(1), session);
  expect(answer.headers["content-type"]).toBe("text/event-stream");
  await until(() => answer.ended);
  const events = answer.events();
  expect(events.map((event) => event.id)).toEqual(["1-1", "1-2", "1-3", "1-4"]);
  expect(events.map((event) => event.data)).toMatchObject([
    undefined,
    { params: { progress: 1 } },
    { id: "s1" },
    { id: 1 },
  ]);
});

test("B18: a client that names the stream first gets one, with the pause before a resumption; errors keep their form", async () => {
  const session = { "mcp-session-id": await open(), accept: "text/event-stream, application/json" };
  const answer = await gateway.post(ask(1), session);
  expect(answer.headers["content-type"]).toBe("text/event-stream");
  expect(await answer.text()).toMatch(/^retry: 1000\nid: 1-1\ndata: \n\nevent: message\nid: 1-2\ndata: \{/);
  gateway.onRequest = (exchange) =>
    exchange.respond({ kind: "error", id: exchange.request.id, error: { code: -32602, message: "no" } });
  expect((await gateway.post(ask(2), session)).headers["content-type"]).toBe("application/json");
});

test("B18: a place after which messages had to go is refused, and no gap is shown as whole", async () => {
  const session = { "mcp-session-id": await open({ limits: { resumeEventsMax: 3 } }) };
  gateway.onRequest = (exchange) =>
    exchange.send({ kind: "notification", method: "notifications/progress", params: { progress: 1 } });
  const first = await gateway.post(ask(1), session);
  await until(() => first.events().length === 2);
  const last = first.events().at(-1)?.id ?? "";
  first.cut();
  const exchange = gateway.exchanges.at(-1);
  for (let progress = 2; progress < 9; progress += 1) {
    exchange?.send({ kind: "notification", method: "notifications/progress", params: { progress } });
  }
  const from = (id: string) =>
    gateway.ask({ method: "GET", headers: { ...session, accept: "text/event-stream", "last-event-id": id } });
  const refused = await from(last);
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain("no longer kept");
  expect((await from("1-6")).status).toBe(200);
});

test("an answer that takes long becomes a stream; a client that takes only JSON waits", async () => {
  const session = { "mcp-session-id": await open({ limits: { plainAnswerWaitMsMax: 50, streamCommentMs: 30 } }) };
  gateway.onRequest = () => {};
  const streamed = await gateway.post(ask(1), session);
  expect(streamed.headers["content-type"]).toBe("text/event-stream");
  const waiting = gateway.post(ask(2), { ...session, accept: "application/json" });
  await new Promise((done) => setTimeout(done, 120));
  for (const exchange of gateway.exchanges.slice(1)) {
    exchange.send({ kind: "notification", method: "notifications/progress", params: {} });
    exchange.respond({ kind: "response", id: exchange.request.id, result: {} });
  }
  expect((await waiting).headers["content-type"]).toBe("application/json");
  expect(await streamed.text()).toContain(":\n");
});

test("a client that takes only streams gets one, one that takes neither is told", async () => {
  const session = { "mcp-session-id": await open() };
  const answer = await gateway.post(ask(1), { ...session, accept: "text/event-stream" });
  await until(() => answer.ended);
  expect(answer.events().at(-1)?.data).toMatchObject({ id: 1 });
  expect((await gateway.post(ask(1), { ...session, accept: "text/html" })).status).toBe(406);
  expect((await gateway.post(ask(1), { ...session, "content-type": "text/plain" })).status).toBe(415);
  expect((await gateway.post(ask(1), { ...session, "content-encoding": "gzip" })).status).toBe(415);
});

test("a cut stream is no cancellation: the client resumes it and misses nothing", async () => {
  const session = { "mcp-session-id": await open() };
  gateway.onRequest = (exchange) =>
    exchange.send({ kind: "notification", method: "notifications/progress", params: { progress: 1 } });
  const first = await gateway.post(ask(1), session);
  await until(() => first.events().length === 2);
  const last = first.events().at(-1)?.id ?? "";
  first.cut();
  await new Promise((done) => setTimeout(done, 50));
  const exchange = gateway.exchanges.at(-1);
  exchange?.send({ kind: "notification", method: "notifications/progress", params: { progress: 2 } });
  const again = await gateway.ask({
    method: "GET",
    headers: { ...session, accept: "text/event-stream", "last-event-id": last },
  });
  await until(() => again.events().length === 1);
  exchange?.respond({ kind: "response", id: 1, result: { done: true } });
  await until(() => again.ended);
  expect(again.events().map((event) => event.data)).toMatchObject([
    { params: { progress: 2 } },
    { id: 1, result: { done: true } },
  ]);
  // A stream that is over can be fetched again, from any place; the place of another session cannot.
  const late = await gateway.ask({
    method: "GET",
    headers: { ...session, accept: "text/event-stream", "last-event-id": last },
  });
  await until(() => late.ended);
  expect(late.events()).toHaveLength(2);
  const wrong = { ...session, accept: "text/event-stream", "last-event-id": "99-1" };
  expect((await gateway.ask({ method: "GET", headers: wrong })).status).toBe(400);
  expect(gateway.abandoned).toEqual([]);
});

test("the GET stream carries what belongs to no request, and what came before it was opened", async () => {
  const session = { "mcp-session-id": await open() };
  const listChanged = { kind: "notification", method: "notifications/tools/list_changed", params: undefined } as const;
  gateway.connections[0]?.send(listChanged);
  const headers = { ...session, accept: "text/event-stream" };
  const stream = await gateway.ask({ method: "GET", headers });
  await until(() => stream.events().length === 1);
  expect((await gateway.ask({ method: "GET", headers })).status).toBe(409);
  gateway.connections[0]?.send(listChanged);
  await until(() => stream.events().length === 2);
  stream.cut();
  await new Promise((done) => setTimeout(done, 50));
  const next = await gateway.ask({ method: "GET", headers });
  gateway.connections[0]?.send(listChanged);
  await until(() => next.events().length === 1);
  expect((await gateway.ask({ method: "GET", headers: { ...session, accept: "application/json" } })).status).toBe(406);
});

test("batches: 2025-03-26 only, answered as one array or on one stream", async () => {
  gateway = await new TestGateway().start();
  const old = { "mcp-session-id": await gateway.openSession("2025-03-26") };
  const plain = await gateway.post([ask(1), note, ask(2), { jsonrpc: "2.0", id: 3, method: "" }], old);
  expect(await plain.json()).toMatchObject([{ id: 3, error: {} }, { id: 1 }, { id: 2 }]);
  expect((await gateway.post([note, note], old)).status).toBe(202);
  expect((await gateway.post([ask(1), ask(1)], old)).status).toBe(200);
  gateway.onRequest = (exchange) => {
    if (exchange.request.id === 5)
      exchange.send({ kind: "notification", method: "notifications/progress", params: {} });
    exchange.respond({ kind: "response", id: exchange.request.id, result: {} });
  };
  const streamed = await gateway.post([ask(4), ask(5)], old);
  await until(() => streamed.ended);
  expect(streamed.events().map((event) => event.data)).toMatchObject([
    { id: 4 },
    { method: "notifications/progress" },
    { id: 5 },
  ]);
  gateway.onRequest = echo;
  const newer = { "mcp-session-id": await gateway.openSession("2025-06-18") };
  expect((await gateway.post([ask(1)], newer)).status).toBe(400);
});

test("malformed messages are answered with 400 and the id that they carry", async () => {
  const session = { "mcp-session-id": await open() };
  const bad = await gateway.ask({
    headers: { ...jsonHeaders, ...session },
    body: '{"jsonrpc":"2.0","id":4,"method":"a","Method":"b"}',
  });
  expect(bad.status).toBe(400);
  expect(await bad.json()).toMatchObject({ id: 4, error: { code: -32600 } });
  const junk = await gateway.ask({ headers: { ...jsonHeaders, ...session }, body: "junk" });
  expect(await junk.json()).toMatchObject({ id: null, error: { code: -32700 } });
  await gateway.ask({ headers: { ...jsonHeaders, ...session }, body: '{"jsonrpc":"2.0","id":"s1","result":5}' });
  expect(gateway.messages).toMatchObject([{ kind: "error", id: "s1" }]);
});

test("large bodies, many headers and slow requests are cut off", async () => {
  const limits = { bodyBytesMax: 10_000, headersWaitMsMax: 300, requestWaitMsMax: 600 };
  const session = { "mcp-session-id": await open({ limits }) };
  const large = JSON.stringify(ask(1, "x", { text: "y".repeat(20_000) }));
  const chunked = { ...jsonHeaders, ...session, "transfer-encoding": "chunked" };
  expect((await gateway.ask({ headers: { ...jsonHeaders, ...session }, body: large })).status).toBe(413);
  expect((await gateway.ask({ headers: chunked, body: large })).status).toBe(413);
  expect((await gateway.post(ask(1), { ...session, long: "z".repeat(20_000) })).status).toBe(431);
  const socket = connect(gateway.port, "127.0.0.1");
  let heard = "";
  socket.on("data", (part) => (heard += part.toString()));
  socket.on("error", () => {});
  socket.write("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ");
  await until(() => socket.destroyed);
  expect(heard).toContain("408");
});

test("a client that does not read its stream makes `drained` wait", async () => {
  const session = { "mcp-session-id": await open({ limits: { outputBufferBytesMax: 100_000 } }) };
  gateway.onRequest = () => {};
  const pending = gateway.post(ask(1), session);
  await until(() => gateway.exchanges.length === 2);
  const exchange = gateway.exchanges[1];
  const data = "x".repeat(100_000);
  exchange?.send({ kind: "notification", method: "notifications/message", params: { data } });
  const answer = await pending;
  answer.pause();
  const connection = gateway.connections[0];
  for (let round = 0; round < 200 && connection?.drained() === undefined; round += 1) {
    exchange?.send({ kind: "notification", method: "notifications/message", params: { data } });
    await new Promise((done) => setTimeout(done, 2));
  }
  const drained = connection?.drained();
  expect(drained).toBeInstanceOf(Promise);
  answer.resume();
  await drained;
  exchange?.respond({ kind: "response", id: 1, result: {} });
  await until(() => answer.ended);
});

test("requests without identity get a 401 with a challenge; other routes are a table", async () => {
  gateway = await new TestGateway({
    authenticate: (facts) =>
      facts.bearerToken === "t"
        ? { ok: true, value: { principal: "ann", runToken: "run1" } }
        : err({ status: 401, text: "Send a bearer token.", challenge: "Bearer" }),
    routes: [
      { method: "GET", path: "/healthz", open: true, handle: () => ({ status: 200, body: "ok" }) },
      {
        method: "POST",
        path: "/runs",
        open: false,
        handle: ({ identity, body, query }) => ({
          status: 201,
          body: `${identity?.principal} ${body.length} ${query}`,
        }),
      },
    ],
  }).start();
  const refused = await gateway.post(initialize("2025-06-18"));
  expect([refused.status, refused.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
  expect(await (await gateway.ask({ method: "GET", path: "/healthz" })).text()).toBe("ok");
  expect((await gateway.ask({ method: "PUT", path: "/healthz" })).headers["allow"]).toBe("GET");
  expect((await gateway.ask({ path: "/runs", body: "{}" })).status).toBe(401);
  const made = await gateway.ask({ path: "/runs?a=b", body: "{}", headers: { authorization: "Bearer t" } });
  expect([made.status, await made.text()]).toEqual([201, "ann 2 a=b"]);
  const nothing = await gateway.ask({ method: "GET", path: "/nothing" });
  expect([nothing.status, await nothing.text()]).toEqual([404, expect.stringContaining("/s/SERVER/mcp")]);
  await gateway.post(initialize("2025-06-18"), { authorization: "Bearer t" });
  expect(gateway.connections[0]?.facts).toMatchObject({ principal: "ann", runToken: "run1" });
});

test("sessions are capped, and a handshake that fails leaves none", async () => {
  gateway = await new TestGateway({ limits: { sessionsMax: 2 } }).start();
  await gateway.openSession();
  gateway.onRequest = (exchange) =>
    exchange.respond({ kind: "error", id: exchange.request.id, error: { code: -32602, message: "no" } });
  const failed = await gateway.post(initialize("2025-06-18"));
  expect(failed.headers["mcp-session-id"]).toBeUndefined();
  await until(() => gateway.closed.length === 1);
  gateway.onRequest = () => {};
  void gateway.post(initialize("2025-06-18")).catch(() => {});
  await until(() => gateway.connections.length === 3);
  void gateway.post(initialize("2025-06-18")).catch(() => {});
  await until(() => gateway.connections.length === 4);
  // The idle one made room; both that are left wait for an answer and stay.
  expect(gateway.closed).toEqual(["The handshake failed.", "The session made room for a new one."]);
  expect((await gateway.post(initialize("2025-06-18"))).status).toBe(503);
});

test("a user who opens sessions without end pushes out his own, and nobody else's", async () => {
  gateway = await new TestGateway({ limits: { sessionsMax: 3 } }).start();
  gateway.onRequest = (exchange) => {
    const result = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "s", version: "1" } };
    exchange.respond({ kind: "response", id: exchange.request.id, result });
  };
  const as = { honest: { authorization: "Bearer honest" }, greedy: { authorization: "Bearer greedy" } };
  const opened = await gateway.post(initialize("2025-06-18"), as.honest);
  const kept = String(opened.headers["mcp-session-id"]);
  for (let session = 0; session < 6; session += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await gateway.post(initialize("2025-06-18"), as.greedy)).status).toBe(200);
  }
  expect(gateway.closed).toHaveLength(4);
  gateway.onRequest = echo;
  expect((await gateway.post(ask(1), { ...as.honest, "mcp-session-id": kept })).status).toBe(200);
});

test("a handshake that nobody waits for any more leaves no session, and no server, behind", async () => {
  gateway = await new TestGateway().start();
  gateway.onRequest = () => {};
  const outgoing = connect(gateway.port, "127.0.0.1");
  const body = JSON.stringify(initialize("2025-11-25"));
  const head = Object.entries({ host: "127.0.0.1", ...jsonHeaders, "content-length": String(body.length) });
  outgoing.write(`POST /mcp HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body}`);
  await until(() => gateway.exchanges.length === 1);
  outgoing.destroy();
  await until(() => gateway.closed.length === 1);
  expect(gateway.closed).toEqual(["The client went away before the handshake ended."]);
  expect(gateway.abandoned).toEqual(["init"]);
});

test("a session that only the server still works on makes room for a new one", async () => {
  const session = { "mcp-session-id": await open({ limits: { sessionsMax: 1, plainAnswerWaitMsMax: 1 } }) };
  gateway.onRequest = () => {};
  const waiting = await gateway.post(ask(1), session);
  expect((await gateway.post(initialize("2025-11-25"))).status).toBe(503);
  waiting.cut();
  await new Promise((resolve) => setTimeout(resolve, 50));
  gateway.onRequest = echo;
  expect((await gateway.post(initialize("2025-11-25"))).status).toBe(200);
  expect(gateway.closed).toEqual(["The session made room for a new one."]);
});

test("close ends sessions, streams and requests in flight", async () => {
  const session = { "mcp-session-id": await open({ limits: { closeWaitMsMax: 100 } }) };
  gateway.onRequest = () => {};
  const stream = await gateway.ask({ method: "GET", headers: { ...session, accept: "text/event-stream" } });
  const lost = gateway.post(ask(1), session).catch(() => "cut");
  await until(() => gateway.exchanges.length === 2);
  await gateway.stop();
  await until(() => stream.ended);
  expect(await lost).toBe("cut");
  expect(gateway.abandoned).toEqual([1]);
  expect(gateway.closed).toEqual(["The gateway is shutting down."]);
});
