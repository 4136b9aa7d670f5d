import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { takeLock } from "./lock.ts";
import { daemonPaths, runtimeFolder, stateHome } from "./paths.ts";
import { clientChain, hasEnded, identify, isAlive, killGroup } from "./process-identity.ts";
import { parseHello, toLine } from "./protocol.ts";
import { parseControlReply, parseRunReply, parseSideLine, parseSignalLine } from "./replies.ts";
import { isNewer, ownVersion } from "./version.ts";

const root = mkdtempSync(join(tmpdir(), "sg-unit-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const uid = process.getuid?.() ?? 0;

const run = {
  kind: "run",
  version: "1.0.0",
  home: "/h",
  session: "s",
  argv: ["cat", ""],
  cwd: "/",
  env: { A: "1" },
  umask: 18,
  client: { pid: 7, startedAt: "9" },
  above: [{ pid: 6, startedAt: "8" }],
} as const;

test("hellos are read back as they were written", () => {
  for (const hello of [
    run,
    { ...run, resume: "r", policy: "/p", server: "n" },
    { kind: "side", version: "1", session: "s" } as const,
    { kind: "control", version: "1", request: { kind: "runs" } } as const,
  ]) {
    expect(parseHello(toLine(hello))).toEqual({ ok: true, value: hello });
  }
});

test.each([
  ["no JSON", "{"],
  ["no version", '{"kind":"run"}'],
  ["no session", '{"kind":"side","version":"1"}'],
  ["unknown kind", '{"kind":"x","version":"1","session":"s"}'],
  ["no command", JSON.stringify({ ...run, argv: [] })],
  ["argv with a number", JSON.stringify({ ...run, argv: ["a", 1] })],
  ["no environment", JSON.stringify({ ...run, env: [] })],
  ["client 0", JSON.stringify({ ...run, client: { pid: 0, startedAt: "" } })],
  ["umask as text", JSON.stringify({ ...run, umask: "022" })],
])("a hello with %s is refused", (_, text) => {
  expect(parseHello(text).ok).toBe(false);
});

test("replies: garbage becomes a refusal with a way on, side lines of no known kind are ignored", () => {
  expect(parseRunReply('{"kind":"accepted","session":"s","run":"r"}')).toEqual({
    kind: "accepted",
    session: "s",
    run: "r",
  });
  expect(parseRunReply("?")).toMatchObject({ kind: "refused", reason: "refused" });
  expect(parseControlReply('{"kind":"part","value":[1]}')).toEqual({ kind: "part", value: [1] });
  expect(parseControlReply('{"refused":"no","reason":"version","version":"2"}')).toEqual({
    kind: "refused",
    reason: "version",
    version: "2",
    refused: "no",
  });
  expect(parseSideLine('{"kind":"group","leader":{"pid":-1,"startedAt":""}}')).toBeUndefined();
  expect(parseSideLine('{"kind":"ended","end":{"exitCode":7}}')).toEqual({
    kind: "ended",
    end: { exitCode: 1, sentence: "" },
  });
  expect(parseSideLine('{"kind":"what"}')).toBeUndefined();
  expect(parseSignalLine('{"kind":"signal","name":"SIGKILL"}')).toBeUndefined();
  expect(parseSignalLine('{"kind":"signal","name":"SIGINT"}')).toEqual({ kind: "signal", name: "SIGINT" });
});

test("versions: numbers by value, a pre-release before its release", () => {
  const ordered = ["0.0.9", "0.1.0-alpha.2", "0.1.0-alpha.10", "0.1.0", "0.2.0", "1.0.0"];
  ordered.forEach((left, i) => ordered.forEach((right, j) => expect(isNewer(left, right)).toBe(i > j)));
  expect(ownVersion()).toMatch(/^\d+\.\d+\.\d+/);
});

test("folders: own variables first, then XDG, then a private folder; the socket path stays short", () => {
  expect(stateHome({ SLUICEGATE_HOME: "/a", XDG_STATE_HOME: "/b" })).toBe("/a");
  expect(stateHome({ XDG_STATE_HOME: "/b" })).toBe("/b/sluicegate");
  expect(runtimeFolder({ XDG_RUNTIME_DIR: root }, uid)).toBe(join(root, "sluicegate"));
  // Somebody else's runtime folder is not used, whoever put it into the environment.
  expect(runtimeFolder({ XDG_RUNTIME_DIR: root }, uid + 1)).not.toContain(root);
  const long = daemonPaths({ SLUICEGATE_HOME: root, SLUICEGATE_RUNTIME_DIR: join(root, "x".repeat(100)) });
  expect(long.ok ? "" : long.error).toContain("shorter folder");
});

test("C21: each state folder has a socket folder of its own, and every name of one leads to the same", () => {
  const at = (more: Record<string, string>): string => runtimeFolder({ XDG_RUNTIME_DIR: root, ...more }, uid);
  const usual = at({ XDG_STATE_HOME: "/b" });
  expect(usual).toBe(join(root, "sluicegate"));
  expect(at({ XDG_STATE_HOME: "/b", SLUICEGATE_HOME: "/b/sluicegate" })).toBe(usual);
  expect(at({ XDG_STATE_HOME: "/b", SLUICEGATE_HOME: "" })).toBe(usual);
  const own = at({ SLUICEGATE_HOME: "/a" });
  expect(own).toMatch(/\/sluicegate-[0-9a-f]{8}$/);
  expect(at({ SLUICEGATE_HOME: "/x/../a/" })).toBe(own);
  expect(at({ SLUICEGATE_HOME: "/c" })).not.toBe(own);
  expect(at({ SLUICEGATE_HOME: "/a", SLUICEGATE_RUNTIME_DIR: "/run/x" })).toBe("/run/x");
  // Without a runtime folder of the user the temporary one is told apart alike.
  expect(runtimeFolder({ SLUICEGATE_HOME: "/a" }, uid + 1)).not.toBe(runtimeFolder({}, uid + 1));
});

test("both folders end up private; a link and a place where nothing can be made are refused", () => {
  const home = join(root, "home");
  mkdirSync(home, { mode: 0o755 });
  const made = daemonPaths({ SLUICEGATE_HOME: home, SLUICEGATE_RUNTIME_DIR: join(root, "a", "b") });
  expect(made.ok).toBe(true);
  for (const folder of [home, join(root, "a", "b")]) expect(statSync(folder).mode & 0o777).toBe(0o700);
  symlinkSync(home, join(root, "link"));
  for (const bad of [join(root, "link"), "/proc/self/none"]) {
    const refused = daemonPaths({ SLUICEGATE_HOME: home, SLUICEGATE_RUNTIME_DIR: bad });
    expect(refused.ok).toBe(false);
    if (!refused.ok) expect(refused.error.length).toBeLessThanOrEqual(240);
  }
});

test("the lock has one holder at a time", () => {
  const path = join(root, "lock");
  const first = takeLock(path);
  expect(first.ok).toBe(true);
  expect(takeLock(path)).toEqual({ ok: false, error: "held" });
  if (first.ok) first.value.release();
  const second = takeLock(path);
  expect(second.ok).toBe(true);
  if (second.ok) second.value.release();
  expect(takeLock(join(root, "none", "lock")).ok).toBe(false);
});

const identityFile = join(import.meta.dirname, "process-identity.ts");
const report = `import(${JSON.stringify(identityFile)}).then((m)=>console.log(JSON.stringify(m.clientChain())))`;
const asked = [process.execPath, "-e", report];
const quoted = asked.map((word) => `'${word}'`).join(" ");
const inNode = `require("child_process").spawn(process.execPath,["-e",${JSON.stringify(report)}],{stdio:"inherit"})`;
const inPython = "import subprocess,sys; subprocess.run(sys.argv[1:])";

/** A title as a hostile or unlucky launcher may have it: paths, names of clients and launchers, spaces, nothing. */
function titleFrom(seed: number): string {
  const parts = ["npm exec ", "/", "claude", "node /x/sluicegate", " ", "bash", "-c", "\u00fc", "sh -c 'x'", "npx"];
  return Array.from({ length: seed % 5 }, (_, index) => parts[(seed * 7 + index * 3) % parts.length]).join("");
}

test.each([
  ["nothing", asked],
  ["sh", ["sh", "-c", `${quoted}; true`]],
  ["timeout", ["timeout", "20", ...asked]],
  ["env and nice", ["env", "A=1", "nice", "-n", "1", ...asked]],
  ["three shells", ["sh", "-c", `sh -c "sh -c \\"\\$REPORT\\"; true"; true`]],
  ["Python", ["python3", "-c", inPython, ...asked]],
  ...Array.from({ length: 6 }, (_, seed): [string, string[]] => [
    `Node with the title ${JSON.stringify(titleFrom(seed))}`,
    [process.execPath, "-e", `process.title=${JSON.stringify(titleFrom(seed))};${inNode}`],
  ]),
  ["Node with a script that is called sluicegate", [process.execPath, "-e", inNode, "sluicegate", "npx-cli.js"]],
])(
  "A1: launched by %s, the client is the process that holds the other end",
  async (_name, [program = "", ...words]) => {
    const child = spawn(program, words, {
      env: { ...process.env, REPORT: quoted },
      stdio: ["pipe", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => (text += part));
    await once(child, "close");
    const chain = JSON.parse(text) as { client: unknown; above: readonly { pid: number }[] }; // our own report
    expect(chain.client).toEqual(identify(process.pid));
    expect(chain.above[0]?.pid).toBe(process.ppid);
  },
);

test("A1: a program that relays what it reads counts as a client of its own, below the true one", async () => {
  const relay = inNode.replace('stdio:"inherit"', 'stdio:["pipe","pipe","inherit"]');
  const child = spawn(process.execPath, ["-e", `${relay}.stdout.pipe(process.stdout)`], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [part] = await once(child.stdout, "data");
  const chain = JSON.parse(String(part)) as { client: unknown; above: readonly unknown[] }; // our own report
  expect(chain.client).toEqual({ pid: child.pid, startedAt: expect.any(String) as unknown });
  expect(chain.above[0]).toEqual(identify(process.pid));
});

test("a process is itself, a killed group is one of the right age, and pid 1 is never touched", () => {
  const own = identify(process.pid);
  expect(own.startedAt).toMatch(/^\d+$/);
  expect(clientChain(process.pid, 1)).toEqual({ client: own, above: [] });
  expect([own, { ...own, startedAt: "1" }, { ...own, startedAt: "" }].map(hasEnded)).toEqual([false, true, false]);
  expect(identify(2 ** 22 + 1).startedAt).toBe("");
  killGroup({ pid: process.pid, startedAt: "1" }, "SIGKILL"); // another age: this process lives on
  killGroup({ pid: 1, startedAt: "" }, "SIGKILL");
  killGroup({ pid: 2 ** 22 + 1, startedAt: "" }, "SIGKILL");
});

test("a process that ended is not alive, though its parent has taken no note of it", async () => {
  // The child outlives the shell, which would take note of its end; the program in the shell's place does not.
  const parent = spawn("sh", ["-c", "sleep 0.3 & echo $!; exec sleep 30"], { stdio: ["ignore", "pipe", "ignore"] });
  const [line] = await once(parent.stdout, "data");
  const child = Number(String(line));
  for (let tries = 0; tries < 500 && isAlive(child); tries += 1) await new Promise((done) => setTimeout(done, 10));
  expect(isAlive(child)).toBe(false);
  expect(() => process.kill(child, 0), "its number is still taken").not.toThrow();
  expect([isAlive(process.pid), isAlive(parent.pid ?? 0), isAlive(2 ** 22 + 1)]).toEqual([true, true, false]);
  parent.kill("SIGKILL");
});
