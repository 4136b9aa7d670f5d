import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Client, commandLine, finished, toyServer, until, World } from "./fixture/world.ts";

const world = new World();
afterAll(() => world.dispose());
const node = process.execPath;

function digest(bytes: Buffer | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

test("bytes arrive exactly, 5 MB in one piece, and the end of input ends the session with the rest delivered", async () => {
  const bytes = Buffer.alloc(5 * 1024 * 1024);
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = (index * 31 + (index >> 8)) & 0xff;
  const child = world.start(["run", "--", "cat"]);
  const parts: Buffer[] = [];
  child.stdout.on("data", (part: Buffer) => parts.push(part));
  const code = new Promise((resolve) => child.on("close", resolve));
  child.stdin.end(bytes);
  expect(await code).toBe(0);
  expect(digest(Buffer.concat(parts))).toBe(digest(bytes));
});

test("a client that reads late and slowly gets 5 MB whole and in order, with its input long ended", async () => {
  const bytes = Buffer.alloc(5 * 1024 * 1024, "all things in order, ");
  const child = world.start(["run", "--", "cat"]);
  child.stdout.pause();
  const code = new Promise((resolve) => child.on("close", resolve));
  child.stdin.end(bytes);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const parts: Buffer[] = [];
  for await (const part of child.stdout as AsyncIterable<Buffer>) {
    parts.push(part);
    if (parts.length % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  expect(await code).toBe(0);
  expect(digest(Buffer.concat(parts))).toBe(digest(bytes));
});

test.each([
  ["files", (run: string) => `${run} < in > out`],
  ["pipes", (run: string) => `cat in | ${run} | (sleep 0.3; cat > out)`],
])("standard input and output may be %s", (_, command) => {
  const folder = mkdtempSync(join(world.root, "stdio-"));
  const bytes = Buffer.alloc(3 * 1024 * 1024, "neither lost nor moved\n");
  writeFileSync(join(folder, "in"), bytes);
  const run = `"${node}" "${world.launcher}" run -- cat`;
  const ran = spawnSync("sh", ["-c", command(run)], { cwd: folder, env: world.env, encoding: "utf8" });
  expect([ran.status, ran.stderr]).toEqual([0, ""]);
  expect(digest(readFileSync(join(folder, "out")))).toBe(digest(bytes));
});

test("a client that stops reading stops the server: nothing piles up in shim or daemon", async () => {
  const child = world.start([
    "run",
    "--",
    node,
    "-e",
    "const b=Buffer.alloc(1<<20,120);const w=()=>{while(process.stdout.write(b));process.stdout.once('drain',w)};w()",
  ]);
  child.stdout.pause();
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const megabytes = (pid: number): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  expect(megabytes(child.pid ?? 0)).toBeLessThan(150);
  expect(megabytes(world.daemonPid() ?? 0)).toBeLessThan(200);
  child.kill("SIGKILL");
});

test("the server sees the client's arguments, folder, umask and environment, and no argument shows the environment", async () => {
  const folder = join(world.root, "some where ü");
  mkdirSync(folder);
  const before = process.umask(0o027);
  const child = world.start(
    ["run", "--server", "toy", "--policy", "p.yaml", "--", node, toyServer, "a b", "ünï→", "", "--x=$HOME"],
    {
      env: { TOY_SECRET: "s3cr3t-vàlue" },
      cwd: folder,
    },
  );
  process.umask(before);
  const client = new Client(child);
  const answer = await client.call("facts");
  expect(answer.result).toMatchObject({
    argv: ["a b", "ünï→", "", "--x=$HOME"],
    cwd: folder,
    umask: 0o027,
    secret: "s3cr3t-vàlue",
  });
  for (const pid of world.processes()) expect(commandLine(pid)).not.toContain("s3cr3t");
  const daemon = readFileSync(`/proc/${world.daemonPid() ?? 0}/environ`, "utf8");
  expect(daemon).not.toContain("s3cr3t");
  expect(world.requests().at(-1)).toMatchObject({ server: "toy", policy: join(folder, "p.yaml"), resume: "" });
  await until(() => client.stderr.includes("toy server speaking, ünïcode"));
  expect((await client.close()).code).toBe(0);
});

test("exit codes and sentences: 0 done, 1 the server failed, 2 wrong use; stdout stays empty", async () => {
  const failed = await world.finish(["run", "--", node, "-e", "process.exit(3)"]);
  expect(failed).toMatchObject({ code: 1, stdout: "" });
  expect(failed.stderr).toContain("The server ended with exit code 3.");
  const wrong: readonly (readonly [readonly string[], string])[] = [
    [["run"], "needs a server command after `--`"],
    [["run", "--"], "needs a server command after `--`"],
    [["run", "--polcy", "x", "--", "cat"], "`--polcy` is not an option of `run`"],
    [["run", "--policy"], "`--policy` needs a value"],
    [["run", "--", "no-such-command-here"], "was not found"],
    [["daemon", "dance"], "needs one of run, start, stop, status"],
  ];
  for (const [words, sentence] of wrong) {
    const result = await world.finish(words);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toContain(sentence);
    expect(result.stderr.trim().length).toBeLessThanOrEqual(240);
  }
});

test("a signal to the shim reaches the server, and the shim ends with it", async () => {
  const child = world.start([
    "run",
    "--",
    node,
    "-e",
    "process.on('SIGTERM',()=>{console.log('got it');process.exit(0)});console.log('up');setInterval(()=>{},1e3)",
  ]);
  let text = "";
  child.stdout.on("data", (part: Buffer) => (text += part.toString()));
  await until(() => text.includes("up"));
  child.kill("SIGTERM");
  const { code } = await finished(child);
  expect(code).toBe(128 + 15);
  expect(text).toContain("got it");
});

test("the daemon tells its state, refuses another state folder, and serves several shims as one process", async () => {
  const one = world.shim();
  const two = world.shim();
  await Promise.all([one.call("facts"), two.call("facts")]);
  const sessions = async (): Promise<unknown> => {
    const status: unknown = JSON.parse((await world.finish(["daemon", "status", "--json"])).stdout);
    return status;
  };
  // Sessions of killed shims of earlier tests may take a moment to end; none may stay.
  await expect.poll(sessions, { timeout: 6_000 }).toMatchObject({ running: true, daemon: { sessions: 2 } });
  expect(world.processes().filter((pid) => commandLine(pid).includes("daemon run"))).toHaveLength(1);
  const other = await world.finish(["run", "--", "cat"], "", { env: { SLUICEGATE_HOME: join(world.root, "other") } });
  expect(other).toMatchObject({ code: 2 });
  expect(other.stderr).toContain("uses another state folder");
  await Promise.all([one.close(), two.close()]);
});

test("ten shims at once start a single daemon", async () => {
  const crowd = new World();
  try {
    const clients = Array.from({ length: 10 }, () => crowd.shim());
    for (const client of clients) await client.call("facts");
    expect(crowd.processes().filter((pid) => commandLine(pid).includes("daemon run"))).toHaveLength(1);
    await Promise.all(clients.map((client) => client.close()));
  } finally {
    await crowd.dispose();
  }
  expect(await crowd.leftOver()).toEqual([]);
});

test("run --solo works without a daemon and says so", async () => {
  const alone = new World();
  const request = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`;
  mkdirSync(alone.home);
  const result = await alone.finish(["run", "--solo", "--", node, toyServer], request);
  expect(result.code).toBe(0);
  expect(JSON.parse(result.stdout)).toMatchObject({ id: 1, result: {} });
  expect(result.stderr).toContain("running solo");
  expect(alone.daemonPid()).toBeUndefined();
  await alone.dispose();
});
