/** A client just large enough to talk to `sluicegate run` in a world of its own: own state, own socket, own policy. */
import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import type { Json } from "../../core/json.ts";
import { isArray, member, stringMember } from "../../core/json.ts";
import { readJson } from "../../gateway/log/json-text.ts";
import { packageFolder } from "../policy-source.ts";
import type { PolicyDocument } from "../../policy/document.ts";
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
  readonly #waiting = new Map<number, (message: Json | undefined) => void>();
  #next = 0;
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
      XDG_CONFIG_HOME: config,
    };
    const words = ["run", "--policy", policy, "--server", doctorServer, "--"];
    const server = [process.execPath, serverFile, this.#record, diary];
    this.#child = spawn(process.execPath, [launcher, ...words, ...server], { env: this.#environment, cwd: this.root });
    this.#child.stdin.on("error", () => undefined);
    this.#child.stderr
      .setEncoding("utf8")
      .on("data", (part: string) => (this.#stderr = (this.#stderr + part).slice(-2_000)));
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#take(line));
    this.#child.on("error", () => this.#end());
    this.#child.on("close", () => this.#end());
  }

  #take(line: string): void {
    const message = readJson(line);
    const id = member(message, "id");
    if (typeof id === "number") this.#waiting.get(id)?.(message);
  }

  #end(): void {
    this.#ended = true;
    for (const resolve of this.#waiting.values()) resolve(undefined);
  }

  /** The last words of the daemon, else of the shim, for a report of what went wrong. */
  get lastWords(): string {
    const log = join(this.home, "daemon.log");
    const daemon = existsSync(log) ? readFileSync(log, "utf8") : "";
    const last = (text: string): string => text.trimEnd().split("\n").at(-1) ?? "";
    // The daemon's reason comes before the shim's, which can only say that there is no daemon.
    return this.#ended && daemon !== "" ? last(daemon) : last(this.#stderr);
  }

  /** Sends a request; undefined if no answer came in time or the shim ended. */
  async request(method: string, params: object): Promise<Json | undefined> {
    if (this.#ended) return undefined;
    const id = (this.#next += 1);
    const answered = new Promise<Json | undefined>((resolve) => this.#waiting.set(id, resolve));
    this.#write({ id, method, params });
    const answer = await Promise.race([answered, pause(answerWaitMsMax, undefined, { ref: false })]);
    this.#waiting.delete(id);
    return answer;
  }

  async initialize(): Promise<boolean> {
    const clientInfo = { name: "sluicegate-doctor", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const answer = await this.request("initialize", params);
    this.#write({ method: "notifications/initialized" });
    return member(answer, "result") !== undefined;
  }

  #write(message: object): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  async call(name: string, values: object): Promise<Answer | undefined> {
    const answer = await this.request("tools/call", { name, arguments: values });
    if (answer === undefined) return undefined;
    const result = member(answer, "result");
    const content = member(result, "content");
    const text = (isArray(content) ? content : []).map((block) => stringMember(block, "text") ?? "").join(" ");
    const refused = member(answer, "error") !== undefined || member(result, "isError") === true;
    return { isError: refused, text: text === "" ? (stringMember(member(answer, "error"), "message") ?? "") : text };
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

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
