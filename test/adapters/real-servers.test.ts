import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { once } from "node:events";
import { createRequire } from "node:module";
import { afterEach, expect, test } from "vitest";
import { connectHttp } from "../../src/adapters/http/http-upstream.ts";
import { connectProcess } from "../../src/adapters/stdio/stdio-upstream.ts";
import { isArray, member, stringMember } from "../../src/core/json.ts";
import type { UpstreamConnection } from "../../src/gateway/ports/transport.ts";
import { isRevision } from "../../src/wire/revision.ts";
import { initialized, initializeRequest, Recorder, request } from "../kit/server/test-server.ts";

// Our connectors against an official server in each of its transports.

const everything = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");
let seen: Recorder;
let upstream: UpstreamConnection;
let child: ChildProcess | undefined;

afterEach(async () => {
  await upstream.close();
  child?.kill("SIGKILL");
});

/** Handshake, list, call, call with progress. */
async function converse(): Promise<void> {
  upstream.send(initializeRequest());
  const first = await seen.answer("init");
  const revision = first.kind === "response" ? stringMember(first.result, "protocolVersion") : undefined;
  if (!isRevision(revision)) throw new Error("no revision");
  upstream.negotiated(revision);
  upstream.send(initialized);
  upstream.send(request(1, "tools/list"));
  const list = await seen.answer(1);
  const tools = list.kind === "response" ? member(list.result, "tools") : undefined;
  expect(isArray(tools) && tools.length > 5).toBe(true);
  upstream.send(request(2, "tools/call", { name: "echo", arguments: { message: "hé" } }));
  expect(await seen.answer(2)).toMatchObject({ result: { content: [{ text: "Echo: hé" }] } });
  const slow = {
    name: "trigger-long-running-operation",
    arguments: { duration: 0.2, steps: 2 },
    _meta: { progressToken: "p" },
  };
  upstream.send(request(3, "tools/call", slow));
  await seen.answer(3);
  const progress = seen.messages.filter(
    ({ message }) => message.kind === "notification" && message.method === "notifications/progress",
  );
  expect(progress.length).toBeGreaterThan(0);
  expect(seen.reasons).toEqual([]);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function serve(mode: string): Promise<number> {
  const port = await freePort();
  child = spawn(process.execPath, [everything, mode], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr?.on("data", (part: Buffer) => (said += part.toString()));
  for (let round = 0; round < 1_000 && !/listening|running/i.test(said); round += 1)
    await new Promise((done) => setTimeout(done, 10));
  return port;
}

test("server-everything over stdio", async () => {
  seen = new Recorder();
  const env = { PATH: process.env["PATH"] ?? "" };
  upstream = connectProcess(
    { kind: "stdio", command: process.execPath, args: [everything, "stdio"], env, workingDirectory: process.cwd() },
    seen,
  );
  await converse();
});

for (const flavour of ["streamable", "auto"] as const) {
  test(`server-everything over Streamable HTTP, ${flavour}`, async () => {
    const port = await serve("streamableHttp");
    seen = new Recorder();
    upstream = connectHttp({ kind: "http", url: `http://127.0.0.1:${port}/mcp`, flavour, headers: {} }, seen);
    await converse();
  });
}

for (const flavour of ["sse", "auto"] as const) {
  test(`server-everything over HTTP+SSE, ${flavour}`, async () => {
    const port = await serve("sse");
    seen = new Recorder();
    upstream = connectHttp({ kind: "http", url: `http://127.0.0.1:${port}/sse`, flavour, headers: {} }, seen);
    await converse();
  });
}
