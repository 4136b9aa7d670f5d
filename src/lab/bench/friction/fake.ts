/** A service of this machine in place of the one that a server reaches: it answers from a table and records nothing. */
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, type Server, createServer, type Socket } from "node:net";
import type { FakeSpec } from "./fake-spec.ts";

export type Fake = {
  readonly port: number;
  /** Requests that no row of the table answered, since the fake was opened. */
  readonly unknown: () => readonly string[];
  /** Forgets what was written. */
  readonly reset: () => void;
  readonly close: () => void;
};

/** Bytes of a request's body that are read. */
const bodyBytesMax = 1024 * 1024;
const unknownMax = 20;

export async function openFake(spec: FakeSpec): Promise<Fake> {
  const unknown: string[] = [];
  const values = new Map<string, string>();
  const server: Server = spec.kind === "redis" ? redisServer(values) : httpServer(spec, unknown);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => undefined);
  });
  const address = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: address.port, unknown: () => unknown, reset: () => values.clear(), close };
}

function httpServer(spec: FakeSpec, unknown: string[]): Server {
  return createHttpServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (part: string) => {
      if (body.length < bodyBytesMax) body += part;
    });
    request.on("end", () => {
      const { method = "", url = "" } = request;
      const fits = spec.answers.find(
        (one) => one.method === method && one.path.test(url) && (one.holds === undefined || body.includes(one.holds)),
      );
      if (fits === undefined && unknown.length < unknownMax) unknown.push(`${method} ${url} ${body.slice(0, 200)}`);
      response.writeHead(fits?.status ?? 404, fits?.headers ?? { "content-type": "application/json" });
      response.end(fits?.body ?? '{"message":"not found"}');
    });
  });
}

/** As much of the protocol as a store of texts needs: SET, GET, DEL, KEYS and greetings. */
function redisServer(values: Map<string, string>): Server {
  return createServer((socket) => {
    let rest = "";
    socket.setEncoding("utf8").on("data", (part: string) => {
      rest += part;
      for (let next = command(rest); next !== undefined; next = command(rest)) {
        rest = rest.slice(next.length);
        socket.write(reply(next.words, values));
      }
    });
    socket.on("error", () => undefined);
  });
}

/** The first whole command of a stream, `*2\r\n$3\r\nGET\r\n$1\r\na\r\n`. */
function command(text: string): { readonly words: readonly string[]; readonly length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text);
  if (head === null) return undefined;
  const words: string[] = [];
  let at = head[0].length;
  for (let index = 0; index < Number(head[1]); index += 1) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(at, at + 32));
    if (size === null) return undefined;
    const from = at + size[0].length;
    const end = from + Number(size[1]);
    if (text.length < end + 2) return undefined;
    words.push(text.slice(from, end));
    at = end + 2;
  }
  return { words, length: at };
}

const bulk = (text: string | undefined): string =>
  text === undefined ? "$-1\r\n" : `$${Buffer.byteLength(text)}\r\n${text}\r\n`;

function reply([name = "", ...rest]: readonly string[], values: Map<string, string>): string {
  const [key = "", value = ""] = rest;
  switch (name.toUpperCase()) {
    case "SET":
      values.set(key, value);
      return "+OK\r\n";
    case "GET":
      return bulk(values.get(key));
    case "DEL":
      return `:${rest.filter((one) => values.delete(one)).length}\r\n`;
    case "KEYS": {
      const start = key.replace(/\*.*$/, "");
      const found = [...values.keys()].filter((one) => one.startsWith(start)).toSorted();
      return `*${found.length}\r\n${found.map(bulk).join("")}`;
    }
    case "PING":
      return "+PONG\r\n";
    case "HELLO":
      return "-ERR unknown command\r\n";
    default:
      return "+OK\r\n";
  }
}
