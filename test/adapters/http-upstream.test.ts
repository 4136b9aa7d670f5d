import { afterEach, expect, test } from "vitest";
import { connectHttp, type HttpTarget, type HttpUpstreamOptions } from "../../src/adapters/http/http-upstream.ts";
import type { UpstreamConnection } from "../../src/gateway/ports/transport.ts";
import { until } from "./http-harness.ts";
import {
  initialized,
  initializeRequest,
  json,
  Recorder,
  request,
  sse,
  TestServer,
  idOf,
  answerTo,
  shakeHands,
} from "../kit/server/test-server.ts";

let server: TestServer;
let seen: Recorder;
let upstream: UpstreamConnection;
afterEach(async () => {
  await upstream?.close();
  server?.stop();
});

const limits = { resumeDelayMsMin: 10, resumeDelayMsMax: 50, answerWaitMsMax: 1_000, endpointWaitMsMax: 300 };

function connect(
  flavour: HttpTarget["flavour"] = "auto",
  more: Partial<HttpTarget> = {},
  options: HttpUpstreamOptions = {},
): void {
  seen = new Recorder();
  upstream = connectHttp({ kind: "http", url: `${server.url}/mcp`, flavour, headers: {}, ...more }, seen, {
    limits,
    ...options,
  });
}

const handshake = (): Promise<void> => shakeHands(upstream, seen);

test("legacy: session id and version on everything after the handshake, GET stream, DELETE at the end", async () => {
  server = await new TestServer((asked, response) => {
    if (asked.method === "GET")
      sse(response).write('id: g1\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n');
    else if (asked.body.includes('"id"')) json(response, answerTo(asked), { "mcp-session-id": "s-1" });
    else response.writeHead(202).end();
  }).start();
  connect("auto", { headers: { authorization: "Bearer secret" } });
  await handshake();
  upstream.send(request(1, "tools/list"));
  await seen.answer(1);
  await until(() => seen.messages.some(({ message }) => message.kind === "notification"));
  await upstream.close();
  const heads = server.asked.map(({ method, headers }) => [
    method,
    headers["mcp-session-id"],
    headers["mcp-protocol-version"],
    headers["authorization"],
  ]);
  expect(heads[0]).toEqual(["POST", undefined, undefined, "Bearer secret"]);
  expect(heads[1]).toEqual(["POST", "s-1", "2025-11-25", "Bearer secret"]);
  expect(heads.map(([method]) => method)).toEqual(expect.arrayContaining(["DELETE", "GET"]));
  expect(heads).toHaveLength(5);
  expect(new Set(heads.slice(1).map(([, session]) => session))).toEqual(new Set(["s-1"]));
  expect(seen.reasons).toEqual(["The connection was closed by the gateway."]);
});

test("what is sent before the handshake has ended waits for its end", async () => {
  server = await new TestServer((asked, response) => {
    const slow = asked.body.includes("initialize") ? 50 : 0;
    setTimeout(
      () =>
        asked.body.includes('"id"')
          ? json(response, answerTo(asked), { "mcp-session-id": "s" })
          : response.writeHead(202).end(),
      slow,
    );
  }).start();
  connect("streamable");
  upstream.send(initializeRequest());
  upstream.send(initialized);
  upstream.send(request(1, "tools/list"));
  await seen.answer(1);
  expect(server.asked.map(({ body }) => (JSON.parse(body) as { method: string }).method)).toEqual([
    "initialize",
    "notifications/initialized",
    "tools/list",
  ]);
  expect(server.asked[2]?.headers["mcp-session-id"]).toBe("s");
});

test("a stream answers with what belongs to the request, then with the answer", async () => {
  server = await new TestServer((asked, response) => {
    if (asked.method === "GET") return void response.writeHead(405).end();
    if (idOf(asked) === "init") return json(response, answerTo(asked));
    sse(response).write('data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}\n\n');
    response.end(`event: message\r\ndata: ${JSON.stringify(answerTo(asked))}\r\n\r\n`);
  }).start();
  connect();
  await handshake();
  upstream.send(request(1, "tools/call", { name: "x" }));
  await seen.answer(1);
  expect(seen.messages.slice(1)).toMatchObject([
    { message: { method: "notifications/progress" }, relatedTo: 1 },
    { message: { id: 1 }, relatedTo: 1 },
  ]);
});

