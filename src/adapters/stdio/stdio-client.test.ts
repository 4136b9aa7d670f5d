import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ClientConnection, ClientHandler, Exchange } from "../../gateway/ports/transport.ts";
import { defaultWireLimits } from "../../wire/limits.ts";
import type { Message } from "../../wire/message.ts";
import { defaultTransportLimits } from "../net/net-limits.ts";
import { stdioClient } from "./stdio-client.ts";

// Playbooks over a real Unix socket: what the client writes, what the gateway sees, what comes back.

const limits = { ...defaultTransportLimits, halfCloseWaitMsMax: 300, outputBufferBytesMax: 400_000 };
const wire = { ...defaultWireLimits, messageBytesMax: 2_000_000 };

type Seen = { exchanges: Exchange[]; messages: Message[]; closed: string[]; abandoned: unknown[] };

let folder: string;
let client: Socket;
let server: ReturnType<typeof createServer>;
let connection: ClientConnection;
let seen: Seen;
/** What the gateway does with a request; tests replace it. */
let onRequest: (exchange: Exchange) => void;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluicegate-"));
  seen = { exchanges: [], messages: [], closed: [], abandoned: [] };
  onRequest = () => {};
  const handler: ClientHandler = {
    request(exchange) {
      seen.exchanges.push(exchange);
      exchange.onAbandoned(() => seen.abandoned.push(exchange.request.id));
      onRequest(exchange);
    },
    message: (message) => seen.messages.push(message),
    closed: (reason) => seen.closed.push(reason),
  };
  server = createServer({ allowHalfOpen: true }, (socket) => {
    const facts = { transport: "stdio", server: undefined, principal: "os:1" } as const;
    connection = stdioClient({ input: socket, output: socket }, facts, () => handler, { limits, wire });
  });
  server.listen(join(folder, "s"));
  await once(server, "listening");
  client = connect(join(folder, "s"));
  client.on("error", () => {});
  await once(client, "connect");
  await until(() => connection !== undefined);
});

afterEach(async () => {
  client.destroy();
  connection.close("test over");
  server.close();
  await rm(folder, { recursive: true });
});

async function until(condition: () => boolean): Promise<void> {
  for (let round = 0; round < 500 && !condition(); round += 1) await new Promise((done) => setTimeout(done, 5));
  expect(condition()).toBe(true);
}

function collect(): () => unknown[] {
  let text = "";
  client.setEncoding("utf8").on("data", (part: string) => (text += part));
  return () =>
    text
      .split("\n")
      .slice(0, -1)
      .map((line): unknown => JSON.parse(line));
}

const ping = (id: number | string): string => `${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`;
const echo = (exchange: Exchange): void =>
  exchange.respond({ kind: "response", id: exchange.request.id, result: { of: exchange.request.id } });

test("requests are answered on the stream, each under its own id", async () => {
  const lines = collect();
  onRequest = echo;
  client.write(ping(1) + ping("1"));
  await until(() => lines().length === 2);
  expect(lines()).toEqual([
    { jsonrpc: "2.0", id: 1, result: { of: 1 } },
    { jsonrpc: "2.0", id: "1", result: { of: "1" } },
  ]);
});

test("a second answer is ignored, and so is what is sent after the answer", async () => {
  const lines = collect();
  onRequest = (exchange) => {
    exchange.send({ kind: "notification", method: "notifications/progress", params: { progress: 1 } });
    echo(exchange);
    echo(exchange);
    exchange.send({ kind: "notification", method: "notifications/progress", params: { progress: 2 } });
  };
  client.write(ping(1) + ping(2));
  await until(() => lines().length === 4);
  expect(lines()).toMatchObject([{ params: { progress: 1 } }, { id: 1 }, { params: { progress: 1 } }, { id: 2 }]);
});

test("a malformed message is answered with the id that it carries, and the connection stays", async () => {
  const lines = collect();
  onRequest = echo;
  client.write('not json\n{"jsonrpc":"2.0","id":7,"method":"a","method":"b"}\n{"jsonrpc":"1.0","id":8,"method":"a"}\n');
  client.write(`${ping(9)}`);
  await until(() => lines().length === 4);
  expect(lines()).toMatchObject([
    { id: null, error: { code: -32700 } },
    { id: 7, error: { code: -32600 } },
    { id: 8, error: { code: -32600 } },
    { id: 9, result: {} },
  ]);
  expect(seen.closed).toEqual([]);
});

test("a malformed notification is dropped in silence, a malformed answer ends our request", async () => {
  client.write('{"jsonrpc":"2.0","method":"x","params":3}\n{"jsonrpc":"2.0","id":5,"result":3}\n');
  await until(() => seen.messages.length === 1);
  expect(seen.messages).toMatchObject([{ kind: "error", id: 5 }]);
});

test("a line over the cap is refused with its id while the next one is served", async () => {
  const lines = collect();
  onRequest = echo;
  client.write(`{"jsonrpc":"2.0","id":3,"method":"a","params":{"x":"${"y".repeat(2_100_000)}"}}\n${ping(4)}`);
  await until(() => lines().length === 2);
  expect(lines()).toMatchObject([
    { id: 3, error: { code: -32600 } },
    { id: 4, result: {} },
  ]);
});

