/** Asks a reference server for its tools over stdio, without an SDK between. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { JsonObject } from "../../src/core/json.ts";

const waitMsMax = 20_000;

export async function listTools(name: string, args: readonly string[]): Promise<readonly JsonObject[]> {
  const program = new URL(`../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url);
  const child = spawn(process.execPath, [program.pathname, ...args], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { PATH: process.env["PATH"] ?? "", MEMORY_FILE_PATH: "/tmp/sluicegate-list-tools.json" },
  });
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const timer = setTimeout(() => child.kill(), waitMsMax);
  try {
    const clientInfo = { name: "list-tools", version: "1" };
    send({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
    for await (const line of createInterface({ input: child.stdout })) {
      const message: { id?: number; result?: { tools?: JsonObject[] } } = JSON.parse(line);
      if (message.id === 1) {
        send({ method: "notifications/initialized" });
        send({ id: 2, method: "tools/list", params: {} });
      }
      if (message.id === 2) return message.result?.tools ?? [];
    }
    throw new Error(`server-${name} ended without a list`);
  } finally {
    clearTimeout(timer);
    child.kill();
  }
}
