// A server that offers lists of every kind, and answers some of them in a way that the protocol does not know.
import { createInterface } from "node:readline";

const serverInfo = { name: "odd", version: "1" };
const capabilities = { tools: {}, resources: {}, prompts: {} };
const answers = {
  initialize: ({ protocolVersion }) => ({ result: { protocolVersion, capabilities, serverInfo } }),
  "tools/list": () => ({ result: { tools: [{ name: "a", inputSchema: { type: "object" } }, { name: "b" }] } }),
  "resources/list": () => ({ result: { resources: [] } }),
  "prompts/list": () => ({ error: { code: -32_000, message: "none \u001B[31mtoday" } }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method]?.(params) ?? { result: {} };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
