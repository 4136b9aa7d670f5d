import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";

/**
 * The server behind every subject of the overhead benchmark: raw Node, so that its own cost is small and constant.
 * `echo-server.ts [--tools N] [--http]`; tool `read_text` returns text of `bytes` characters, never twice the same.
 */
const { values } = parseArgs({
  options: { tools: { type: "string", default: "1" }, http: { type: "boolean", default: false } },
});

type Asked = {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: { readonly bytes?: number } };
};

const words = ["harbour", "ledger", "quiet", "seven", "orchard", "tunnel", "violet", "gravel", "notice", "winter"];

/** Prose of about the given length: repeated characters would favour subjects that index or compress them. */
function prose(characters: number): string {
  let text = "";
  let state = 1;
  while (text.length < characters) {
    state = (state * 48_271) % 2_147_483_647;
    text += `${words[state % words.length] ?? ""}${state % 1000} `;
  }
  return text.slice(0, characters);
}

const proseOf = new Map<number, string>();
let served = 0;

function readText(bytes: number): string {
  let text = proseOf.get(bytes);
  if (text === undefined) proseOf.set(bytes, (text = prose(bytes)));
  served += 1;
  return `{"content":[{"type":"text","text":"${served} ${text}"}]}`;
}

function listedTool(index: number) {
  return {
    name: index === 0 ? "read_text" : `read_text_${index}`,
    description: `Reads text number ${index} from the archive and returns as much of it as was asked for.`,
    inputSchema: {
      type: "object",
      properties: {
        bytes: { type: "integer", description: "Length of the text" },
        section: { type: "string", description: "Section of the archive", enum: ["front", "middle", "back"] },
        note: { type: "string", description: "Kept with the request, not interpreted" },
      },
      required: ["bytes"],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

const toolList = JSON.stringify({
  tools: Array.from({ length: Number(values.tools) }, (_, index) => listedTool(index)),
});

function resultOf({ method = "", params }: Asked): string {
  switch (method) {
    case "tools/call":
      return readText(params?.arguments?.bytes ?? 0);
    case "tools/list":
      return toolList;
    case "initialize":
      return JSON.stringify({
        protocolVersion: params?.protocolVersion ?? "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "echo-server", version: "1.0.0" },
      });
    default:
      return "{}";
  }
}

function answer(text: string): string | undefined {
  // Only the benchmark's own driver and subjects talk to this server.
  const asked = JSON.parse(text) as Asked;
  if (asked.id === undefined || asked.method === undefined) return undefined;
  return `{"jsonrpc":"2.0","id":${JSON.stringify(asked.id)},"result":${resultOf(asked)}}`;
}

function serveStdio(): void {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const answered = line === "" ? undefined : answer(line);
      if (answered !== undefined) process.stdout.write(`${answered}\n`);
    }
  });
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  let text = "";
  incoming.setEncoding("utf8");
  for await (const chunk of incoming) text += String(chunk);
  return text;
}

function serveHttp(): void {
  const server = createServer(async (incoming, response) => {
    if (incoming.method !== "POST") return void response.writeHead(405).end();
    const answered = answer(await bodyOf(incoming));
    if (answered === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { "content-type": "application/json", "mcp-session-id": "one" });
    response.end(answered);
  });
  server.keepAliveTimeout = 600_000;
  server.listen(0, "127.0.0.1", () => {
    // A server on a TCP port always has an AddressInfo.
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/mcp` })}\n`);
  });
}

if (values.http) serveHttp();
else serveStdio();
