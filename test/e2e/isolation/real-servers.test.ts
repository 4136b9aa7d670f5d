// Servers that people run, each with the pack and the scope that this package ships for it: what they are made for
// succeeds, nothing of it is held against them, and nobody is asked.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { best, objectionsIn, ownWord, Stage, type Said, type StageServer } from "../../kit/gateway/stage.ts";

const { resolve } = createRequire(import.meta.url);
const fileOf = (name: string, file = "dist/index.js"): string => join(dirname(resolve(`${name}/package.json`)), file);

const browser = [
  "/usr/lib/chromium/chromium",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => existsSync(path));
if (browser === undefined)
  console.log("skipped: no Chromium here, so no server that drives a browser (`apt-get install chromium`)");

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

type Opened = { readonly stage: Stage; readonly call: (tool: string, given?: JsonObject) => Promise<Said> };

/** One server under the pack of its name, with the variables that its documentation tells users to set. */
async function open(name: string, command: readonly string[], env: StageServer["env"] = () => ({})): Promise<Opened> {
  const opened = await Stage.open({
    policy: { version: 1, extends: ["default"], servers: { [name]: { pack: name } }, isolation: {} },
    servers: { [name]: { command: [process.execPath, ...command], env } },
  });
  stage = opened;
  writeFileSync(join(opened.workspace, "note.txt"), "one\ntwo\nthree\n");
  return { stage: opened, call: (tool, given) => opened.call(name, tool, given) };
}

/** Every result came, and no decision on record speaks against the server. */
async function expectClean({ stage: opened }: Opened, said: readonly Said[]): Promise<void> {
  expect(said.length).toBeGreaterThanOrEqual(5);
  expect(said.filter(({ isError }) => isError).map(({ text }) => text)).toEqual([]);
  expect(said.map(ownWord)).toEqual(said.map(() => undefined));
  expect(objectionsIn(await opened.records())).toEqual([]);
  // What is asked of a person is told to the operator as well; that a browser is at work between calls is no objection.
  expect(opened.told.filter((line) => !/ runs in tier | SG-BACKGROUND/.test(line))).toEqual([]);
}

describe.skipIf(!best)("servers with their shipped packs (need tier A)", () => {
  test("server-filesystem", async () => {
    const opened = await open("filesystem", [fileOf("@modelcontextprotocol/server-filesystem"), "."]);
    const { call } = opened;
    const { workspace } = opened.stage;
    await opened.stage.connect("filesystem");
    expect(opened.stage.tierOf("filesystem")).toBe("A");
    const path = join(workspace, "note.txt");
    const edits = [{ oldText: "two", newText: "2" }];
    const said = [
      await call("list_allowed_directories"),
      await call("read_text_file", { path }),
      await call("list_directory", { path: workspace }),
      await call("write_file", { path: join(workspace, "new.txt"), content: "new" }),
      await call("edit_file", { path, edits }),
      await call("create_directory", { path: join(workspace, "drafts") }),
      await call("move_file", { source: join(workspace, "new.txt"), destination: join(workspace, "drafts/new.txt") }),
      await call("get_file_info", { path }),
      await call("search_files", { path: workspace, pattern: "**/*.txt" }),
      await call("directory_tree", { path: workspace }),
    ];
    await expectClean(opened, said);
    expect(readFileSync(path, "utf8")).toBe("one\n2\nthree\n");
    expect(readFileSync(join(workspace, "drafts/new.txt"), "utf8")).toBe("new");
    expect(existsSync(join(workspace, "new.txt"))).toBe(false);
  });

  test("server-everything", async () => {
    const opened = await open("everything", [fileOf("@modelcontextprotocol/server-everything"), "stdio"]);
    const { call } = opened;
    await opened.stage.connect("everything");
    expect(opened.stage.tierOf("everything")).toBe("A");
    await expectClean(opened, [
      await call("echo", { message: "hello" }),
      await call("get-sum", { a: 2, b: 3 }),
      await call("get-tiny-image"),
      await call("get-annotated-message", { messageType: "success" }),
      await call("get-structured-content", { location: "New York" }),
      await call("get-resource-links", { count: 2 }),
      await call("trigger-long-running-operation", { duration: 0.2, steps: 2 }),
    ]);
  });

  test("C21: server-memory, its graph where its pack puts it, in an empty home folder and without a setting", async () => {
    const opened = await open("memory", [fileOf("@modelcontextprotocol/server-memory")]);
    const folder = join(opened.stage.home, ".local/share/mcp-memory");
    const { call } = opened;
    await opened.stage.connect("memory");
    expect(opened.stage.tierOf("memory")).toBe("A");
    const ada = { name: "Ada", entityType: "person", observations: ["likes mathematics"] };
    const engine = { name: "Engine", entityType: "machine", observations: [] };
    await expectClean(opened, [
      await call("create_entities", { entities: [ada, engine] }),
      await call("create_relations", { relations: [{ from: "Ada", to: "Engine", relationType: "writes for" }] }),
      await call("add_observations", { observations: [{ entityName: "Ada", contents: ["lives in London"] }] }),
      await call("read_graph"),
      await call("search_nodes", { query: "Ada" }),
      await call("open_nodes", { names: ["Engine"] }),
    ]);
    expect(readFileSync(join(folder, "memory.json"), "utf8")).toContain("lives in London");
  });

  test("server-sequential-thinking", async () => {
    const opened = await open("sequential-thinking", [fileOf("@modelcontextprotocol/server-sequential-thinking")]);
    await opened.stage.connect("sequential-thinking");
    expect(opened.stage.tierOf("sequential-thinking")).toBe("A");
    const said: Said[] = [];
    for (const thoughtNumber of [1, 2, 3, 4, 5]) {
      const thought = `step ${thoughtNumber}`;
      const given = { thought, thoughtNumber, totalThoughts: 5, nextThoughtNeeded: thoughtNumber < 5 };
      said.push(await opened.call("sequentialthinking", given));
    }
    await expectClean(opened, said);
  });
});

describe.skipIf(!best || browser === undefined)("playwright-mcp with Chromium (needs tier A, and a browser)", () => {
  let pages: Server;
  let address = "";
  beforeAll(async () => {
    pages = createServer((_request, response) => {
      response.setHeader("content-type", "text/html");
      response.end("<title>Local</title><h1>A page</h1><button onclick=\"this.textContent='pressed'\">press</button>");
    });
    await new Promise<void>((done) => pages.listen(0, "127.0.0.1", done));
    // A server on a TCP port always has an AddressInfo.
    address = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`;
  });
  afterAll(() => {
    pages.closeAllConnections();
    pages.close();
  });

  test("the network is open to it, which lowers the tier that is shown", { timeout: 60_000 }, async () => {
    const options = ["--headless", "--isolated", "--no-sandbox", "--executable-path", browser ?? ""];
    const opened = await open("playwright", [fileOf("@playwright/mcp", "cli.js"), ...options]);
    await opened.stage.connect("playwright");
    expect(opened.stage.tierOf("playwright")).toBe("B");
    expect(opened.stage.notesOf("playwright").join(" ")).toContain("net.mode: open");
    const { call } = opened;
    const said = [
      await call("browser_navigate", { url: address }),
      await call("browser_snapshot"),
      await call("browser_take_screenshot"),
      await call("browser_console_messages", { level: "info" }),
      await call("browser_wait_for", { text: "A page" }),
      await call("browser_tabs", { action: "list" }),
      await call("browser_resize", { width: 800, height: 600 }),
      await call("browser_close"),
    ];
    expect(said.map(({ text }) => text).join("\n")).toContain("A page");
    await expectClean(opened, said);
  });
});
