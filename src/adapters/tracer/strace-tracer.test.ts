import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test, vi } from "vitest";
import { evaluator, paths } from "../../../test/process/traced.ts";
import { straceArguments, StraceReader, straceTracer } from "./strace-tracer.ts";

const runs = Number(process.env["SLUICEGATE_RUNS"] ?? 200);

function read(text: string, options: { level?: "full" | "effects"; programsBefore?: number } = {}) {
  const reader = new StraceReader({ level: options.level ?? "full", programsBefore: options.programsBefore ?? 0 });
  reader.take(text, 5);
  return { seen: reader.drain().map(({ at: _at, grade: _grade, ...rest }) => rest), lost: reader.lost };
}

const start = `7  execve("/bin/x", ["x"], 0x7ffc /* 1 var */) = 0\n`;

test("files: paths are joined with the folder of the call, outcomes come from what it returned", () => {
  const { seen, lost } = read(
    [
      `${start}7  openat(AT_FDCWD</w>, "a/../b", O_RDONLY|O_CLOEXEC) = 3</w/b>`,
      `7  openat(4</d>, "s\\303\\251\\n\\"x\\1", O_RDWR|O_CREAT, 0666) = -1 EROFS (Read-only file system)`,
      `7  openat(AT_FDCWD</w>, "l", O_RDONLY) = 3</etc/shadow>`,
      `7  unlink("/gone")                   = -1 ENOENT (No such file or directory)`,
      `7  renameat2(AT_FDCWD</w>, "a", 5</e>, "b", 0) = 0`,
      `7  utimensat(3</we\\76\\74, ird>, NULL, NULL, 0) = 0`,
      `7  symlink("/etc/shadow", "/w/l")    = 0`,
      `7  openat(AT_FDCWD</w>, "new", O_WRONLY|O_CREAT|O_EXCL, 0600) = ?\n`,
    ].join("\n"),
  );
  expect(lost).toBe(0);
  expect(seen.slice(1)).toEqual([
    { process: 7, action: "file-read", outcome: "success", path: "/w/b" },
    { process: 7, action: "file-write", outcome: "denied", path: '/d/sé\n"x\u0001' },
    { process: 7, action: "file-read", outcome: "success", path: "/w/l", target: "/etc/shadow" },
    { process: 7, action: "file-delete", outcome: "failed", path: "/gone" },
    { process: 7, action: "file-rename", outcome: "success", path: "/w/a", target: "/e/b" },
    { process: 7, action: "file-permissions", outcome: "success", path: "/we><, ird", detail: "utimes" },
    { process: 7, action: "file-link", outcome: "success", path: "/w/l", target: "/etc/shadow", detail: "symlink" },
    { process: 7, action: "file-create", outcome: "unknown", path: "/w/new" },
  ]);
});

test("limits that a call ran into, and those that the kernel sent a signal for", () => {
  const { seen, lost } = read(
    [
      `${start}7  openat(AT_FDCWD</w>, "a", O_RDONLY) = -1 EMFILE (Too many open files)`,
      `8  mkdir("/w/d", 0777) = -1 ENOSPC (No space left on device)`,
      `8  --- SIGXCPU {si_signo=SIGXCPU, si_code=SI_KERNEL} ---`,
      `9  --- SIGXFSZ {si_signo=SIGXFSZ, si_code=SI_USER, si_pid=9, si_uid=1} ---`,
      `9  --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED} ---`,
      `9  +++ killed by SIGXFSZ +++\n`,
    ].join("\n"),
  );
  expect(lost).toBe(0);
  const hits = seen.filter(({ action }) => action === "limit-hit");
  expect(hits.map(({ process, detail, outcome }) => [process, detail, outcome])).toEqual([
    [7, "open-files", "denied"],
    [8, "disk", "denied"],
    [8, "cpu", "denied"],
    [9, "file-size", "denied"],
  ]);
});

