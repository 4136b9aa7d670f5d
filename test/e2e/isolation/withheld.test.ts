// A result that an isolated server's deeds made doubtful waits for a person, and the daemon is killed meanwhile: the same
// call repeated gets that result, with what was known of it, and is not executed a second time.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, expect, test } from "vitest";
import { repositoryFolder } from "../../kit/server/run-fixture.ts";
import { createSandbox, outputOf, type Sandbox } from "../../kit/gateway/run-gateway.ts";
import { pause } from "../../process/fixture/world.ts";
import { best } from "../../kit/gateway/stage.ts";

const launcher = join(repositoryFolder, "bin", "sluicegate.js");
const server = fileURLToPath(new URL("./saving-server.js", import.meta.url));
const policy = `
version: 1
extends: [default]
labels:
  box.save: {effects: [write.local], args: {path: {role: path}}, output: {confidentiality: public, trust: trusted}}
rules: [{id: saves, tier: allow, when: {tool: box.save}, why: "saving is what it is for"}]
isolation: {require: A, servers: {box: {files: {workspace: {mode: overlay}}}}}
`;

let sandbox: Sandbox;
let env: Record<string, string>;
let workspace: string;
beforeEach(async () => {
  sandbox = await createSandbox();
  workspace = join(sandbox.folder, "workspace");
  mkdirSync(workspace);
  env = { PATH: process.env["PATH"] ?? "", HOME: sandbox.folder, ...sandbox.env };
});
afterEach(() => sandbox.remove());

test.skipIf(!best)("a withheld result outlives the daemon (needs tier A)", { timeout: 90_000 }, async () => {
  const file = join(sandbox.folder, "policy.yaml");
  writeFileSync(file, policy);
  const args = [launcher, "run", "--policy", file, "--server", "box", "--", process.execPath, server];
  const client = new Client({ name: "e2e", version: "1" });
  const transport = { command: process.execPath, args, env, cwd: workspace, stderr: "ignore" } as const;
  await client.connect(new StdioClientTransport(transport));
  const save = async (path = join(workspace, "letter.txt")): Promise<string> => {
    const { content } = await client.callTool({ name: "save", arguments: { path } });
    const [first] = content;
    return first?.type === "text" ? first.text : "";
  };
  const asked = await save();
  const id = /sluicegate approve ([\w-]+)`/.exec(asked)?.[1] ?? "";
  expect(asked).toContain("its result waits for approval");
  expect(await outputOf(["approve", id], env)).toContain("Approved");
  const status = JSON.parse(await outputOf(["daemon", "status", "--json"], env)) as {
    readonly daemon: { readonly pid: number };
  };
  const killed = Date.now();
  process.kill(status.daemon.pid, "SIGKILL");
  let told = await save();
  for (let tries = 0; tries < 200 && /being restarted|is unknown/.test(told); tries += 1) {
    await pause(50);
    told = await save();
  }
  // What the server said before the daemon died: another execution would say a later time.
  expect(Number(/^saved at (\d+)$/.exec(told)?.[1] ?? Number.NaN)).toBeLessThan(killed);
  await client.close();
});
