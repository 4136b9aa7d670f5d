import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Listens on a free port and prints the endpoint as the first line of output. */
export function announce(server: Server): void {
  server.keepAliveTimeout = 600_000;
  server.listen(0, "127.0.0.1", () => {
    // A server on a TCP port always has an AddressInfo.
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/mcp` })}\n`);
  });
}

async function pass(incoming: IncomingMessage, response: ServerResponse, handle: WebHandler): Promise<void> {
  const chunks: Buffer[] = [];
  // A request body without an encoding set yields buffers.
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]);
  const body = incoming.method === "POST" ? { body: Buffer.concat(chunks) } : {};
  const url = `http://${incoming.headers.host}${incoming.url}`;
  const answer = await handle(new Request(url, { method: incoming.method ?? "GET", headers, ...body }));
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(Buffer.from(await answer.arrayBuffer()));
}

type WebHandler = (request: Request) => Promise<Response>;

/** Serves a web-standard handler whose answers are plain JSON, with as little around it as possible. */
export function serveWeb(handle: WebHandler): void {
  announce(createServer((incoming, response) => void pass(incoming, response, handle)));
}