test("a cut stream is fetched again from its last event; without an id the request is lost", async () => {
  let gets = 0;
  server = await new TestServer((asked, response) => {
    if (asked.method === "GET") {
      if (asked.headers["last-event-id"] === undefined) return void response.writeHead(405).end();
      gets += 1;
      if (gets === 1) return void sse(response).end("id: e2\ndata:\n\n");
      return void sse(response).end('data: {"jsonrpc":"2.0","id":1,"result":{"late":true}}\n\n');
    }
    if (idOf(asked) === "init") return json(response, answerTo(asked), { "mcp-session-id": "s" });
    if (idOf(asked) === undefined) return void response.writeHead(202).end();
    sse(response).end(idOf(asked) === 1 ? "retry: 20\nid: e1\ndata: \n\n" : "data: {}\n");
  }).start();
  connect();
  await handshake();
  upstream.send(request(1, "tools/call"));
  expect(await seen.answer(1)).toMatchObject({ result: { late: true } });
  expect(server.asked.filter(({ method }) => method === "GET").map(({ headers }) => headers["last-event-id"])).toEqual([
    undefined,
    "e1",
    "e2",
  ]);
  upstream.send(request(2, "tools/call"));
  await until(() => seen.losses.length === 1);
  expect(seen.losses).toMatchObject([{ id: 2 }]);
  expect(seen.reasons).toEqual([]);
});

test("modern: headers come from the body, with the parameters that the tool's schema names", async () => {
  const inputSchema = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } };
  server = await new TestServer((asked, response) => {
    if (asked.body.includes("tools/list"))
      return json(response, { jsonrpc: "2.0", id: idOf(asked), result: { tools: [{ name: "q", inputSchema }] } });
    json(response, answerTo(asked));
  }).start();
  connect("streamable");
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  upstream.send(request(1, "tools/list", { _meta }));
  await seen.answer(1);
  upstream.negotiated("2026-07-28");
  upstream.send(request(2, "tools/call", { name: "q", arguments: { region: "eü" }, _meta }));
  await seen.answer(2);
  expect(server.asked[1]?.headers).toMatchObject({
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "q",
    "mcp-param-region": "=?base64?ZcO8?=",
  });
  upstream.send(request(3, "tools/call", { name: "q", arguments: { region: ["x"] }, _meta }));
  expect(await seen.answer(3)).toMatchObject({ kind: "error" });
  expect(server.asked).toHaveLength(2);
});

test("modern: a subscription stays open beside other requests; giving it up closes its stream", async () => {
  let closed = false;
  server = await new TestServer((asked, response) => {
    if (!asked.body.includes("subscriptions")) return json(response, answerTo(asked));
    sse(response).write('data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}\n\n');
    response.on("close", () => (closed = true));
  }).start();
  connect("streamable");
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  upstream.send(request("sub", "subscriptions/listen", { _meta }));
  await until(() => seen.messages.length === 1);
  upstream.send(request(2, "tools/list", { _meta }));
  await seen.answer(2);
  expect(seen.messages[0]).toMatchObject({ relatedTo: "sub" });
  upstream.abandon("sub");
  await until(() => closed);
  expect(seen.losses).toEqual([]);
});

