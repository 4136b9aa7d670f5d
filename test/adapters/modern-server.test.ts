import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { connectHttp } from "../../src/adapters/http/http-upstream.ts";
import type { UpstreamConnection } from "../../src/gateway/ports/transport.ts";
import { Recorder, request, TestServer } from "../kit/server/test-server.ts";

// Our connector against the official server of the modern era, which checks our headers against our bodies.

let server: TestServer;
let upstream: UpstreamConnection;
afterEach(async () => {
  await upstream.close();
  server.stop();
});

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
};

test("SDK 2.4 server: discover, list, call, unknown method", async () => {
  const handler = createMcpHandler(() => {
    const made = new McpServer({ name: "modern", version: "1" });
    made.registerTool("greet", { inputSchema: z.object({ name: z.string() }) }, ({ name }) => ({
      content: [{ type: "text", text: `hello ${name}` }],
    }));
    return made;
  });
  server = await new TestServer((asked, response) => {
    const headers = new Headers(
      Object.entries(asked.headers).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const body = asked.body === "" ? null : asked.body;
    void handler
      .fetch(new Request(`http://127.0.0.1${asked.path}`, { method: asked.method, headers, body }))
      .then(async (answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        response.end(Buffer.from(await answer.arrayBuffer()));
      });
  }).start();
  const seen = new Recorder();
  upstream = connectHttp({ kind: "http", url: `${server.url}/mcp`, flavour: "auto", headers: {} }, seen);
  upstream.send(request(1, "server/discover", { _meta }));
  expect(await seen.answer(1)).toMatchObject({ result: { supportedVersions: expect.arrayContaining(["2026-07-28"]) } });
  upstream.negotiated("2026-07-28");
  upstream.send(request(2, "tools/list", { _meta }));
  expect(await seen.answer(2)).toMatchObject({ result: { tools: [{ name: "greet" }] } });
  upstream.send(request(3, "tools/call", { name: "greet", arguments: { name: "Zoë" }, _meta }));
  expect(await seen.answer(3)).toMatchObject({ result: { content: [{ text: "hello Zoë" }] } });
  upstream.send(request(4, "no/such", { _meta }));
  expect(await seen.answer(4)).toMatchObject({ kind: "error", id: 4, error: { code: -32601 } });
  expect(seen.reasons).toEqual([]);
});
