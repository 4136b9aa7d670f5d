/**
 * The server that `bench isolation` measures with, started once for each way of isolating: small calls as tools make them,
 * and two that keep the file system busy. Run as a program of its own.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

type Given = { readonly path?: string; readonly text?: string; readonly count?: number };

const text = { type: "string" } as const;
const count = { type: "integer" } as const;

const acts: Readonly<Record<string, { readonly inputs: object; readonly act: (given: Given) => string }>> = {
  echo: { inputs: { text }, act: ({ text: given = "" }) => given },
  read: { inputs: { path: text }, act: ({ path = "" }) => readFileSync(path, "utf8") },
  list: { inputs: { path: text }, act: ({ path = "." }) => readdirSync(path).join("\n") },
  write: {
    inputs: { path: text, text },
    act: ({ path = "", text: given = "" }) => {
      writeFileSync(path, given);
      return "written";
    },
  },
  write_many: {
    inputs: { path: text, count },
    act: ({ path = "", count: times = 0 }) => {
      mkdirSync(path, { recursive: true });
      for (let index = 0; index < times; index += 1)
        writeFileSync(join(path, `${index}.txt`), `${index} ${"x".repeat(2_000)}`);
      return String(times);
    },
  },
  churn: {
    inputs: { path: text, count },
    act: ({ path = "", count: times = 0 }) => {
      mkdirSync(path, { recursive: true });
      const file = join(path, "churned");
      // Five operations a turn: create and write, read, look, list, remove.
      for (let index = 0; index < times; index += 5) {
        writeFileSync(file, "x");
        readFileSync(file);
        statSync(file);
        readdirSync(path);
        rmSync(file);
      }
      return String(times);
    },
  },
};

const tools = Object.entries(acts).map(([name, { inputs }]) => ({
  name,
  description: `Does \`${name}\`.`,
  inputSchema: { type: "object", properties: inputs },
}));

type Request = {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly arguments?: Given; readonly protocolVersion?: string };
};

function answer({ method, params }: Request): object {
  if (method === "initialize") {
    const serverInfo = { name: "bench", version: "1" };
    return { protocolVersion: params?.protocolVersion ?? "2025-11-25", capabilities: { tools: {} }, serverInfo };
  }
  if (method === "tools/list") return { tools };
  if (method !== "tools/call") return {};
  try {
    return { content: [{ type: "text", text: acts[params?.name ?? ""]?.act(params?.arguments ?? {}) ?? "" }] };
  } catch (cause) {
    return { content: [{ type: "text", text: String(cause) }], isError: true };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request; // only the gateway writes here, and it has parsed every message
  if (request.id === undefined) continue;
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: request.id, result: answer(request) })}\n`);
}
