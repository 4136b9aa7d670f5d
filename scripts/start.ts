// `npm start`: the gateway on real reference servers, in the foreground, from the sources. `npm start -- --check` only
// asks every server for its tools. State is in `.sluicegate/` beside the sources, the demonstration workspace in
// `demo/`.
import { mkdirSync, writeFileSync, existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { serve } from "../src/cli/commands/gateway.ts";
import { configOf } from "../src/app/gateway/config.ts";

const root = resolve(import.meta.dirname, "..");
const folder = join(root, ".sluicegate");
const home = join(folder, "state");
// A folder of its own: no server sees the gateway's state, and a write below `.sluicegate` asks.
const workspace = join(root, "demo");
const require = createRequire(import.meta.url);

/** Path of the program of a reference server, in any layout of the package manager. */
function program(name: string): string {
  return join(dirname(require.resolve(`@modelcontextprotocol/${name}/package.json`)), "dist/index.js");
}

for (const place of [workspace, home]) mkdirSync(place, { recursive: true, mode: 0o700 });
const readme = join(workspace, "README.md");
if (!existsSync(readme))
  writeFileSync(readme, "Files in this folder are what the guarded filesystem server can see.\n");

// The memory server keeps its file in a folder of its own, which its scope names; everything else of this machine is not
// there for either of them, where the machine can do that (`sluicegate doctor`).
const memory = join(folder, "memory");
mkdirSync(memory, { recursive: true, mode: 0o700 });
const policy = join(folder, "policy.json");
const isolation = { servers: { memory: { files: { write: [memory] } } } };
const packs = { files: { pack: "filesystem" }, memory: { pack: "memory" } };
writeFileSync(policy, JSON.stringify({ version: 1, extends: ["default"], servers: packs, isolation }, undefined, 2));

const server = (args: readonly string[], env: Record<string, string> = {}) => ({
  command: process.execPath,
  args,
  env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...env },
  cwd: workspace,
});

const config = configOf(
  {
    version: 1,
    workspace,
    policy,
    servers: {
      files: server([program("server-filesystem"), workspace]),
      memory: server([program("server-memory")], { MEMORY_FILE_PATH: join(memory, "memory.jsonl") }),
    },
  },
  join(root, "scripts/start.ts"),
);
if (!config.ok) throw new Error(config.error.sentence);
const port = Number(process.env["PORT"] ?? 8787);
const check = process.argv.includes("--check");
process.exitCode = await serve(config.value, { place: { host: "127.0.0.1", port }, check, home });
