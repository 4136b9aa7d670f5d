import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

// The least a proxy can do over stdio: read a line, write it on. `relay.ts CMD...`
const [program = "", ...args] = process.argv.slice(2);
const server = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
createInterface({ input: process.stdin }).on("line", (line) => server.stdin.write(`${line}\n`));
createInterface({ input: server.stdout }).on("line", (line) => process.stdout.write(`${line}\n`));
process.stdin.on("end", () => server.stdin.end());
server.on("close", (code) => process.exit(code ?? 1));
