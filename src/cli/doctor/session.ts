/** A client just large enough to talk to `sluicegate run` in a world of its own: own state, own socket, own policy. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isAlive } from "../../adapters/daemon/process-identity.ts";
import { type McpClient, childClient, textOf } from "../../app/client/mcp-client.ts";
import { type Json, type JsonObject, member, stringMember } from "../../core/json.ts";
import { readJson } from "../../gateway/log/json-text.ts";
import { packageFolder } from "../../app/policy/policy-source.ts";
import type { PolicyDocument } from "../../policy/canonical/policy-document.ts";
import { doctorServer } from "./policy.ts";

/** Wait for one answer; the first one includes the start of a daemon and of the server. */
export const answerWaitMsMax = 20_000;

/** Wait for processes to be gone after the client has left. */
export const leaveWaitMsMax = 8_000;

const launcher = join(packageFolder, "bin", "sluicegate.js");

/** The tiny server as source or as built file, whichever this very file is. */
const serverFile = join(import.meta.dirname, `server${extname(import.meta.filename)}`);

export type Answer = { readonly isError: boolean; readonly text: string };

export class DoctorSession {
  readonly root = mkdtempSync(join(tmpdir(), "sg-doctor-"));
  readonly home = join(this.root, "home");
  readonly #record = join(this.root, "calls.jsonl");
  readonly #environment: NodeJS.ProcessEnv;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #client: McpClient;
  #stderr = "";
  #ended = false;
  #stopped = false;

  constructor(diary: string, document: PolicyDocument) {
    const config = join(this.root, "config");
    mkdirSync(config, { mode: 0o700 });
    const policy = join(this.root, "policy.json");
    writeFileSync(policy, JSON.stringify(document), { mode: 0o600 });
    this.#environment = {
      ...process.env,
      SLUICEGATE_HOME: this.home,
      SLUICEGATE_RUNTIME_DIR: join(this.root, "run"),
      // The user's own policy is checked by itself; here it must not matter.
      SLUICEGATE_POLICY: "",
      // What the machine can isolate is a check of its own; this server writes its record outside of any workspace.
      SLUICEGATE_ISOLATION: "off",
      XDG_CONFIG_HOME: config,
    };
    const words = ["run", "--policy", policy, "--server", doctorServer, "--"];
    const server = [process.execPath, serverFile, this.#record, diary];
    this.#child = spawn(process.execPath, [launcher, ...words, ...server], { env: this.#environment, cwd: this.root });
    this.#child.stdin.on("error", () => undefined);
    this.#child.stderr
      .setEncoding("utf8")
      .on("data", (part: string) => (this.#stderr = (this.#stderr + part).slice(-2_000)));
    const clientInfo = { name: "sluicegate-doctor", version: "1" };
    this.#client = childClient(this.#child, { clientInfo, waitMsMax: answerWaitMsMax });
    for (const name of ["error", "close"]) {
      this.#child.on(name, () => {
        this.#ended = true;
        this.#client.ended("The shim ended.");
      });
    }
  }

  /** The last words of the daemon, else of the shim, for a report of what went wrong. */
  get lastWords(): string {
    const log = join(this.home, "daemon.log");
    const daemon = existsSync(log) ? readFileSync(log, "utf8") : "";
    const last = (text: string): string => text.trimEnd().split("\n").at(-1) ?? "";
    // The daemon's reason comes before the shim's, which can only report that there is no daemon.
    return this.#ended && daemon !== "" ? last(daemon) : last(this.#stderr);
  }

  async initialize(): Promise<boolean> {
    const hello = await this.#client.hello();
    return hello.ok && !hello.value.failed;
  }

  /** Undefined if no answer came in time or the shim ended. */
  async call(name: string, values: JsonObject): Promise<Answer | undefined> {
    const answer = await this.#client.call(name, values);
    return answer.ok ? { isError: answer.value.failed, text: textOf(answer.value) } : undefined;
  }

  /** Everything that reached the server, as it wrote it down itself. */
  arrived(): readonly Json[] {
    return this.#records().filter((line) => stringMember(line, "tool") !== undefined);
  }

  #records(): readonly Json[] {
    if (!existsSync(this.#record)) return [];
    const lines = readFileSync(this.#record, "utf8").split("\n");
    return lines.map((line) => readJson(line)).filter((value) => value !== undefined);
  }

  /** Lets the client leave; true iff the server is gone soon after. */
  async leave(): Promise<boolean> {
    this.#child.stdin.end();
    const pids = this.#records().map((line) => member(line, "pid"));
    return allGone(pids.filter((pid) => typeof pid === "number"));
  }

  /** Stops the daemon of this world and waits for it: a process that is still ending writes into its folder. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    const child = spawn(process.execPath, [launcher, "daemon", "stop"], { env: this.#environment, stdio: "ignore" });
    await new Promise<void>((resolve) => {
      child.on("close", () => resolve());
      child.on("error", () => resolve());
    });
    this.#child.kill();
    const log = join(this.home, "daemon.log");
    const said = existsSync(log) ? readFileSync(log, "utf8") : "";
    const daemons = [...said.matchAll(/ runs as (\d+)$/gm)].map((found) => Number(found[1]));
    await allGone([this.#child.pid ?? 0, ...daemons]);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** True iff none of the processes lives any more before the wait is over. */
async function allGone(pids: readonly number[]): Promise<boolean> {
  for (let waited = 0; waited < leaveWaitMsMax; waited += 50) {
    if (pids.every((pid) => pid <= 0 || !isAlive(pid))) return true;
    await pause(50);
  }
  return false;
}
