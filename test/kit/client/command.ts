/** Runs the real command line as a child process, in a world of its own. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { makeWarmHome } from "./warm-home.ts";

export const repository = resolve(import.meta.dirname, "../../..");
const launcher = join(repository, "bin", "sluicegate.js");

export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export class Terminal {
  readonly root = mkdtempSync(join(tmpdir(), "sg-cli-"));
  readonly home = join(this.root, "home");

  constructor() {
    makeWarmHome(this.home);
  }

  run(...words: readonly string[]): Promise<Ran> {
    return this.runTo("pipe", ...words);
  }

  /** The same with standard output on an open file; what went there is not in `stdout`. */
  runTo(output: "pipe" | number, ...words: readonly string[]): Promise<Ran> {
    const env = {
      PATH: process.env["PATH"] ?? "",
      HOME: this.root,
      SLUICEGATE_HOME: this.home,
      SLUICEGATE_RUNTIME_DIR: join(this.root, "run"),
      SLUICEGATE_ISOLATION: "off",
    };
    const child = spawn(process.execPath, [launcher, ...words], {
      cwd: this.root,
      env,
      stdio: ["ignore", output, "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    return new Promise((done) => child.on("close", (code) => done({ code, stdout, stderr })));
  }

  /** The same with `--json`, parsed. */
  async json(...words: readonly string[]): Promise<{ readonly code: number | null; readonly value: unknown }> {
    const ran = await this.run(...words, "--json");
    return { code: ran.code, value: JSON.parse(ran.stdout) };
  }

  file(name: string, content: unknown): string {
    const path = join(this.root, name);
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