test("sockets, programs and signals", () => {
  const { seen } = read(
    [
      `${start}7  connect(4<socket:[28]>, {sa_family=AF_INET6, sin6_port=htons(9), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::1", &sin6_addr), sin6_scope_id=0}, 28) = -1 ECONNREFUSED (Connection refused)`,
      `7  connect(5<socket:[29]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("1.2.3.4")}, 16) = -1 EINPROGRESS (Operation now in progress)`,
      `7  connect(5<socket:[29]>, {sa_family=AF_UNIX, sun_path=@"abc"}, 6) = 0`,
      `7  sendmsg(4<socket:[30]>, {msg_name={sa_family=AF_INET, sin_port=htons(10), sin_addr=inet_addr("127.0.0.1")}, msg_namelen=16}, 0) = 1`,
      `7  bind(3<socket:[31]>, {sa_family=AF_INET, sin_port=htons(0), sin_addr=inet_addr("0.0.0.0")}, 16) = 0`,
      `7  listen(3<socket:[31]>, 128) = 0`,
      `7  execve("/bin/sh", ["sh", "-c", "echo \\"a, b)\\" = 1"], 0x7ffc /* 3 vars */) = 0`,
      `7  kill(1, SIGTERM) = -1 EPERM (Operation not permitted)`,
      `7  tgkill(7, 8, SIGURG) = 0`,
      `7  mount("a", "b", NULL, MS_BIND, NULL) = -1 EPERM (Operation not permitted)\n`,
    ].join("\n"),
  );
  expect(seen.slice(1)).toEqual([
    { process: 7, action: "net-connect", outcome: "failed", address: "::1", port: 9, transport: "tcp" },
    { process: 7, action: "net-connect", outcome: "unknown", address: "1.2.3.4", port: 80, transport: "tcp" },
    { process: 7, action: "net-connect", outcome: "success", path: "@abc", transport: "unix" },
    { process: 7, action: "net-send", outcome: "success", address: "127.0.0.1", port: 10, transport: "udp" },
    { process: 7, action: "net-listen", outcome: "success", detail: "listen" },
    {
      process: 7,
      action: "process-spawn",
      outcome: "success",
      program: "/bin/sh",
      commandLine: 'sh -c echo "a, b)" = 1',
    },
    { process: 7, action: "process-signal", outcome: "denied", detail: "signal SIGTERM to 1" },
    { process: 7, action: "system-call", outcome: "denied", detail: "mount" },
  ]);
});

test("a call that another thread's line came between is put together again", () => {
  const { seen, lost } = read(
    [
      `${start}7  openat(AT_FDCWD</w>, "a", O_RDONLY <unfinished ...>`,
      `8  openat(AT_FDCWD</w>, "b", O_RDONLY) = 3</w/b>`,
      `7  <... openat resumed>) = -1 ENOENT (No such file or directory)`,
      `9  <... connect resumed>) = 0`,
      `--- SIGCHLD ---\n`,
    ].join("\n"),
  );
  expect(seen.slice(1).map(({ process: thread, outcome, path }) => [thread, outcome, path])).toEqual([
    [8, "success", "/w/b"],
    [7, "failed", "/w/a"],
  ]);
  expect(lost).toBe(1);
});

test("what the sandbox does before the server starts is left out, and `effects` leaves out reads", () => {
  const text = `7  mount("a", "b", NULL, MS_BIND, NULL) = 0
7  execve("/usr/bin/bwrap", ["bwrap"], 0x7ffc /* 1 var */) = 0
7  execve("/a/node", ["node"], 0x7ffc /* 1 var */) = -1 ENOENT (No such file or directory)
7  openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a>
7  execve("/b/node", ["node"], 0x7ffc /* 1 var */) = 0
7  openat(AT_FDCWD</w>, "b", O_RDONLY) = 3</w/b>
`;
  const actions = (level: "full" | "effects") =>
    read(text, { level, programsBefore: 1 }).seen.map((one) => one.program ?? one.path);
  expect(actions("full")).toEqual(["/b/node", "/w/b"]);
  expect(actions("effects")).toEqual(["/b/node"]);
});

