// `sluicegate scan` isolates what it starts: a server sees the folder that its command names, its variables, no network.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { best } from "../../kit/gateway/stage.ts";
import { Terminal, repository } from "../../kit/client/command.ts";

let terminal: Terminal;
beforeEach(() => void (terminal = new Terminal()));
afterEach(() => terminal.remove());

const filesystem = join(repository, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");

/** Says in the name of its tool what it saw at its start. */
const curious = `
  const tried = require("node:net").connect(443, "192.0.2.1").on("error", () => {});
  const seen = [process.env.TOKEN, require("node:fs").existsSync(process.argv[1]) ? "folder" : "none",
    require("node:fs").existsSync("${join(repository, "package.json")}") ? "project" : "hidden"].join("_");
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    const result = method === "initialize"
      ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } }
      : { tools: [{ name: seen, inputSchema: { type: "object" } }, { name: "best_" + seen, inputSchema: { type: "object" } }] };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });`;

describe.skipIf(!best)("a scan (needs tier A)", () => {
  test("starts real servers, and shows them nothing but what their entry names", async () => {
    const config = terminal.file("mcp.json", {
      mcpServers: {
        files: { command: process.execPath, args: [filesystem, terminal.root] },
        curious: { command: process.execPath, args: ["-e", curious, terminal.root], env: { TOKEN: "given" } },
      },
    });
    const { code, value } = await terminal.json("scan", "--isolation", "required", config);
    expect(value).toMatchObject({
      complete: true,
      servers: [
        { server: "files", tier: "A", verdict: "clean" },
        {
          server: "curious",
          tier: "A",
          verdict: "confirm",
          reports: [{ entry: "best_given_folder_hidden" }],
          seen: [expect.stringContaining("192.0.2.1")],
        },
      ],
    });
    expect(code).toBe(0);
  });
});
