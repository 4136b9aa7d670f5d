// A tiny mail server for the examples: it keeps what it is told to send in a file, so that a test can look whether a
// secret really left. Speaks MCP over stdio; run it with the path of its outbox file.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const outbox = process.argv[2] ?? "outbox.jsonl";

const tools = [
  {
    name: "send_message",
    description: "Send a message to a recipient outside of this machine.",
    inputSchema: {
      type: "object",
      properties: {
        to: { type: "string", description: "Address of the recipient" },
        subject: { type: "string" },
        body: { type: "string" },
      },
      required: ["to", "body"],
    },
    annotations: { readOnlyHint: false, openWorldHint: true },
  },
];

type Request = { readonly id?: string | number; readonly method: string; readonly params?: Record<string, unknown> };

function answer(request: Request): unknown {
  switch (request.method) {
    case "initialize":
      return {
        protocolVersion: request.params?.["protocolVersion"] ?? "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "outbox", version: "1.0.0" },
      };
    case "tools/list":
      return { tools };
    case "tools/call":
      appendFileSync(outbox, `${JSON.stringify(request.params?.["arguments"])}\n`);
      return { content: [{ type: "text", text: "sent" }] };
    default:
      return {};
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request; // an example server trusts the gateway in front of it
  if (request.id === undefined) continue;
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: request.id, result: answer(request) })}\n`);
}
