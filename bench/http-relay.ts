import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

// The least a proxy can do over HTTP: send each request on, stream each response back. `http-relay.ts [--parse] URL`;
// with --parse each JSON answer is collected, parsed and written anew.
const parse = process.argv[2] === "--parse";
const upstream = new URL(process.argv[parse ? 3 : 2] ?? "");
const agent = new Agent({ keepAlive: true, maxSockets: 1024 });

async function rewrite(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  // A response body without an encoding set yields buffers.
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const body = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()));
  const { "transfer-encoding": _chunked, ...headers } = answer.headers;
  response.writeHead(answer.statusCode ?? 502, { ...headers, "content-length": Buffer.byteLength(body) });
  response.end(body);
}

const server = createServer((incoming, response) => {
  const { method, headers, url: path = "/" } = incoming;
  const options = { agent, host: upstream.hostname, port: upstream.port, path, method, headers };
  const outgoing = request(options, (answer) => {
    if (parse && answer.headers["content-type"] === "application/json") return void rewrite(answer, response);
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    // An event stream must not wait for its first event.
    response.flushHeaders();
    answer.pipe(response);
  });
  outgoing.on("error", () => response.destroy());
  response.on("close", () => outgoing.destroy());
  incoming.pipe(outgoing);
});

server.listen(0, "127.0.0.1", () => {
  // A server on a TCP port always has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}${upstream.pathname}` })}\n`);
});
