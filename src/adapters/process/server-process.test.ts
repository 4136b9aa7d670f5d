import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defaultTransportLimits } from "../net/net-limits.ts";
import type { ProcessTarget } from "./launch.ts";
import { type ServerProcess, startProcess } from "./server-process.ts";

const limits = { ...defaultTransportLimits, stopGraceMs: 200 };
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluicegate-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function target(args: readonly string[], more: Partial<ProcessTarget> = {}): ProcessTarget {
  const env = { PATH: "/usr/bin:/bin" };
  return { kind: "stdio", command: "sh", args: ["-c", ...args], env, workingDirectory: folder, ...more };
}

function start(aim: ProcessTarget, stderrLine?: (line: string) => void): ServerProcess {
  const started = startProcess(aim, stderrLine === undefined ? { limits } : { limits, stderrLine });
  if (!started.ok) throw new Error(started.error);
  return started.value;
}

async function output(process: ServerProcess): Promise<string> {
  let text = "";
  process.stdout.setEncoding("utf8").on("data", (part: string) => (text += part));
  await process.ended;
  return text;
}

/** Members of a group that still run; zombies that nobody reaped count as gone. */
function alive(group: number): number {
  const result = spawnSyncText("ps", ["-eo", "pgid=,stat="]);
  return result.split("\n").filter((line) => new RegExp(`^\\s*${group}\\s+[^Z]`).test(line)).length;
}

function spawnSyncText(file: string, args: string[]): string {
  return spawnSync(file, args, { encoding: "utf8" }).stdout;
}

async function gone(group: number): Promise<void> {
  for (let round = 0; round < 100 && alive(group) > 0; round += 1) await new Promise((done) => setTimeout(done, 20));
  expect(alive(group)).toBe(0);
}

test("a server gets its arguments, environment, folder and umask, and nothing else", async () => {
  const env = { PATH: "/usr/bin:/bin", PLAIN: "1" };
  const body = 'env | sort; umask; pwd; echo "$1"; [ -e /dev/fd/3 ] || echo closed';
  const text = await output(start(target([body, "sh", "x y"], { env, umask: 0o027 })));
  for (const line of ["PLAIN=1", "0027", folder, "x y", "closed"]) {
    expect(text.split("\n")).toContain(line);
  }
});

test("variables that a shell would drop arrive all the same", async () => {
  const env = { PATH: "/usr/bin:/bin", "spring.profiles.active": 'a"b', "A-B": "2" };
  const text = await output(start(target([], { command: "env", args: [], env })));
  expect(text).toContain('spring.profiles.active=a"b\nA-B=2\n');
  expect(text).not.toContain("SLUICEGATE");
});

test("end of input ends a server that minds it", async () => {
  const server = start(target(["cat; exit 3"]));
  expect(alive(server.processGroup)).toBeGreaterThanOrEqual(2);
  expect(await server.stop()).toMatchObject({ code: 3, signal: undefined, guardianLost: false });
  await gone(server.processGroup);
});

test("SIGTERM ends a server that ignores the end of input", async () => {
  const server = start(target(["while :; do sleep 0.1; done"]));
  expect(await server.stop()).toMatchObject({ signal: "SIGTERM" });
  await gone(server.processGroup);
});

test("SIGKILL ends a server that ignores everything, with its children", async () => {
  const server = start(
    target(["trap '' TERM HUP INT; (trap '' TERM; while :; do sleep 1; done) & while :; do sleep 1; done"]),
  );
  await new Promise((done) => setTimeout(done, 100));
  expect(await server.stop()).toMatchObject({ signal: "SIGKILL" });
  await gone(server.processGroup);
});

test("children that a server leaves behind end with it", async () => {
  const server = start(target(["sleep 1000 & exit 0"]));
  expect(await server.ended).toMatchObject({ code: 0 });
  await gone(server.processGroup);
});

