// A wiki over stdio for the tests of regulation: pages can be written, and the whole wiki can be opened to others. It knows
// nothing of list changes, so what the client hears of them is the gateway's.
import { createInterface } from "node:readline";

const text = (words: string) => ({ content: [{ type: "text", text: words }] });
const takes = (...names: readonly string[]) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
});

const tools = [
  { name: "write_page", description: "Write a page of the wiki.", inputSchema: takes("title", "text") },
  { name: "grant_access", description: "Let an account read the whole wiki.", inputSchema: takes("account") },
];

type Request = { readonly id?: string | number; readonly method: string; readonly params?: Record<string, unknown> };

function answer(request: Request): unknown {
  switch (request.method) {
    case "initialize":
      return {
        protocolVersion: request.params?.["protocolVersion"] ?? "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "wiki", version: "1.0.0" },
      };
    case "tools/list":
      return { tools };
    case "tools/call":
      return text(`${String(request.params?.["name"])} done`);
    default:
      return undefined;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request; // a fixture trusts the gateway in front of it
  if (request.id === undefined) continue;
  const result = answer(request);
  const said = result === undefined ? { error: { code: -32601, message: "Method not found" } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: request.id, ...said })}\n`);
}
