import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { effectActions } from "../../core/isolation/effect-trace.ts";
import { type HookedRuntime, hookEnvironment, hookTracer, parseHookLine } from "./hook-tracer.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);
const folder = mkdtempSync(join(tmpdir(), "sluicegate-hooks-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

function hooked(runtime: HookedRuntime, command: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const file = join(folder, String(files++));
  const tracer = hookTracer(file);
  if (!tracer.ok) throw new Error(tracer.error);
  const environment = hookEnvironment({
    file,
    folder: join(folder, "with space", runtime),
    runtime,
    environment: more,
  });
  if (!environment.ok) throw new Error(environment.error);
  const [program = "", ...args] = command;
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, ...more, ...environment.value };
  const result = spawnSync(program, args, { env, encoding: "utf8", timeout: 30_000 });
  return { tracer: tracer.value, result, seen: tracer.value.drain() };
}

test("a server in Node tells what it does through its runtime", () => {
  const script = `const fs = require("node:fs"); fs.readFileSync("/etc/hosts"); fs.writeFileSync("${folder}/w", "");
    require("node:child_process").execFileSync("/bin/echo"); require("node:net").connect(9, "127.0.0.1").on("error", () => {});`;
  const { seen, result, tracer } = hooked("node", [process.execPath, "-e", script], { NODE_OPTIONS: "--no-warnings" });
  expect(result.status).toBe(0);
  for (const one of [
    { action: "file-read", path: "/etc/hosts" },
    { action: "file-write", path: join(folder, "w") },
    { action: "process-spawn", program: "/bin/echo" },
    { action: "net-connect", address: "127.0.0.1", port: 9, transport: "tcp" },
  ]) {
    expect(seen).toContainEqual(expect.objectContaining({ ...one, grade: "self", outcome: "unknown" }));
  }
  expect([tracer.lost, tracer.failure]).toEqual([0, undefined]);
  tracer.close();
  expect(tracer.drain()).toEqual([]);
});

const python = spawnSync("python3", ["-c", "import sys; sys.addaudithook"]).status === 0;

test.skipIf(!python)("a server in Python does so too, and its own sitecustomize still runs (needs python3)", () => {
  const own = join(folder, "own");
  mkdirSync(own);
  writeFileSync(join(own, "sitecustomize.py"), "import builtins\nbuiltins.own_ran = True\n");
  const script = `import os, socket, subprocess
os.chdir("${folder}")
open("/etc/hosts").close(); open("p", "w").close(); os.rename("p", "q"); os.remove("q"); subprocess.run(["/bin/echo", "a"])
try: socket.create_connection(("127.0.0.1", 9))
except OSError: pass
print(own_ran)`;
  const { seen, result, tracer } = hooked("python", ["python3", "-c", script], { PYTHONPATH: own });
  expect(result.stdout).toContain("True");
  for (const one of [
    { action: "file-read", path: "/etc/hosts" },
    { action: "file-write", path: join(folder, "p") },
    { action: "file-rename", path: join(folder, "p"), target: join(folder, "q") },
    { action: "file-delete", path: join(folder, "q") },
    { action: "process-spawn", program: "/bin/echo", commandLine: "/bin/echo a" },
    { action: "net-connect", address: "127.0.0.1", port: 9 },
    { action: "dns-query", domain: "127.0.0.1" },
  ]) {
    expect(seen).toContainEqual(expect.objectContaining({ ...one, grade: "self" }));
  }
  tracer.close();
});

test("whatever stands in the record, the worst it can be is the server's own word", () => {
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom("file-read", "tcp", 80, -1, "x".repeat(2_000)));
  const line = fc.oneof(
    fc.string({ unit: "binary" }),
    fc
      .dictionary(fc.constantFrom("action", "path", "port", "process", "transport", "grade", "__proto__"), value)
      .map((one) => JSON.stringify(one)),
  );
  fc.assert(
    fc.property(line, (text) => {
      const one = parseHookLine(text, 1);
      if (one === undefined) return;
      expect(effectActions).toContain(one.action);
      expect([one.grade, one.outcome, one.at]).toEqual(["self", "unknown", 1]);
      expect((one.path ?? "").length).toBeLessThanOrEqual(512);
    }),
    { numRuns: runs },
  );
});

test("lines that are none are counted, and a record that was cut short is no record", () => {
  const file = join(folder, "cut");
  const tracer = hookTracer(file);
  if (!tracer.ok) throw new Error(tracer.error);
  appendFileSync(file, `{"action":"file-read","path":"/a"}\nnothing\n{"action":"file-re`);
  expect(tracer.value.drain()).toMatchObject([{ path: "/a" }]);
  expect(tracer.value.lost).toBe(1);
  appendFileSync(file, `ad","path":"/b"}\n${"x".repeat(20_000)}`);
  expect(tracer.value.drain()).toMatchObject([{ path: "/b" }]);
  expect(tracer.value.lost).toBe(2);
  truncateSync(file, 3);
  expect(tracer.value.drain()).toEqual([]);
  expect(tracer.value.failure).toContain("cut");
  expect(hookTracer(file)).toMatchObject({ ok: false });
  const blocked = { file, folder: join(file, "x"), runtime: "node", environment: {} } as const;
  expect(hookEnvironment(blocked)).toMatchObject({ ok: false });
});
