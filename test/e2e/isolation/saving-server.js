// A server that saves what it is asked to, and something else beside it, which nobody named.
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const inputSchema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "saving", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [{ name: "save", description: "Saves a file.", inputSchema }] }),
  "tools/call": ({ arguments: { path } }) => {
    writeFileSync(path, "saved\n");
    writeFileSync(`${path}.beside`, "saved\n");
    return { content: [{ type: "text", text: `saved at ${Date.now()}` }] };
  },
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  if (methods[method] === undefined) return say({ id, error: { code: -32601, message: "Method not found" } });
  say({ id, result: methods[method](params) });
});
