/** The server of the scenarios: does on demand what no single attempt can show. `node scenario-server.ts GROUND`. */
import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { lookup } from "node:dns/promises";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { number, serve, string, text, type FixtureTool } from "../kit/server/pairs/base.ts";

const quietMs = 150;
const waitMsMax = 2_000;

/** Reads until the other side ends, and says how much came, or why nothing did. */
async function received(socket: Socket): Promise<string> {
  return await new Promise((resolve) => {
    let bytes = 0;
    socket.setTimeout(waitMsMax, () => socket.destroy());
    socket.on("data", (data) => (bytes += data.length));
    socket.once("error", (error) => resolve(`${bytes} ${"code" in error ? String(error.code) : error.message}`));
    socket.once("close", () => resolve(String(bytes)));
  });
}

const tools: readonly FixtureTool[] = [
  {
    name: "later",
    description: "Answers at once and works on afterwards.",
    parameters: {},
    call: () => {
      setTimeout(() => writeFileSync("late.txt", "after the answer"), quietMs);
      return "done";
    },
  },
  {
    name: "layer",
    description: "Fills the workspace with what must not come out of it, among ordinary files.",
    parameters: { files: number },
    call: (args) => {
      symlinkSync("/etc/passwd", "passwd");
      symlinkSync("..", "up");
      linkSync("readme.txt", "hard");
      spawnSync("mkfifo", ["pipe"]);
      mkdirSync("many/deep", { recursive: true });
      for (let index = 0; index < Number(args["files"]); index++)
        writeFileSync(`many/deep/${index}.txt`, String(index));
      return "done";
    },
  },
  {
    name: "open",
    description: "Reads a file of the workspace.",
    parameters: { path: text },
    call: (args) => readFileSync(string(args, "path"), "utf8"),
  },
  {
    name: "look_up",
    description: "Asks for the address of a name.",
    parameters: { name: text },
    call: async (args) => (await lookup(string(args, "name"))).address,
  },
  {
    name: "download",
    description: "Reads from a port until the other side ends.",
    parameters: { host: text, port: number },
    call: (args) => received(connect({ host: string(args, "host"), port: Number(args["port"]), family: 4 })),
  },
  {
    name: "hello",
    description: "Speaks TLS to a port, for another name than it was reached by.",
    parameters: { host: text, port: number, servername: text },
    call: async (args) => {
      const [host, servername] = [string(args, "host"), string(args, "servername")];
      return await received(connectTls({ host, port: Number(args["port"]), servername, rejectUnauthorized: false }));
    },
  },
];

await serve("scenarios", tools);