test("no text makes the reader throw, wherever it is cut, and it forgets nothing silently", () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.constantFrom(start, "\n", '"', "\\", "<", ">", "(", ")", " = ", "7  openat(AT_FDCWD</w>, ", " <unfinished ...>"),
    fc.constantFrom(
      "7  <... openat resumed>",
      "sa_family=AF_INET, sin_port=htons(",
      "{",
      "[",
      "\\7",
      "x".repeat(9_000),
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), fc.integer({ min: 6, max: 60 }), (pieces, size) => {
      const text = pieces.join("");
      const reader = new StraceReader({ level: "full", programsBefore: 0 });
      for (let place = 0; place < text.length; place += size + 1) reader.take(text.slice(place, place + size + 1), 0);
      for (const one of reader.drain()) expect((one.path ?? "").length).toBeLessThanOrEqual(512);
    }),
    { numRuns: runs },
  );
});

test("a line however long costs itself, not what follows", () => {
  const reader = new StraceReader({ level: "full", programsBefore: 0 });
  reader.take(start, 0);
  for (let i = 0; i < 10; i++) reader.take("7  unlink(" + "x".repeat(5_000), 0);
  reader.take(`") = 0\n7  unlink("/a") = 0\n`, 0);
  expect(paths(reader.drain(), "file-delete")).toEqual(["/a"]);
  expect(reader.lost).toBe(1);
});

const straceRuns = spawnSync("strace", ["-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "true"]).status === 0;
const sandbox = ["bwrap", "--bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all", "--die-with-parent"];
const bwrapRuns = spawnSync(sandbox[0] ?? "", [...sandbox.slice(1), "true"]).status === 0;

const folder = mkdtempSync(join(tmpdir(), "sluicegate-strace-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

async function straced(command: readonly string[], programsBefore: number) {
  const file = join(folder, String(files++));
  const tracer = straceTracer({ file, level: "full", programsBefore });
  if (!tracer.ok) throw new Error(tracer.error);
  const child = spawn("strace", [...straceArguments({ file }), ...command], { stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.on("error", () => undefined);
  expect(await line(child)).toBe("ready");
  return { child, tracer: tracer.value };
}

async function line(child: ChildProcess): Promise<string> {
  const [text] = await once(child.stdout ?? child, "data");
  return String(text).trim();
}

describe.skipIf(!straceRuns)("a server under strace (needs strace with --seccomp-bpf)", () => {
  test("law: whatever led to an answer is on record when the answer is read", async () => {
    const { child, tracer } = await straced(evaluator(), 0);
    tracer.drain();
    child.stdin?.write(`for (let i = 0; i < 2000; i++) { try { fs.openSync("/none/" + i); } catch {} } "done"\n`);
    expect(await line(child)).toBe("done");
    // The runtime looks at the machine by itself whenever it likes.
    const seen = paths(tracer.drain(), "file-read").filter((path) => path.startsWith("/none/"));
    expect(seen).toEqual(Array.from({ length: 2_000 }, (_, i) => `/none/${i}`));
    expect([tracer.lost, tracer.failure]).toEqual([0, undefined]);
    child.kill("SIGKILL");
    tracer.close();
    expect(tracer.drain()).toEqual([]);
  });

  test.skipIf(!bwrapRuns)("when strace is killed, a server in a sandbox ends with it (needs bwrap)", async () => {
    const { child, tracer } = await straced([...sandbox, ...evaluator()], 1);
    const started = tracer.drain().filter((one) => one.action === "process-spawn");
    expect(started).toMatchObject([{ program: process.execPath, outcome: "success" }]);
    const server = started[0]?.process ?? 0;
    expect(existsSync(`/proc/${server}/exe`)).toBe(true);
    child.kill("SIGKILL");
    await vi.waitFor(() => expect(existsSync(`/proc/${server}/exe`)).toBe(false), { timeout: 5_000 });
    tracer.close();
  });

  test("a file that is there already is refused in a sentence", () => {
    const file = join(folder, "0");
    expect(straceTracer({ file, level: "full", programsBefore: 0 })).toMatchObject({ ok: false });
  });
});
