// The workspace of a gateway's configuration is the one that its isolated servers see and write.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../kit/gateway/run-gateway.ts";
import { best } from "../../kit/gateway/stage.ts";

const filesystem = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-filesystem/dist/index.js");

let sandbox: Sandbox;
let client: Client | undefined;
const at = (...names: readonly string[]): string => join(sandbox.folder, ...names);

beforeEach(async () => {
  sandbox = await createSandbox();
  for (const folder of ["user", "config", "work"]) mkdirSync(at(folder));
  writeFileSync(at("config", "beside.txt"), "beside the configuration\n");
  writeFileSync(at("work", "note.txt"), "a note\n");
  const policy = "version: 1\nextends: [default]\nservers: {files: {pack: filesystem}}\nisolation: {require: A}\n";
  writeFileSync(at("config", "policy.yaml"), policy);
});
afterEach(async () => {
  await client?.close();
  client = undefined;
  await sandbox.remove();
});

/** A client of `sluicegate gateway`, started elsewhere than its configuration and its workspace. */
async function connect(workspace: string | undefined, args: readonly string[], main = filesystem): Promise<Client> {
  const server = { command: process.execPath, args: [main, ...args] };
  const config = { version: 1, servers: { files: server }, policy: "policy.yaml", workspace };
  writeFileSync(at("config", "gateway.json"), JSON.stringify(config));
  const env = { PATH: process.env["PATH"] ?? "", HOME: at("user"), ...sandbox.env, SLUICEGATE_HOME: at("gateway") };
  const command = [sandbox.launcher, "gateway", "--config", at("config", "gateway.json")];
  client = new Client({ name: "e2e", version: "1" });
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: command, env, cwd: at("user"), stderr: "ignore" }),
  );
  return client;
}

async function call(name: string, given: Record<string, unknown>): Promise<string> {
  const { content, isError } = (await client?.callTool({ name, arguments: given })) ?? { content: [] };
  const [first] = content;
  return `${isError === true ? "! " : ""}${first?.type === "text" ? first.text : ""}`;
}

/** A server of one file that tells the folder it works in. */
const tellingServer = `
import { createInterface } from "node:readline";
const tools = [{ name: "t", description: process.cwd(), inputSchema: { type: "object" } }];
const server = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "t", version: "1" } };
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  const result = method === "initialize" ? server : method === "tools/list" ? { tools } : {};
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
});
`;

describe.skipIf(!best)("D26: an isolated server of a gateway (needs tier A)", () => {
  test.each([
    ["relative", () => "../work", () => at("work")],
    ["absolute", () => at("work"), () => at("work")],
    ["behind a link", () => "../link", () => at("link")],
  ])("works in the configured workspace: %s", { timeout: 60_000 }, async (_how, workspace, folder) => {
    symlinkSync("work", at("link"));
    // `.` is the folder that the server starts in.
    await connect(workspace(), [".", folder()]);
    expect(await call("read_text_file", { path: join(folder(), "note.txt") })).toBe("a note\n");
    expect(await call("write_file", { path: join(folder(), "new.txt"), content: "new" })).not.toMatch(/^!/);
    expect(readFileSync(at("work", "new.txt"), "utf8")).toBe("new");
    expect(await call("list_allowed_directories", {})).toContain(at("work"));
    expect(await call("read_text_file", { path: at("config", "beside.txt") })).toMatch(/^!/);
  });

  test("starts its code from beside the configuration, as relative names say", { timeout: 60_000 }, async () => {
    writeFileSync(at("config", "server.mjs"), tellingServer);
    await connect("../work", [], "server.mjs");
    const told = await client?.listTools();
    expect(told?.tools.map(({ description }) => description)).toEqual([at("config")]);
  });

  test("without a word the folder of the configuration is the workspace", { timeout: 60_000 }, async () => {
    await connect(undefined, ["."]);
    expect(await call("read_text_file", { path: at("config", "beside.txt") })).toBe("beside the configuration\n");
    expect(await call("write_file", { path: at("config", "new.txt"), content: "new" })).not.toMatch(/^!/);
    expect(existsSync(at("config", "new.txt"))).toBe(true);
  });

  test("sees no workspace where that would be the home folder", { timeout: 60_000 }, async () => {
    writeFileSync(at("user", "private.txt"), "private");
    await connect("~", [at("user")]);
    expect(await call("list_allowed_directories", {})).toMatch(/^Allowed directories:/);
    expect(await call("read_text_file", { path: at("user", "private.txt") })).toMatch(/^!/);
  });
});
