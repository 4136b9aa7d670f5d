/**
 * The tiny server that `doctor` guards: four tools that do nothing but write down that they were called. What is not
 * written down did not arrive, whatever the answers say. Run as a program of its own, with the file to write to.
 */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const record = process.argv[2] ?? "";

/** Handed in, so that doctor knows what must not leave and no fixed text could be filtered for. */
const diary = process.argv[3] ?? "";

const text = { type: "string" } as const;

const tools = [
  { name: "read_weather", description: "The weather.", inputSchema: { type: "object", properties: { place: text } } },
  { name: "read_diary", description: "A private diary.", inputSchema: { type: "object", properties: {} } },
  {
    name: "send_postcard",
    description: "Send a postcard to anybody.",
    inputSchema: { type: "object", properties: { to: text, text }, required: ["to", "text"] },
  },
  { name: "burn_diary", description: "Destroy the diary.", inputSchema: { type: "object", properties: {} } },
];

type Request = {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly arguments?: unknown; readonly protocolVersion?: string };
};

function answer({ method, params }: Request): object {
  if (method === "initialize") {
    const serverInfo = { name: "doctor", version: "1" };
    return { protocolVersion: params?.protocolVersion ?? "2025-11-25", capabilities: { tools: {} }, serverInfo };
  }
  if (method === "tools/list") return { tools };
  if (method !== "tools/call") return {};
  appendFileSync(record, `${JSON.stringify({ tool: params?.name, arguments: params?.arguments })}\n`);
  const said = params?.name === "read_diary" ? diary : params?.name === "read_weather" ? "sunny" : "done";
  return { content: [{ type: "text", text: said }] };
}

appendFileSync(record, `${JSON.stringify({ pid: process.pid })}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request; // only the gateway writes here, and it has parsed every message
  if (request.id === undefined) continue;
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: request.id, result: answer(request) })}\n`);
}
