/**
 * Regulation end to end: official clients, two servers of one conversation, the daemon between them. What was read at one
 * server takes a tool of the other one away, and the client hears of it.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, expect, test } from "vitest";
import { repositoryFolder } from "../../kit/server/run-fixture.ts";
import { createSandbox, outputOf, type Sandbox } from "../../kit/gateway/run-gateway.ts";
import { until } from "../../process/fixture/world.ts";

const launcher = join(repositoryFolder, "bin", "sluicegate.js");
const policy = join(import.meta.dirname, "policy.yaml");
const wiki = [process.execPath, join(import.meta.dirname, "wiki-server.ts")];
const filesystem = join(repositoryFolder, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");

let sandbox: Sandbox;
let desk = "";
beforeEach(async () => {
  sandbox = await createSandbox();
  desk = join(sandbox.folder, "desk");
  mkdirSync(desk);
  writeFileSync(join(desk, "salaries.txt"), "Bob Marley earns 91,400 a year");
});
afterEach(() => sandbox.remove());

type Connected = { readonly client: Client; readonly changes: () => number };

type Wanted = { readonly under?: string; readonly modern?: true };

async function connect(server: string, command: readonly string[], wanted: Wanted = {}): Promise<Connected> {
  const { under = policy, modern } = wanted;
  const args = [launcher, "run", "--policy", under, "--server", server, "--", ...command];
  const env = { PATH: process.env["PATH"] ?? "", ...sandbox.env };
  const client = new Client(
    { name: "e2e", version: "1" },
    { versionNegotiation: { mode: modern ? { pin: "2026-07-28" } : "legacy" } },
  );
  let changes = 0;
  client.setNotificationHandler("notifications/tools/list_changed", () => {
    changes += 1;
  });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }));
  return { client, changes: () => changes };
}

async function toolsOf({ client }: Connected): Promise<readonly string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

async function call({ client }: Connected, name: string, given: Record<string, string>): Promise<string> {
  const { content, isError } = await client.callTool({ name, arguments: given });
  const [first] = content;
  return `${isError === true ? "! " : ""}${first?.type === "text" ? first.text : ""}`;
}

const command = (...words: readonly string[]): Promise<string> => outputOf(words, sandbox.env);

test("what was read at one server takes a tool of another one away", async () => {
  const files = await connect("files", [process.execPath, filesystem, desk]);
  const pages = await connect("wiki", wiki);
  expect(pages.client.getServerCapabilities()).toMatchObject({ tools: { listChanged: true } });
  expect(await toolsOf(pages)).toEqual(["write_page", "grant_access"]);
  expect(await call(files, "read_text_file", { path: join(desk, "salaries.txt") })).toContain("91,400");
  expect(await call(pages, "write_page", { title: "Pay", text: "91,400" })).toBe("write_page done");
  await until(() => pages.changes() === 1);
  expect(await toolsOf(pages)).toEqual(["write_page"]);
  // The client may still know it: the call is judged, not the list.
  const refused = await call(pages, "grant_access", { account: "ann@consult.example" });
  expect(refused).toMatch(/^! Not executed: `wiki\.grant_access` is hidden/);
  expect(refused).toContain("salaries-leak");
  const listed = await command("runs");
  expect(listed).toContain("Not shown now:");
  expect(listed).toContain("wiki.grant_access");
  // Nothing else changes for the run, so nothing more is announced.
  expect(await call(pages, "write_page", { title: "Hours", text: "nine to five" })).toBe("write_page done");
  expect(pages.changes()).toBe(1);
  await files.client.close();
  await pages.client.close();
});

test("a modern client hears of it on the stream that it asked for, before a server of the era before", async () => {
  const files = await connect("files", [process.execPath, filesystem, desk]);
  const pages = await connect("wiki", wiki, { modern: true });
  await pages.client.listen({ toolsListChanged: true });
  const listed = await pages.client.listTools();
  expect(listed).toMatchObject({ ttlMs: 0, cacheScope: "private" });
  const before = pages.changes();
  expect(await call(files, "read_text_file", { path: join(desk, "salaries.txt") })).toContain("91,400");
  await call(pages, "write_page", { title: "Pay", text: "91,400" });
  await until(() => pages.changes() > before);
  await files.client.close();
  await pages.client.close();
});

test("where a person may accept it, the card names what looms, and the run shows what was accepted", async () => {
  const lenient = join(sandbox.folder, "lenient.yaml");
  writeFileSync(lenient, readFileSync(policy, "utf8").replace("consent: never", "consent: may"));
  const files = await connect("files", [process.execPath, filesystem, desk], { under: lenient });
  const pages = await connect("wiki", wiki, { under: lenient });
  await call(files, "read_text_file", { path: join(desk, "salaries.txt") });
  await call(pages, "write_page", { title: "Pay", text: "91,400" });
  // Opening the store is asked about now, in the list and at the call.
  const listed = (await pages.client.listTools()).tools.find(({ name }) => name === "grant_access");
  expect(listed?._meta).toEqual({ "io.github.sluicegate/consent": true });
  const asked = await call(pages, "grant_access", { account: "ann@consult.example" });
  const id = /sluicegate approve ([\w-]+)`/.exec(asked)?.[1] ?? "";
  expect(await command("approve")).toContain(
    "Approving means: from then on `fire wiki:pages anyone` (`anyone` reads `wiki:pages`) may cause hazard `salaries-leak` in this run.",
  );
  await command("approve", id);
  expect(await call(pages, "grant_access", { account: "ann@consult.example" })).toBe("grant_access done");
  expect(await command("runs")).toContain("salaries-leak fire wiki:pages anyone");
  // The wiki stays open: a new run begins where nobody has accepted that, until a person does by hand.
  await command("runs", "new");
  expect(await call(pages, "write_page", { title: "Hours", text: "nine to five" })).toMatch(/^! Not executed/);
  const { runs } = JSON.parse(await command("runs", "--json")) as { runs: { run: string; regulation: object }[] };
  expect(runs).toMatchObject([{ regulation: { state: "unsafe", risks: [] } }]);
  const said = await command("runs", "accept", runs[0]?.run ?? "", "salaries-leak", "fire", "wiki:pages", "anyone");
  expect(said).toContain("fire wiki:pages anyone may cause hazard salaries-leak");
  expect(await call(pages, "write_page", { title: "Hours", text: "nine to five" })).toBe("write_page done");
  await files.client.close();
  await pages.client.close();
});
