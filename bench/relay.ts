import { spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

// The least a proxy can do over stdio: take a line, send it on. `relay.ts [--parse] CMD...`; with --parse each line
// is parsed and written anew, which is the least that anything which looks at a message can do.
const parse = process.argv[2] === "--parse";
const [program = "", ...args] = process.argv.slice(parse ? 3 : 2);

function relay(from: Readable, to: Writable): void {
  let parts: Buffer[] = [];
  from.on("data", (chunk: Buffer) => {
    let start = 0;
    // Split at the byte, not with `readline`: that one takes U+2028 inside a string for the end of a line.
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const line = Buffer.concat([...parts, chunk.subarray(start, end + 1)]);
      to.write(parse ? `${JSON.stringify(JSON.parse(line.toString()))}\n` : line);
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  });
}

const server = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
relay(process.stdin, server.stdin);
relay(server.stdout, process.stdout);
process.stdin.on("end", () => server.stdin.end());
server.on("close", (code) => process.exit(code ?? 1));
process.on("SIGTERM", () => server.kill());