test("the last lines before the end are not lost, and the last words are printable", async () => {
  const lines: string[] = [];
  const server = start(target(["printf 'one\\n'; printf '\\033[31mbad\\007thing\\n\\n' >&2; exit 1"]), (line) =>
    lines.push(line),
  );
  expect(await output(server)).toBe("one\n");
  expect(lines).toEqual(["bad thing"]);
  expect((await server.ended).lastWords).toBe("bad thing");
});

test("the last words of a Node program that crashes are its error, not the version of Node below the stack", async () => {
  const server = start(target([], { command: process.execPath, args: ["no-such-file.js"] }));
  expect((await server.ended).lastWords).toMatch(/^Error: Cannot find module '.*no-such-file\.js'$/);
});

test("a long line of stderr is cut", async () => {
  const lines: string[] = [];
  const server = start(target(["head -c 1000000 /dev/zero | tr '\\0' x >&2"]), (line) => lines.push(line));
  await server.ended;
  expect(lines).toHaveLength(1);
  expect(lines[0]?.length).toBeLessThanOrEqual(limits.stderrLineBytesMax);
});

test("a server that kills its guardian is ended and named", async () => {
  const server = start(
    target([
      "sleep 0.2; for p in $(ps -eo pid=,pgid= | awk -v g=$$ '$2==g && $1!=g {print $1}'); do kill -9 $p; done; sleep 1000",
    ]),
  );
  expect(await server.ended).toMatchObject({ signal: "SIGKILL", guardianLost: true });
  await gone(server.processGroup);
});

const failures: readonly (readonly [string, Partial<ProcessTarget>, string])[] = [
  ["a missing command", { command: "no-such-command" }, "was not found"],
  ["a missing absolute path", { command: "/no/such" }, "was not found"],
  ["a missing folder", { workingDirectory: "/no/such" }, "does not exist"],
  ["a folder as command", { command: "/tmp" }, "not an executable file"],
  ["a NUL", { env: { A: "\0" } }, "NUL"],
  ["an environment over the system's limit", { env: { A: "x".repeat(3_000_000) } }, "too large"],
];
for (const [name, more, words] of failures) {
  test(`${name} is one sentence with a remedy`, () => {
    const started = startProcess(target(["exit"], more), { limits });
    expect(started.ok).toBe(false);
    if (started.ok) return;
    expect(started.error).toContain(words);
    expect(started.error.length).toBeLessThanOrEqual(240);
  });
}

test("a file without execute permission is told apart from a missing one", () => {
  const file = join(folder, "plain.txt");
  writeFileSync(file, "x");
  chmodSync(file, 0o644);
  const started = startProcess(target([], { command: file }), { limits });
  expect(started.ok ? "" : started.error).toContain("not an executable file");
});

test("no orphan survives `kill -9` of the gateway, even in the instant of the start", async () => {
  const script = join(folder, "gateway.mjs");
  const module = new URL("./server-process.ts", import.meta.url).href;
  const settings = new URL("../net/net-limits.ts", import.meta.url).href;
  writeFileSync(
    script,
    `import { startProcess } from ${JSON.stringify(module)}; import { defaultTransportLimits as limits } from ${JSON.stringify(settings)};
     import { writeSync } from "node:fs";
     const t = { kind: "stdio", command: "sh", args: ["-c", "trap '' TERM HUP; while :; do sleep 1; done & while :; do sleep 1; done"], env: { PATH: process.env.PATH }, workingDirectory: "/" };
     const s = startProcess(t, { limits }); writeSync(1, s.value.processGroup + "\\n");
     if (process.argv[2] === "now") process.kill(process.pid, "SIGKILL"); setInterval(() => {}, 1000);`,
  );
  for (const when of ["now", "later", "now", "later"]) {
    const gateway: ChildProcess = spawn(process.execPath, [script, when], { stdio: ["ignore", "pipe", "inherit"] });
    const group = await new Promise<number>((done) =>
      gateway.stdout?.once("data", (part: Buffer) => done(Number(part))),
    );
    if (when === "later") {
      await new Promise((done) => setTimeout(done, 150));
      expect(alive(group)).toBeGreaterThanOrEqual(3);
      gateway.kill("SIGKILL");
    }
    await gone(group);
  }
});
