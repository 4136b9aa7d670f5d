/**
 * A judge end to end: an official client, the daemon, and a model server that keeps every byte. What the judge says takes
 * tools away and refuses calls; where it says nothing, a call that acts asks, or does what the policy wants instead; a
 * changed policy brings another judge.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { repositoryFolder } from "../../kit/server/run-fixture.ts";
import { createSandbox, type Sandbox } from "../../kit/gateway/run-gateway.ts";
import {
  type ModelServer,
  type Scripted,
  messagesOf,
  startModelServer,
  verdict,
} from "../../kit/server/model-server.ts";

const launcher = join(repositoryFolder, "bin", "sluicegate.js");
const wiki = join(import.meta.dirname, "wiki-server.ts");

let sandbox: Sandbox;
let first: ModelServer;
let second: ModelServer;
let policy = "";

/** Sees the canary for what it is, refuses whatever says `payroll`, and would not show `grant_access`. */
function careful(body: Parameters<ModelServer["script"]>[0]): Scripted {
  const { evidence } = messagesOf(body);
  if (evidence.includes("collector.example")) return verdict("unsafe", ["mail.send_mail"]);
  return evidence.includes("payroll")
    ? verdict("unsafe", ["wiki.write_page"])
    : verdict("critical", ["wiki.grant_access"]);
}

beforeAll(async () => {
  sandbox = await createSandbox();
  first = await startModelServer(careful);
  second = await startModelServer(careful);
  policy = join(sandbox.folder, "policy.yaml");
  writePolicy(first, "");
});
afterAll(async () => {
  await sandbox.remove();
  await Promise.all([first.close(), second.close()]);
});

/** Everything is plain work; `grants` is the label of what `grant_access` returns. */
function writePolicy(judge: ModelServer, more: string, grants = "public", regulation = ""): void {
  const text = `version: 1
extends: []
servers: { wiki: { reach: local, operator: me } }
labels:
  wiki.write_page:
    { effects: [write.local], args: { title: identifier, text: content }, output: { confidentiality: public, trust: trusted } }
  wiki.grant_access:
    effects: [write.local.grant]
    args: { account: { role: recipient, sink: false } }
    output: { confidentiality: ${grants}, trust: trusted }
rules: [{ id: desk, tier: allow, when: { tool: "*" }, why: "plain work" }]
flow: { mode: strict }
regulation: { models: { judge: j }${regulation} }
judges: { j: { url: "${judge.url}/v1", model: m, labelFirst: false, wait: 1s${more} } }
`;
  writeFileSync(policy, text);
}

async function connect(): Promise<Client> {
  const args = [launcher, "run", "--policy", policy, "--server", "wiki", "--", process.execPath, wiki];
  const env = { PATH: process.env["PATH"] ?? "", ...sandbox.env };
  const client = new Client({ name: "e2e", version: "1" }, { versionNegotiation: { mode: "legacy" } });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }));
  return client;
}

async function call(client: Client, name: string, given: Record<string, string>): Promise<string> {
  const { content, isError } = await client.callTool({ name, arguments: given });
  const [only] = content;
  return `${isError === true ? "! " : ""}${only?.type === "text" ? only.text : ""}`;
}

/** A judge is tested before it is believed, and a policy is read when its file is quiet: both take a moment. */
async function eventually(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error("waited in vain");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test("a judge takes tools away, refuses calls, and is missed where it says nothing", async () => {
  const client = await connect();
  await eventually(async () => (await client.listTools()).tools.length === 1);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["write_page"]);
  expect(await call(client, "write_page", { title: "Hours", text: "nine to five" })).toBe("write_page done");
  const refused = await call(client, "write_page", { title: "Pay", text: "the payroll of planted-4711" });
  expect(refused).toMatch(/^! Not executed/);
  expect(refused).not.toMatch(/because|things go on/);
  expect(first.received.some((text) => text.includes("planted-4711"))).toBe(true);

  first.script = () => "hang";
  expect(await call(client, "write_page", { title: "Leave", text: "thirty days" })).toMatch(
    /^! Not executed, approval required: the model that judges `wiki\.write_page` did not answer in time/,
  );
  writePolicy(first, "", "public", ", onSilence: allow");
  await eventually(async () => (await call(client, "write_page", { title: "L", text: "days" })) === "write_page done");
  await client.close();
}, 60_000);

test("a changed policy brings its own judge, which is told nothing above its bound", async () => {
  const client = await connect();
  second.script = (body) => (messagesOf(body).evidence.includes("collector.example") ? careful(body) : verdict("safe"));
  writePolicy(second, ", bound: public, above: nothing", "private");
  // The first judge may have been silent about the list: what counts is that the second one was asked.
  const isReal = (body: Json): boolean => !messagesOf(body).evidence.includes("collector.example");
  await eventually(async () => (await client.listTools()).tools.length === 2 && second.bodies.some(isReal));
  await call(client, "write_page", { title: "Hours", text: "planted-4712" });
  expect(second.received.join("\n")).toContain("planted-4712");
  expect(await call(client, "grant_access", { account: "ann" })).toBe("grant_access done");
  // From here on the run holds what is private, so every argument may be it.
  expect(await call(client, "write_page", { title: "Pay", text: "planted-4713" })).toMatch(
    /^! Not executed, approval required: the model that judges `wiki\.write_page` could not be asked/,
  );
  await client.listTools();
  expect([...first.received, ...second.received].join("\n")).not.toContain("planted-4713");
  await client.close();
}, 60_000);