test("auto: a server of 2024-11-05 is found by its event stream", async () => {
  let stream: import("node:http").ServerResponse | undefined;
  server = await new TestServer((asked, response) => {
    if (asked.method === "GET") {
      stream = sse(response);
      stream.write("event: endpoint\ndata: /messages?s=1\n\n");
    } else if (asked.path === "/messages?s=1") {
      response.writeHead(202).end("Accepted");
      if (idOf(asked) !== undefined) stream?.write(`event: message\ndata: ${JSON.stringify(answerTo(asked))}\n\n`);
    } else response.writeHead(404).end("Cannot POST /mcp");
  }).start();
  connect("auto");
  upstream.send(initializeRequest("2024-11-05"));
  upstream.send(initialized);
  upstream.send(request(1, "tools/list"));
  await seen.answer("init");
  await seen.answer(1);
  expect(server.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "POST /mcp",
    "GET /mcp",
    "POST /messages?s=1",
    "POST /messages?s=1",
    "POST /messages?s=1",
  ]);
  stream?.end();
  await until(() => seen.reasons.length === 1);
  expect(seen.reasons[0]).toContain("closed its event stream");
});

test("auto: a modern error is an answer, not a reason to fall back", async () => {
  server = await new TestServer((asked, response) =>
    json(
      response,
      {
        jsonrpc: "2.0",
        id: idOf(asked),
        error: { code: -32022, message: "Unsupported", data: { supported: ["2026-07-28"] } },
      },
      {},
      400,
    ),
  ).start();
  connect("auto");
  upstream.send(request(1, "server/discover"));
  expect(await seen.answer(1)).toMatchObject({ error: { code: -32022, data: { supported: ["2026-07-28"] } } });
  expect(server.asked).toHaveLength(1);
});

test("auto: where no older transport is found, the first refusal is the answer", async () => {
  server = await new TestServer((asked, response) => {
    if (asked.method === "GET") response.writeHead(405).end();
    else json(response, { jsonrpc: "2.0", id: null, error: { code: -32600, message: "no session" } }, {}, 400);
  }).start();
  connect("auto");
  upstream.send(request(1, "server/discover"));
  expect(await seen.answer(1)).toMatchObject({ kind: "error", id: 1, error: { code: -32600 } });
});

test("an endpoint at another origin is refused", async () => {
  server = await new TestServer(
    (_asked, response) => void sse(response).write("event: endpoint\ndata: http://evil.example/m\n\n"),
  ).start();
  connect("sse");
  upstream.send(initializeRequest());
  await until(() => seen.reasons.length === 1);
  expect(seen.reasons[0]).toContain("another address");
});

test("an event stream that names no endpoint is given up after the named wait", async () => {
  server = await new TestServer((_asked, response) => void sse(response).write(": hello\n\n")).start();
  connect("sse");
  await until(() => seen.reasons.length === 1);
  expect(seen.reasons[0]).toContain("named no endpoint in time");
});

test("a session that the server forgot ends the connection as session lost", async () => {
  server = await new TestServer((asked, response) => {
    if (idOf(asked) === "init") json(response, answerTo(asked), { "mcp-session-id": "s" });
    else response.writeHead(404).end();
  }).start();
  connect();
  await handshake();
  await until(() => seen.reasons.length === 1);
  expect(seen.reasons[0]).toMatch(/^session lost/);
});

test("refused credentials name the server and the remedy, never the secret", async () => {
  server = await new TestServer((asked, response) => {
    if (idOf(asked) === "init") json(response, answerTo(asked));
    else response.writeHead(401, { "www-authenticate": "Bearer" }).end();
  }).start();
  connect("auto", { headers: { authorization: "Bearer topsecret" } });
  await handshake();
  upstream.send(request(1, "tools/list"));
  const answer = await seen.answer(1);
  expect(JSON.stringify(answer)).toContain("refused the gateway's credentials (401)");
  expect(JSON.stringify(answer)).not.toContain("topsecret");
  expect(seen.reasons).toEqual([]);
  await upstream.close();
  server.stop();
  server = await new TestServer((_asked, response) => void response.writeHead(403).end()).start();
  connect();
  upstream.send(initializeRequest());
  await until(() => seen.reasons.length === 1);
  expect(seen.reasons[0]).toContain("credentials (403)");
});

