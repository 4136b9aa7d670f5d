// B18: answers of HTTP servers that are none, and streams that are cut.
import { afterEach, expect, test } from "vitest";
import { connectHttp, type HttpTarget, type HttpUpstreamOptions } from "../../src/adapters/http/http-upstream.ts";
import type { UpstreamConnection } from "../../src/gateway/ports/transport.ts";
import { until } from "./http-harness.ts";
import { json, Recorder, request, sse, TestServer, idOf, answerTo, shakeHands } from "../kit/server/test-server.ts";

let server: TestServer;
let seen: Recorder;
let upstream: UpstreamConnection;
afterEach(async () => {
  await upstream?.close();
  server?.stop();
});

const limits = { resumeDelayMsMin: 10, resumeDelayMsMax: 50, answerWaitMsMax: 60_000, endpointWaitMsMax: 300 };

function connect(flavour: HttpTarget["flavour"], options: HttpUpstreamOptions = {}): void {
  seen = new Recorder();
  const target = { kind: "http", url: `${server.url}/mcp`, flavour, headers: {} } as const;
  upstream = connectHttp(target, seen, { limits, ...options });
}

const note = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}';
const late = '{"jsonrpc":"2.0","id":1,"result":{"late":true}}';

const handshake = (): Promise<void> => shakeHands(upstream, seen);

test.each<[string, { type?: string; status?: number; body?: string; open?: boolean }, RegExp]>([
  ["a web page", { type: "text/html", body: "<p>Hello" }, /the content type `text\/html`, which is neither/],
  ["no type", { body: "{}" }, /no content type/],
  ["202 and nothing", { status: 202 }, /will not answer it/],
  ["a stream of lines", { type: "application/json", body: `${note}\n`, open: true }, /is no event stream/],
  ["lines at once", { type: "application/json", body: `${note}\n${late}\n` }, /is no event stream/],
  ["an answer and more", { type: "application/json", body: `${late}\n${note}\n`, open: true }, /is no event stream/],
  ["a broken body", { type: "application/json", body: '{"jsonrpc"' }, /./],
  [
    "the answer to another request",
    { type: "application/json", body: late.replace("1", "77") },
    /none to this request/,
  ],
])("B18: %s in place of an answer is told at once, with its reason", async (_what, given, reason) => {
  server = await new TestServer((asked, response) => {
    if (asked.method === "GET") return void response.writeHead(405).end();
    if (idOf(asked) === "init") return json(response, answerTo(asked));
    if (idOf(asked) === undefined) return void response.writeHead(202).end();
    response.writeHead(given.status ?? 200, given.type === undefined ? {} : { "content-type": given.type });
    response.write(given.body ?? "");
    if (given.open !== true) response.end();
  }).start();
  connect("streamable");
  await handshake();
  upstream.send(request(1, "tools/call"));
  await until(() => seen.losses.length === 1, 2_000);
  expect(seen.losses[0]?.reason).toMatch(reason);
});

test("B18: JSON over several lines and parts is one answer, whenever it ends", async () => {
  server = await new TestServer((asked, response) => {
    if (asked.method === "GET") return void response.writeHead(405).end();
    if (idOf(asked) !== 1) return json(response, answerTo(asked));
    response.writeHead(200, { "content-type": "application/json" });
    response.write('{\n "jsonrpc": "2.0",\n');
    setTimeout(() => response.end(' "id": 1,\n "result": {"ok": true}\n}\n'), 50);
  }).start();
  connect("streamable");
  await handshake();
  upstream.send(request(1, "tools/call"));
  expect(await seen.answer(1)).toMatchObject({ result: { ok: true } });
});

test("B18: a resumption that fails for a moment is tried again, and one that is given up ends", async () => {
  let gets = 0;
  server = await new TestServer((asked, response) => {
    if (asked.method === "GET") {
      if (asked.headers["last-event-id"] === undefined) return void response.writeHead(405).end();
      gets += 1;
      if (gets === 1) return void response.destroy();
      if (gets === 2) return void response.writeHead(503).end();
      if (asked.headers["last-event-id"] === "e1") return void sse(response).end(`data: ${late}\n\n`);
      return void sse(response);
    }
    if (idOf(asked) === "init") return json(response, answerTo(asked), { "mcp-session-id": "s" });
    if (idOf(asked) === undefined) return void response.writeHead(202).end();
    sse(response).end(`retry: 0\nid: e${String(idOf(asked))}\ndata: \n\n`);
  }).start();
  connect("auto");
  await handshake();
  upstream.send(request(1, "tools/call"));
  expect(await seen.answer(1)).toMatchObject({ result: { late: true } });
  upstream.send(request(2, "tools/call"));
  await until(() => gets === 4);
  upstream.abandon(2);
  await new Promise((done) => setTimeout(done, 50));
  expect(gets).toBe(4);
  expect(seen.losses).toEqual([]);
});

test("B18: a pause of nothing is not taken at its word, and a modern stream is not resumed", async () => {
  let gets = 0;
  server = await new TestServer((asked, response) => {
    if (asked.method === "GET") {
      if (asked.headers["last-event-id"] === undefined) return void response.writeHead(405).end();
      gets += 1;
      return void sse(response).end(`retry: 0\nid: more-${gets}\ndata: \n\n`);
    }
    if (idOf(asked) === "init") return json(response, answerTo(asked), { "mcp-session-id": "s" });
    if (idOf(asked) === undefined) return void response.writeHead(202).end();
    sse(response).end("retry: 0\nid: e1\ndata: \n\n");
  }).start();
  connect("auto", { limits: { ...limits, resumeDelayMsMin: 100, retryMsMin: 100, resumeDelayMsMax: 200 } });
  await handshake();
  upstream.send(request(1, "tools/call"));
  await new Promise((done) => setTimeout(done, 450));
  expect(gets).toBeGreaterThan(1);
  expect(gets).toBeLessThan(6);
  upstream.abandon(1);
  upstream.negotiated("2026-07-28");
  upstream.send(request(2, "tools/call"));
  await until(() => seen.losses.length === 1);
});
