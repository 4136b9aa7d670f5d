import { randomUUID } from "node:crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { serveWeb } from "./web-adapter.ts";

const identity = { name: "passthrough", version: "1.0.0" };

function forward(client: Client): Server {
  const server = new Server(identity, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", (asked) =>
    client.request({ method: "tools/list", ...(asked.params === undefined ? {} : { params: asked.params }) }),
  );
  server.setRequestHandler("tools/call", (asked) => client.request({ method: "tools/call", params: asked.params }));
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
  await client.connect(new StreamableHTTPClientTransport(new URL(upstream)));
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    enableJsonResponse: true,
  });
  await forward(client).connect(transport);
  serveWeb((request) => transport.handleRequest(request));
}
