/**
 * `sluicegate tour`: ten seconds with the real thing. Two servers behind the guard, a benign call, a private file on its way
 * out, the sentence that stops it, and the log that remembers. Everything happens in a temporary folder.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import type { Command } from "commander";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join, resolve } from "node:path";
import { type McpClient, childClient, textOf } from "../../app/client/mcp-client.ts";
import { packageFolder } from "../../app/policy/policy-source.ts";
import type { Outcome } from "../../app/state/outcome.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Result } from "../../core/result.ts";
import { acts } from "../output.ts";

const launcher = join(packageFolder, "bin", "sluicegate.js");

/** The servers beside this module: as it is written in a checkout, as it was built in a package. */
const server = resolve(import.meta.dirname, "..", "tour", `server${extname(import.meta.filename)}`);

const answerWaitMsMax = 20_000;

type Scene = {
  readonly folder: string;
  readonly workspace: string;
  readonly outbox: string;
  readonly env: NodeJS.ProcessEnv;
};
type Step = { readonly title: string; readonly held: boolean; readonly detail: string };
type Said = { readonly text: string; readonly refused: boolean };

export function register(program: Command): void {
  const command = program
    .command("tour")
    .description("a story in the terminal: calls that pass, and private data that is stopped on its way out");
  acts(command, {}, tour);
}

async function tour(): Promise<Outcome> {
  const scene = staged();
  const steps: Step[] = [];
  const files = new Client(scene, "files", scene.workspace);
  const mail = new Client(scene, "outbox", scene.outbox);
  try {
    await play(scene, { files, mail }, steps);
  } catch (cause) {
    steps.push({ title: "the tour", held: false, detail: cause instanceof Error ? cause.message : "failed" });
  } finally {
    files.end();
    mail.end();
    command(scene, "daemon", "stop");
    rmSync(scene.folder, { recursive: true, force: true });
  }
  const held = steps.every((step) => step.held);
  const last = held
    ? "That is the whole idea. Guard your own: npx sluicegate run -- YOUR-SERVER"
    : "Something did not hold: run `npx sluicegate doctor`.";
  const lines = steps.map(
    (one) => `${one.held ? "✓" : "✗"} ${one.title}\n    ${one.detail.trim().replaceAll("\n", "\n    ")}`,
  );
  const head = "Two servers run behind Sluicegate: files (a workspace) and outbox (mail to the world).";
  return { exitCode: held ? 0 : 1, json: { held, steps }, text: [head, "", ...lines, "", last].join("\n") };
}

function staged(): Scene {
  const folder = mkdtempSync(join(tmpdir(), "sg-tour-"));
  const workspace = join(folder, "workspace");
  mkdirSync(join(workspace, "private"), { recursive: true });
  writeFileSync(join(workspace, "README.md"), "Sluice gates hold water back until they are opened.\n");
  writeFileSync(join(workspace, "private/salaries.csv"), "name,salary\nana,71300\nben,68850\n");
  const own = {
    SLUICEGATE_HOME: join(folder, "state"),
    SLUICEGATE_RUNTIME_DIR: join(folder, "run"),
    SLUICEGATE_POLICY: "",
    // The story is about data; its servers are part of this package, and one writes its mail beside the workspace.
    SLUICEGATE_ISOLATION: "off",
  };
  return { folder, workspace, outbox: join(folder, "outbox.jsonl"), env: { ...process.env, ...own } };
}

async function play(
  scene: Scene,
  { files, mail }: { readonly files: Client; readonly mail: Client },
  steps: Step[],
): Promise<void> {
  const { workspace, outbox } = scene;
  const step = (title: string, held: boolean, detail: string): void => void steps.push({ title, held, detail });
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

  const verified = command(scene, "audit", "verify", "--log", "daemon");
  step("the log of all this is intact", verified.ok, verified.text.split("\n").at(-1) ?? "");
}

/** A client of one guarded server. */
class Client {
  readonly #child: ChildProcess;
  readonly #client: McpClient;

  constructor({ workspace, env }: Scene, name: string, place: string) {
    const policy = join(packageFolder, "examples/tour/policy.yaml");
    const run = [launcher, "run", "--policy", policy, "--server", name, "--", process.execPath, server, name, place];
    this.#child = spawn(process.execPath, run, { cwd: workspace, env, stdio: ["pipe", "pipe", "ignore"] });
    const clientInfo = { name: "tour", version: "1" };
    this.#client = childClient(this.#child, { clientInfo, waitMsMax: answerWaitMsMax });
  }

  async start(): Promise<void> {
    unwrap(await this.#client.hello());
    unwrap(await this.#client.ask("tools/list", {}));
  }

  async call(name: string, given: JsonObject): Promise<Said> {
    const answer = unwrap(await this.#client.call(name, given));
    return { text: textOf(answer), refused: answer.failed };
  }

  end(): void {
    this.#child.stdin?.end();
  }
}

function command({ env }: Scene, ...words: readonly string[]): { readonly text: string; readonly ok: boolean } {
  const options = { env, encoding: "utf8", timeout: answerWaitMsMax } as const;
  const run = spawnSync(process.execPath, [launcher, ...words], options);
  return { text: `${run.stdout}${run.stderr}`.trim(), ok: run.status === 0 };
}

/** The tour is a story: whatever goes wrong in it ends it, and is told as a step that did not hold. */
function unwrap<T>(result: Result<T, string>): T {
  if (!result.ok) throw new Error(result.error);
  return result.value;
}
