// `sluicegate learn`: what it proposes is a policy, and under it the very calls that it was learned from pass.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { JsonObject } from "../../../src/core/json.ts";
import { repositoryFolder } from "../../kit/server/run-fixture.ts";
import { best, objectionsIn, ownWord, Stage } from "../../kit/gateway/stage.ts";

const filesystem = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-filesystem/dist/index.js");
const fetcher = fileURLToPath(new URL("network-server.ts", import.meta.url));
/** A whole server in one file, since what it would import does not lie in the workspace. */
const scriptInWorkspace = `
const tools = [{ name: "hello", inputSchema: { type: "object" } }];
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": () => ({ content: [{ type: "text", text: "hello" }] }),
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.(params) ?? {} }));
});
`;
const launcher = join(repositoryFolder, "bin", "sluicegate.js");
const run = promisify(execFile);

type Call = { readonly tool: string; readonly arguments: JsonObject };

let root = "";
let [home, workspace] = ["", ""];
let stage: Stage | undefined;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "sluicegate-learn-"));
  [home, workspace] = [join(root, "user"), join(root, "workspace")];
  for (const folder of [home, workspace]) mkdirSync(folder);
  writeFileSync(join(workspace, "note.txt"), "a note\n");
});
afterEach(async () => {
  await stage?.close();
  stage = undefined;
  rmSync(root, { recursive: true, force: true });
});

async function command(...words: readonly string[]): Promise<string> {
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, SLUICEGATE_HOME: join(root, "state") };
  const { stdout } = await run(process.execPath, [launcher, ...words], { env, cwd: workspace });
  return stdout;
}

/** The policy that is proposed for a server that makes these calls, as text. */
async function learned(server: string, calls: readonly Call[], program: readonly string[]): Promise<string> {
  const file = join(root, "calls.json");
  writeFileSync(file, JSON.stringify(calls));
  return command("learn", "--server", server, "--calls", file, "--", process.execPath, ...program);
}

/** The same calls through the gateway under what was proposed, with the labels that the user has anyway. */
async function expectRoundTrip(
  text: string,
  more: JsonObject,
  calls: readonly Call[],
  served: { readonly name: string; readonly program: readonly string[] },
): Promise<void> {
  const file = join(root, "learned.yaml");
  writeFileSync(file, text);
  expect(await command("policy", "check", file)).toContain("The policy loads: 0 errors, 0 warnings");
  const { name, program } = served;
  // The text of our own command, which was checked just now.
  const { isolation } = parse(text) as { isolation: JsonObject };
  const opened = await Stage.open({
    policy: { version: 1, extends: ["default"], ...more, isolation },
    servers: { [name]: { command: [process.execPath, ...program] } },
    home,
    workspace,
  });
  stage = opened;
  await opened.connect(name);
  for (const { tool, arguments: given } of calls) {
    const said = await opened.call(name, tool, given);
    expect([said.isError, ownWord(said)], `${tool}: ${said.text}`).toEqual([false, undefined]);
  }
  expect(objectionsIn(await opened.records())).toEqual([]);
}

describe.skipIf(!best)("what is learned holds (needs tier A)", () => {
  test("a server of files", async () => {
    const path = join(workspace, "note.txt");
    const calls = [
      { tool: "read_text_file", arguments: { path } },
      { tool: "write_file", arguments: { path: join(workspace, "new.txt"), content: "new" } },
      { tool: "list_directory", arguments: { path: workspace } },
    ];
    const program = [filesystem, "."];
    const text = await learned("filesystem", calls, program);
    expect(text).toMatch(/"filesystem":\n\s+files:\n\s+workspace: \{mode: overlay\}/);
    const servers = { filesystem: { pack: "filesystem" } };
    await expectRoundTrip(text, { servers }, calls, { name: "filesystem", program });
  });

  test("a server whose script lies in the workspace", async () => {
    const script = join(workspace, "server.js");
    writeFileSync(script, scriptInWorkspace);
    const calls = [{ tool: "hello", arguments: {} }];
    const text = await learned("greeter", calls, ["server.js"]);
    const labels = { "greeter.hello": { effects: ["read.local"], output: { confidentiality: "public" } } };
    await expectRoundTrip(text, { labels }, calls, { name: "greeter", program: [script] });
  });

  test("a server that ends says why itself", async () => {
    writeFileSync(join(workspace, "end.js"), 'console.error("no notes at /srv/notes\\x1b[2J"); process.exit(1);');
    await expect(learned("ends", [], ["end.js"])).rejects.toMatchObject({
      code: 2,
      // What it writes is shown, and moves no cursor.
      stderr: expect.stringMatching(/^no notes at \/srv\/notes\nThe server ended with exit code 1\./),
    });
  });

  test("a server that wants to reach hosts, each for the tool that asked", async () => {
    // Nobody answers for these names here; what was tried is what is needed.
    const calls = [
      { tool: "fetch_page", arguments: { url: "http://pages.weather.example/" } },
      { tool: "fetch_more", arguments: { url: "https://more.weather.example/" } },
    ];
    const text = await learned("fetcher", calls, [fetcher]);
    expect(text).toMatch(/"fetch_page":\n\s+allow:\n\s+- "pages\.weather\.example:80"/);
    expect(text).toMatch(/"fetch_more":\n\s+allow:\n\s+- "more\.weather\.example:443"/);
    const reads = {
      effects: ["read.external"],
      rest: { role: "query", sink: false },
      output: { confidentiality: "public", trust: "untrusted" },
    };
    const labels = { "fetcher.fetch_page": reads, "fetcher.fetch_more": reads };
    await expectRoundTrip(text, { labels }, calls, { name: "fetcher", program: [fetcher] });
  });
});