test("an id in flight cannot be used again", async () => {
  const lines = collect();
  client.write(ping(1) + ping(1));
  await until(() => lines().length === 1);
  expect(lines()).toMatchObject([{ id: null, error: { code: -32600 } }]);
  expect(seen.exchanges).toHaveLength(1);
});

test("batches exist in 2025-03-26 only, are handled in order and answered as one array", async () => {
  const lines = collect();
  client.write(`[${ping(1).trim()}]\n`);
  await until(() => lines().length === 1);
  expect(lines()).toMatchObject([{ error: { code: -32600 } }]);

  onRequest = (exchange) =>
    exchange.respond({ kind: "response", id: exchange.request.id, result: { protocolVersion: "2025-03-26" } });
  client.write(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{}}\n`);
  await until(() => lines().length === 2);

  onRequest = () => {};
  const note = '{"jsonrpc":"2.0","method":"notifications/x"}';
  client.write(
    `[${ping(1).trim()},${note},{"jsonrpc":"2.0","id":2,"method":""},${ping(3).trim()},${ping(3).trim()}]\n`,
  );
  await until(() => seen.exchanges.length === 3);
  expect(seen.messages).toMatchObject([{ method: "notifications/x" }]);
  seen.exchanges.slice(1).reverse().forEach(echo);
  await until(() => lines().length === 3);
  expect(lines()[2]).toMatchObject([{ id: 2, error: {} }, { id: null, error: {} }, { id: 3 }, { id: 1 }]);
});

test("half-close: answers still owed are delivered, then the connection ends", async () => {
  const lines = collect();
  client.end(ping(1));
  await until(() => seen.exchanges.length === 1);
  seen.exchanges.forEach(echo);
  await until(() => lines().length === 1 && seen.closed.length === 1);
  expect(seen.closed[0]).toContain("closed its input");
  expect(seen.abandoned).toEqual([]);
});

test("half-close: nothing is owed to a request that the client cancelled", async () => {
  client.write(ping(1) + ping(2));
  await until(() => seen.exchanges.length === 2);
  client.end('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n');
  await until(() => seen.messages.length === 1);
  expect(seen.closed, "the second one is owed still").toEqual([]);
  seen.exchanges.slice(1).forEach(echo);
  const answered = performance.now();
  await until(() => seen.closed.length === 1);
  expect(performance.now() - answered).toBeLessThan(limits.halfCloseWaitMsMax / 2);
  expect(seen.abandoned).toEqual([1]);
});

test("half-close: an answer that does not come is given up after the named wait", async () => {
  client.end(ping(1));
  await until(() => seen.closed.length === 1);
  expect(seen.abandoned).toEqual([1]);
});

test("a cut connection abandons what is in flight, once", async () => {
  client.write(ping(1));
  await until(() => seen.exchanges.length === 1);
  client.destroy();
  await until(() => seen.closed.length === 1);
  expect(seen.abandoned).toEqual([1]);
  seen.exchanges.forEach(echo);
  expect(seen.closed).toHaveLength(1);
});

test("a client that does not read is not read, and memory stays bounded", async () => {
  const large = "z".repeat(100_000);
  onRequest = (exchange) => exchange.respond({ kind: "response", id: exchange.request.id, result: { large } });
  client.pause();
  for (let id = 0; id < 200; id += 1) client.write(`${ping(id).trim()}${" ".repeat(60_000)}\n`);
  await until(() => connection.drained() !== undefined);
  await new Promise((done) => setTimeout(done, 100));
  // The cap, plus the answers to one chunk of requests, plus what the kernel holds.
  expect(seen.exchanges.length).toBeLessThan(20);
  const drained = connection.drained();
  let ends = 0;
  client.on("data", (part: Buffer) => {
    for (const byte of part) if (byte === 10) ends += 1;
  });
  client.resume();
  await drained;
  await until(() => ends === 200);
  expect(seen.exchanges).toHaveLength(200);
});

test("a client that lets output grow past the hard cap is cut off", async () => {
  connection.close("replaced");
  seen.closed = [];
  const tight = { ...limits, outputBufferBytesMax: 1_000, outputBufferBytesHardMax: 50_000 };
  const { PassThrough } = await import("node:stream");
  const output = new PassThrough({ highWaterMark: 1 });
  const handler: ClientHandler = { request() {}, message() {}, closed: (reason) => seen.closed.push(reason) };
  const facts = { transport: "stdio", server: undefined, principal: "os:1" } as const;
  const stuck = stdioClient({ input: new PassThrough(), output }, facts, () => handler, { limits: tight });
  for (let id = 0; id < 100; id += 1) {
    stuck.send({ kind: "notification", method: "notifications/message", params: { data: "x".repeat(1_000) } });
  }
  expect(seen.closed).toEqual(["The client stopped reading its answers. Restart the client."]);
  expect(stuck.drained()).toBeUndefined();
});
