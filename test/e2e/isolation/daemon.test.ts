// Isolation as users have it: an official client, `sluicegate run`, the daemon, and a server in its projection.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { repositoryFolder } from "../../kit/server/run-fixture.ts";
import { createSandbox, outputOf, type Sandbox } from "../../kit/gateway/run-gateway.ts";
import { catalogue, serverFile } from "../../kit/server/pairs/catalogue.ts";
import { best } from "../../kit/gateway/stage.ts";

const launcher = join(repositoryFolder, "bin", "sluicegate.js");
const filesystem = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-filesystem/dist/index.js");

let sandbox: Sandbox;
let [home, workspace] = ["", ""];
let env: Record<string, string> = {};
beforeEach(async () => {
  sandbox = await createSandbox();
  [home, workspace] = [join(sandbox.folder, "user"), join(sandbox.folder, "workspace")];
  for (const folder of [home, workspace]) mkdirSync(folder);
  writeFileSync(join(workspace, "note.txt"), "a note\n");
  env = { PATH: process.env["PATH"] ?? "", HOME: home, ...sandbox.env };
});
afterEach(() => sandbox.remove());

async function connect(server: string, policy: string, command: readonly string[]): Promise<Client> {
  const file = join(sandbox.folder, "policy.yaml");
  writeFileSync(file, policy);
  const args = [launcher, "run", "--policy", file, "--server", server, "--", ...command];
  const client = new Client({ name: "e2e", version: "1" });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env, cwd: workspace, stderr: "ignore" }),
  );
  return client;
}

async function call(client: Client, name: string, given: Record<string, unknown>): Promise<string> {
  const { content, isError } = await client.callTool({ name, arguments: given });
  const [first] = content;
  return `${isError === true ? "! " : ""}${first?.type === "text" ? first.text : ""}`;
}

describe.skipIf(!best)("through the daemon (needs tier A)", () => {
  test("files are read and written, and `runs` shows the tier", { timeout: 60_000 }, async () => {
    const policy = "version: 1\nextends: [default]\nservers: {files: {pack: filesystem}}\nisolation: {require: A}\n";
    const client = await connect("files", policy, [process.execPath, filesystem, "."]);
    expect(await call(client, "read_text_file", { path: join(workspace, "note.txt") })).toBe("a note\n");
    expect(await call(client, "write_file", { path: join(workspace, "new.txt"), content: "new" })).not.toMatch(/^!/);
    expect(readFileSync(join(workspace, "new.txt"), "utf8")).toBe("new");
    expect(await outputOf(["runs"], env)).toMatch(/tier A|\bA\b/);
    await client.close();
  });

  test("a hostile server's call is rejected, and nothing of it is left", { timeout: 60_000 }, async () => {
    const pair = catalogue.find(({ id }) => id === "covert-write");
    if (pair === undefined) throw new Error("no such fixture");
    const policy = JSON.stringify({
      version: 1,
      extends: ["default"],
      labels: Object.fromEntries(Object.entries(pair.hostile.labels).map(([tool, one]) => [`json.${tool}`, one])),
      isolation: { require: "A", servers: { json: pair.hostile.isolation } },
    });
    const client = await connect("json", policy, [process.execPath, serverFile(pair, "hostile")]);
    const said = await call(client, "format_json", { json: '{"a":1}' });
    expect(said).toMatch(/^! The call was executed and must not be repeated/);
    expect([join(home, ".bashrc"), join(workspace, ".git")].filter((path) => existsSync(path))).toEqual([]);
    expect(await outputOf(["changes"], env)).toContain("No change waits");
    await client.close();
  });
});

// A regression: the conversation was closed before its first request was answered, and the shim said nothing.
test.each([
  ["a command that is not there", "/no/such/server", /was not found/],
  ["what cannot be isolated where that is required", "docker", /needs isolation tier A and would get/],
])("%s is told to the client, and by the shim", { timeout: 60_000 }, async (_what, program, words) => {
  const file = join(sandbox.folder, "policy.yaml");
  writeFileSync(file, "version: 1\nextends: [default]\nisolation: {require: A}\n");
  const shim = [launcher, "run", "--policy", file, "--server", "s", "--", program, "run", "some-server"];
  const child = spawn(process.execPath, shim, { env, cwd: workspace });
  let [said, told] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (told += text));
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "e2e", version: "1" } };
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
  const code = await new Promise((resolve) => child.once("close", resolve));
  expect(JSON.parse(said)).toMatchObject({ id: 1, error: { message: expect.stringMatching(words) } });
  expect([code, told]).toEqual([1, expect.stringMatching(words)]);
});
