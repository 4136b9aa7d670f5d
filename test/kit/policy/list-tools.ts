/** Asks a reference server for its tools over stdio, without an SDK between. */
import { spawn } from "node:child_process";
import { childClient } from "../../../src/app/client/mcp-client.ts";
import { type JsonObject, isArray, isObject, member } from "../../../src/core/json.ts";

const waitMsMax = 20_000;

export async function listTools(name: string, args: readonly string[]): Promise<readonly JsonObject[]> {
  const program = new URL(`../../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url);
  const child = spawn(process.execPath, [program.pathname, ...args], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { PATH: process.env["PATH"] ?? "", MEMORY_FILE_PATH: "/tmp/sluicegate-list-tools.json" },
  });
  const client = childClient(child, { clientInfo: { name: "list-tools", version: "1" }, waitMsMax });
  try {
    await client.hello();
    const listed = await client.ask("tools/list", {});
    const tools = listed.ok ? member(listed.value.value, "tools") : undefined;
    if (!isArray(tools)) throw new Error(`server-${name} gave no list`);
    return tools.filter((tool): tool is JsonObject => isObject(tool));
  } finally {
    child.kill();
  }
}
