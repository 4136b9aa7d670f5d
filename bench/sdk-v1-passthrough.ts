import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CallToolRequestSchema,
  CallToolResultSchema,
  ListToolsRequestSchema,
  ListToolsResultSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { announce } from "./web-adapter.ts";

const identity = { name: "passthrough", version: "1.0.0" };

function forward(client: Client): Server {
  // The low-level class is what a proxy needs: the high-level one wants each tool registered.
  const server = new Server(identity, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, (asked) =>
    client.request({ method: "tools/list", params: asked.params }, ListToolsResultSchema),
  );
  server.setRequestHandler(CallToolRequestSchema, (asked) =>
    client.request({ method: "tools/call", params: asked.params }, CallToolResultSchema),
  );
  return server;
}

/** A proxy of one SDK client and one SDK server, stdio on both sides. */
export async function passStdio(command: readonly string[]): Promise<void> {
  const [program = "", ...args] = command;
  const client = new Client(identity);
  await client.connect(new StdioClientTransport({ command: program, args, maxBufferSize: 64 * 1024 * 1024 }));
  await forward(client).connect(new StdioServerTransport());
}

/** The same over Streamable HTTP, one session, plain JSON answers: the cheapest way this SDK offers. */
export async function passHttp(upstream: string): Promise<void> {
  const client = new Client(identity);
  // Its optional members are declared with undefined, which exactOptionalPropertyTypes tells from the interface's.
  await client.connect(new StreamableHTTPClientTransport(new URL(upstream)) as Transport);
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    enableJsonResponse: true,
  });
  await forward(client).connect(transport as Transport);
  announce(createServer((incoming, response) => void transport.handleRequest(incoming, response)));
}