test("redirects stay within the origin", async () => {
  server = await new TestServer((asked, response) => {
    if (asked.path === "/mcp")
      response.writeHead(307, { location: asked.body.includes("away") ? "http://evil.example/" : "/moved" }).end();
    else json(response, answerTo(asked));
  }).start();
  connect("streamable");
  upstream.send(request(1, "ping"));
  expect(await seen.answer(1)).toMatchObject({ kind: "response" });
  upstream.send(request(2, "away"));
  expect(JSON.stringify(await seen.answer(2))).toContain("redirects to another address");
});

test("answers over the cap, silence and server faults are lost, the connection goes on", async () => {
  server = await new TestServer((asked, response) => {
    const id = idOf(asked);
    if (id === 1) json(response, { jsonrpc: "2.0", id, result: { x: "y".repeat(200_000) } });
    else if (id === 2)
      sse(response).end(
        `data: {"jsonrpc":"2.0","id":2,"result":{"x":"${"y".repeat(200_000)}"}}\n\ndata: {"jsonrpc":"2.0","method":"n"}\n\n`,
      );
    else if (id === 3) response.writeHead(500).end();
    else if (id === 4) setTimeout(() => response.destroy(), 20);
    else if (id !== 5) json(response, answerTo(asked));
  }).start();
  const { defaultWireLimits } = await import("../../src/wire/limits.ts");
  connect(
    "streamable",
    {},
    { limits: { ...limits, answerWaitMsMax: 300 }, wire: { ...defaultWireLimits, messageBytesMax: 100_000 } },
  );
  upstream.send(request("init", "ping"));
  await seen.answer("init");
  for (const id of [1, 2, 3, 4, 5]) upstream.send(request(id, "x"));
  await until(() => seen.losses.length === 4);
  expect(new Set(seen.losses.map(({ id }) => id))).toEqual(new Set([1, 3, 4, 5]));
  expect(await seen.answer(2)).toMatchObject({ kind: "error", id: 2 });
  expect(seen.reasons).toEqual([]);
});

test("a slow client holds the server back", async () => {
  let drained = false;
  server = await new TestServer((asked, response) => {
    if (idOf(asked) === "init") return json(response, answerTo(asked));
    sse(response);
    const part = `data: {"jsonrpc":"2.0","method":"n","params":{"x":"${"y".repeat(60_000)}"}}\n\n`;
    for (let round = 0; round < 300; round += 1) response.write(part);
    response.end(`data: ${JSON.stringify(answerTo(asked))}\n\n`, () => (drained = true));
  }).start();
  connect("streamable");
  upstream.send(request("init", "ping"));
  await seen.answer("init");
  upstream.pause();
  upstream.send(request(1, "x"));
  await new Promise((done) => setTimeout(done, 300));
  expect(drained).toBe(false);
  expect(seen.messages.length).toBeLessThan(10);
  upstream.resume();
  await seen.answer(1);
  expect(seen.messages).toHaveLength(302);
});

const badTargets: readonly (readonly [Partial<HttpTarget>, string])[] = [
  [{ url: "ftp://x" }, "not an https or http URL"],
  [{ url: "nonsense" }, "not an https or http URL"],
  [{ url: "https://u:p@x.example/mcp" }, "holds a password"],
  [{ url: "http://x.example/mcp", headers: { authorization: "Bearer s3cret" } }, "unencrypted"],
  [{ url: "https://x.example/mcp", headers: { "Mcp-Session-Id": "1" } }, "set by the gateway"],
  [{ url: "http://127.0.0.1:1/mcp" }, "Nothing listens"],
];
for (const [more, words] of badTargets) {
  test(`failed connect: ${words} (${more.url})`, async () => {
    seen = new Recorder();
    upstream = connectHttp({ kind: "http", flavour: "auto", headers: {}, url: "", ...more }, seen, { limits });
    expect(seen.reasons).toEqual([]);
    upstream.send(initializeRequest());
    await until(() => seen.reasons.length === 1);
    expect(seen.reasons[0]).toContain(words);
    expect(seen.reasons[0]).not.toContain("s3cret");
    expect(seen.reasons[0]?.length).toBeLessThanOrEqual(240);
  });
}
