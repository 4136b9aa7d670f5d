import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

// The least a proxy can do over HTTP: send each request on, stream each response back. `http-relay.ts URL`
const upstream = new URL(process.argv[2] ?? "");
const agent = new Agent({ keepAlive: true, maxSockets: 1024 });

const server = createServer((incoming, response) => {
  const { method, headers, url: path = "/" } = incoming;
  const options = { agent, host: upstream.hostname, port: upstream.port, path, method, headers };
  const outgoing = request(options, (answer) => {
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
