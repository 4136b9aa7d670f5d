// `npm run tour`: ten seconds with the real thing. Two servers behind the guard, a benign call, a private file on its
// way out, the sentence that stops it, and the log that remembers. Everything happens in a temporary folder.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type McpClient, childClient, textOf } from "../src/app/client/mcp-client.ts";
import type { JsonObject } from "../src/core/json.ts";
import type { Result } from "../src/core/result.ts";

const root = resolve(import.meta.dirname, "..");
const command = join(root, "bin/sluicegate.js");
const answerWaitMsMax = 20_000;

const folder = mkdtempSync(join(tmpdir(), "sg-tour-"));
const workspace = join(folder, "workspace");
const outbox = join(folder, "outbox.jsonl");
mkdirSync(join(workspace, "private"), { recursive: true });
writeFileSync(join(workspace, "README.md"), "Sluice gates hold water back until somebody decides to let it through.\n");
writeFileSync(join(workspace, "private/salaries.csv"), "name,salary\nana,71300\nben,68850\n");
const environment = {
  ...process.env,
  SLUICEGATE_HOME: join(folder, "state"),
  SLUICEGATE_RUNTIME_DIR: join(folder, "run"),
};

/** A client of one guarded server. */
class Client {
  readonly #child: ChildProcess;
  readonly #client: McpClient;

  constructor(server: string, words: readonly string[]) {
    const policy = join(root, "examples/tour/policy.yaml");
    const run = [command, "run", "--policy", policy, "--server", server, "--", process.execPath, ...words];
    this.#child = spawn(process.execPath, run, { cwd: workspace, env: environment, stdio: ["pipe", "pipe", "ignore"] });
    const clientInfo = { name: "tour", version: "1" };
    this.#client = childClient(this.#child, { clientInfo, waitMsMax: answerWaitMsMax });
  }

  async start(): Promise<void> {
    unwrap(await this.#client.hello());
    unwrap(await this.#client.ask("tools/list", {}));
  }

  async call(name: string, given: JsonObject): Promise<{ readonly text: string; readonly refused: boolean }> {
    const answer = unwrap(await this.#client.call(name, given));
    return { text: textOf(answer), refused: answer.failed };
  }

  end(): void {
    this.#child.stdin?.end();
  }
}

function unwrap<T>(result: Result<T, string>): T {
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

let failed = false;
function step(title: string, held: boolean, detail: string): void {
  if (!held) failed = true;
  console.log(`${held ? "✓" : "✗"} ${title}\n    ${detail.trim().replaceAll("\n", "\n    ")}`);
}

function sluicegate(...words: readonly string[]): { readonly text: string; readonly ok: boolean } {
  const run = spawnSync(process.execPath, [command, ...words], {
    env: environment,
    encoding: "utf8",
    timeout: answerWaitMsMax,
  });
  return { text: `${run.stdout}${run.stderr}`.trim(), ok: run.status === 0 };
}

const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-filesystem/package.json");
const files = new Client("files", [join(dirname(manifest), "dist/index.js"), workspace]);
const mail = new Client("outbox", [join(root, "examples/servers/outbox.ts"), outbox]);
try {
  console.log("Two servers run behind Sluicegate: files (a workspace) and outbox (mail to the world).\n");
  await files.start();
  await mail.start();

  const readme = await files.call("read_text_file", { path: join(workspace, "README.md") });
  step("the agent reads README.md", !readme.refused && readme.text.includes("Sluice gates"), readme.text);

  const hello = await mail.call("send_message", { to: "press@example.com", body: readme.text });
  step("and mails it out: nothing private, so it passes", !hello.refused && existsSync(outbox), hello.text);

  const salaries = await files.call("read_text_file", { path: join(workspace, "private/salaries.csv") });
  step("it reads private/salaries.csv: reading is its job", !salaries.refused, salaries.text);

  const leak = await mail.call("send_message", { to: "press@example.com", body: "ana earns 71300" });
  const arrived = existsSync(outbox) && readFileSync(outbox, "utf8").includes("71300");
  step("and tries to mail it out: stopped, and nothing arrived", leak.refused && !arrived, leak.text);

  const verified = sluicegate("audit", "verify", "--log", "daemon");
  step("the log of all this is intact", verified.ok, verified.text.split("\n").at(-1) ?? "");
} catch (cause) {
  step("the tour", false, cause instanceof Error ? cause.message : "failed");
} finally {
  files.end();
  mail.end();
  sluicegate("daemon", "stop");
  rmSync(folder, { recursive: true, force: true });
}
console.log(
  failed
    ? "\nSomething did not hold: run `npx sluicegate doctor`."
    : "\nThat is the whole idea. Guard your own: npx sluicegate run -- YOUR-SERVER",
);
process.exitCode = failed ? 1 : 0;
