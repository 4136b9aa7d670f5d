import { Client as ClientV2, StreamableHTTPClientTransport as TransportV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { afterEach, expect, test } from "vitest";
import { type Json, member } from "../../src/core/json.ts";
import type { Exchange } from "../../src/gateway/ports/transport.ts";
import { echo, TestGateway } from "./http-harness.ts";

// The official clients against our server with a trivial handler: nothing of theirs is mocked.

let gateway: TestGateway;
afterEach(() => gateway.stop());

/** One tool that reports progress and echoes its arguments, in either era. */
function serve(exchange: Exchange): void {
  const { id, method, params } = exchange.request;
  const meta = member(params, "_meta");
  const modern = member(meta, "io.modelcontextprotocol/protocolVersion") !== undefined;
  const answer = (result: { readonly [name: string]: Json }): void =>
    exchange.respond({ kind: "response", id, result: modern ? { resultType: "complete", ...result } : result });
  const tools = [{ name: "echo", inputSchema: { type: "object" } }];
  const serverInfo = { name: "echo", version: "1" };
  switch (method) {
    case "server/discover":
      return answer({
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {} },
        serverInfo,
        ttlMs: 0,
        cacheScope: "private",
      });
    case "tools/list":
      return answer(modern ? { tools, ttlMs: 0, cacheScope: "private" } : { tools });
    case "tools/call": {
      const progressToken = member(meta, "progressToken");
      if (progressToken !== undefined) {
        exchange.send({
          kind: "notification",
          method: "notifications/progress",
          params: { progressToken, progress: 1 },
        });
      }
      return answer({ content: [{ type: "text", text: JSON.stringify(member(params, "arguments")) }] });
    }
    default:
      return echo(exchange);
  }
}

test("SDK 1.32 client: handshake, list, call with progress, end of session", async () => {
  gateway = await new TestGateway().start();
  gateway.onRequest = serve;
  const client = new ClientV1({ name: "t", version: "1" });
  const transport = new TransportV1(new URL(`http://127.0.0.1:${gateway.port}/mcp`));
  // The SDK's own classes disagree with its interface under exactOptionalPropertyTypes.
  await client.connect(transport as Transport);
  expect((await client.listTools()).tools).toHaveLength(1);
  let progress = 0;
  const result = await client.callTool({ name: "echo", arguments: { a: 1 } }, undefined, {
    onprogress: () => (progress += 1),
  });
  expect(result.content).toEqual([{ type: "text", text: '{"a":1}' }]);
  expect(progress).toBe(1);
  await transport.terminateSession();
  expect(gateway.closed).toEqual(["The client ended the session."]);
  await client.close();
});

for (const mode of ["legacy", "auto"] as const) {
  test(`SDK 2.4 client, ${mode}: list and call with progress`, async () => {
    gateway = await new TestGateway().start();
    gateway.onRequest = serve;
    const client = new ClientV2({ name: "t", version: "1" }, { versionNegotiation: { mode } });
    await client.connect(new TransportV2(new URL(`http://127.0.0.1:${gateway.port}/mcp`)));
    expect((await client.listTools()).tools).toHaveLength(1);
    let progress = 0;
    const result = await client.callTool({ name: "echo", arguments: { a: 1 } }, { onprogress: () => (progress += 1) });
    expect(result.content).toEqual([{ type: "text", text: '{"a":1}' }]);
    expect(progress).toBe(1);
    const revisions = new Set(gateway.connections.map((connection) => connection.facts.announcedRevision));
    expect([...revisions]).toEqual([mode === "auto" ? "2026-07-28" : undefined]);
    await client.close();
  });
}
