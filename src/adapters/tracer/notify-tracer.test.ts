import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { evaluator, paths, supervisor, traced, tracerAbsent } from "../../../test/process/traced.ts";
import type { Supervisor } from "./notify-tracer.ts";

const absent = await tracerAbsent();

const folder = mkdtempSync(join(tmpdir(), "sluicegate-notify-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(absent !== undefined)(`a server under the tracer${absent === undefined ? "" : `: ${absent}`}`, () => {
  let by: Supervisor;
  beforeAll(async () => {
    by = await supervisor();
  });
  afterAll(() => by.close());

  async function server(options = {}) {
    const program = await traced(by, evaluator(), options);
    expect(await program.line()).toBe("ready");
    program.tracer.drain();
    const ask = async (line: string): Promise<string> => {
      const answer = program.line();
      program.say(line);
      return await answer;
    };
    return { ...program, ask };
  }

  test("law: whatever led to an answer is on record when the answer is read, for several servers under load", async () => {
    const servers = await Promise.all([server(), server()]);
    await Promise.all(
      servers.map(async ({ tracer, onLine, say, child }, index) => {
        const drained = new Promise<readonly string[]>((resolve) => {
          onLine(() => resolve(paths(tracer.drain(), "file-read").filter((path) => path.startsWith("/none/"))));
        });
        say(`for (let i = 0; i < 10000; i++) { try { fs.openSync("/none/${index}/" + i); } catch {} } "done"`);
        const seen = await drained;
        expect(seen).toEqual(Array.from({ length: 10_000 }, (_, i) => `/none/${index}/${i}`));
        expect([tracer.lost, tracer.failure]).toEqual([0, undefined]);
        child.kill("SIGKILL");
      }),
    );
  });

  test("acts come with what they would do, and with what can be known of their outcome", async () => {
    const { ask, tracer, child } = await server();
    writeFileSync(join(folder, "there"), "1");
    await ask(`process.chdir(${JSON.stringify(folder)})`);
    tracer.drain();
    await ask(`fs.readFileSync("there"); fs.writeFileSync("./new", "x"); fs.renameSync("new", "newer")`);
    await ask(
      `fs.mkdirSync("d"); fs.chmodSync("newer", 0o600); fs.symlinkSync("/etc/shadow", "l"); fs.rmSync("newer")`,
    );
    await ask(`fs.rmdirSync("d"); fs.unlinkSync("l"); fs.readFileSync("absent")`);
    await ask(`process.kill(1, 0)`);
    const seen = tracer.drain().map(({ action, outcome, path, target, detail }) =>
      [action, outcome, path, target, detail]
        .map((text) => text?.replace(folder, ""))
        .join(" ")
        .trim(),
    );
    expect(seen).toEqual([
      "file-read unknown /there",
      "file-create unknown /new",
      "file-rename unknown /new /newer",
      "file-create unknown /d  mkdir",
      "file-permissions unknown /newer  chmod",
      "file-link unknown /l /etc/shadow symlink",
      "file-delete unknown /newer",
      "file-delete unknown /d  rmdir",
      "file-delete unknown /l",
      "file-read failed /absent",
      "process-signal unknown   signal 0 to 1",
    ]);
    child.kill("SIGKILL");
  });

  test("what counts is where the kernel goes: links, and `..` behind them", async () => {
    const { ask, tracer, child } = await server();
    const elsewhere = join(folder, "elsewhere", "deep");
    await ask(`fs.mkdirSync(${JSON.stringify(elsewhere)}, { recursive: true })`);
    await ask(`fs.symlinkSync(${JSON.stringify(elsewhere)}, ${JSON.stringify(join(folder, "way"))})`);
    await ask(`fs.writeFileSync(${JSON.stringify(join(elsewhere, "..", "file"))}, "")`);
    tracer.drain();
    await ask(`fs.readFileSync("${folder}/way/../file"); fs.readdirSync("${folder}/way")`);
    await ask(`fs.writeFileSync("${folder}/way/../made", "")`);
    expect(tracer.drain()).toMatchObject([
      { action: "file-read", outcome: "unknown", path: join(folder, "elsewhere", "file") },
      { action: "file-read", outcome: "unknown", path: join(folder, "way"), target: elsewhere },
      { action: "file-create", outcome: "unknown", path: join(folder, "elsewhere", "made") },
    ]);
    child.kill("SIGKILL");
  });

  test("connections, datagrams and listeners have their address and kind", async () => {
    const { ask, tracer, child } = await server();
    await ask(
      `net.connect({ host: "127.0.0.1", port: 9 }).on("error", () => {}); net.connect("/none.sock").on("error", () => {})`,
    );
    await ask(
      `globalThis.u = require("node:dgram").createSocket("udp4").on("error", () => {}); u.send("x", 53, "127.0.0.9"); 1`,
    );
    await ask(`net.createServer().listen(0, "127.0.0.1"); 1`);
    let seen = tracer.drain().filter((one) => one.action.startsWith("net-"));
    // Sending waits for a look-up of the name, which is a turn of the server's loop.
    for (let i = 0; i < 100 && seen.length < 4; i++) {
      await ask("1");
      seen = [...seen, ...tracer.drain().filter((one) => one.action.startsWith("net-"))];
    }
    expect(seen).toContainEqual(
      expect.objectContaining({ action: "net-connect", address: "127.0.0.1", port: 9, transport: "tcp" }),
    );
    expect(seen).toContainEqual(
      expect.objectContaining({ action: "net-connect", path: "/none.sock", transport: "unix" }),
    );
    expect(seen).toContainEqual(
      expect.objectContaining({ action: "net-send", address: "127.0.0.9", port: 53, transport: "udp" }),
    );
    expect(seen).toContainEqual(expect.objectContaining({ action: "net-listen", detail: "listen" }));
    child.kill("SIGKILL");
  });

  test("programs come with their arguments", async () => {
    const { ask, tracer, child } = await server();
    await ask(`child_process.execFileSync("/bin/echo", ["a", "b c"]); 1`);
    const spawned = tracer.drain().filter((one) => one.action === "process-spawn");
    expect(spawned).toMatchObject([{ program: "/bin/echo", commandLine: "/bin/echo a b c", outcome: "unknown" }]);
    child.kill("SIGKILL");
  });

  test("where none may be started, none is, whatever it is called, and each attempt is denied on record", async () => {
    const { ask, tracer, child } = await server({ noPrograms: true });
    const start = (call: string) => `require("node:child_process").${call}`;
    expect(await ask(`${start(`spawnSync("/bin/true")`)}.error.code`)).toBe("EPERM");
    expect(await ask(`${start(`spawnSync("/none")`)}.error.code`)).toBe("EPERM");
    const seen = tracer.drain().filter(({ action }) => action === "process-spawn");
    expect(seen.map(({ program, outcome }) => `${program} ${outcome}`)).toEqual(["/bin/true denied", "/none denied"]);
    child.kill("SIGKILL");
  });

  test("the level `effects` sees no reads", async () => {
    const { ask, tracer, child } = await server({ level: "effects" });
    await ask(`fs.readFileSync("/etc/hosts"); fs.writeFileSync(${JSON.stringify(join(folder, "e"))}, ""); 1`);
    expect(tracer.drain().map((one) => one.action)).toEqual(["file-create"]);
    child.kill("SIGKILL");
  });

  test("the same act is written a few times between two drains at most, and again after", async () => {
    const { ask, tracer, child } = await server();
    const read = `for (let i = 0; i < 5_000; i++) fs.readFileSync("/etc/hosts"); 1`;
    for (let round = 0; round < 3; round++) {
      await ask(read);
      const seen = paths(tracer.drain(), "file-read").filter((path) => path === "/etc/hosts");
      expect(seen.length).toBeGreaterThan(0);
      expect(seen.length).toBeLessThan(150);
    }
    child.kill("SIGKILL");
  });

  test("a gateway that stands still loses events and says so; the server goes on", async () => {
    const { tracer, say, child, ended } = await server();
    say(
      `for (let i = 0; i < 20000; i++) { try { fs.openSync("/none/" + "x".repeat(100) + i); } catch {} } process.exit(7)`,
    );
    // Nothing is fetched meanwhile: this thread is kept busy until the server has ended.
    const state = new Int32Array(new SharedArrayBuffer(4));
    for (let wait = 0; wait < 3_000 && runs(child.pid ?? 0); wait++) Atomics.wait(state, 0, 0, 10);
    expect(await ended).toEqual([7, null]);
    expect(paths(tracer.drain(), "file-read").length).toBeGreaterThan(5_000);
    expect(tracer.lost).toBeGreaterThan(5_000);
  });

  test("a program dropped to another user is traced all the same", async () => {
    if (process.getuid?.() !== 0) return;
    const secret = join(folder, "private");
    writeFileSync(secret, "", { mode: 0o600 });
    const { ask, tracer, child } = await server({ user: 65_534 });
    expect(await ask(`fs.readFileSync("${secret}"); 1`)).toBe("EACCES");
    expect(tracer.drain()).toMatchObject([{ action: "file-read", path: secret, outcome: "denied" }]);
    child.kill("SIGKILL");
    // Another server of the same supervisor is judged as its own user.
    const above = await server();
    await above.ask(`fs.readFileSync("${secret}"); 1`);
    expect(above.tracer.drain()).toMatchObject([{ path: secret, outcome: "unknown" }]);
    above.child.kill("SIGKILL");
  });

  test("when the supervisor is killed, the server can open nothing any more, and the tracer says why", async () => {
    const own = await supervisor();
    const program = await traced(own, evaluator());
    expect(await program.line()).toBe("ready");
    process.kill(own.pid, "SIGKILL");
    let answer = "";
    for (let i = 0; i < 100 && answer !== "ENOSYS"; i++) {
      const line = program.line();
      program.say(`fs.openSync("/etc/hosts"); "opened"`);
      answer = await line;
    }
    expect(answer).toBe("ENOSYS");
    await vi.waitFor(() => expect(program.tracer.failure ?? "").toContain("ended"));
    expect(await own.trace({ pid: 1, fd: 1, level: "full", programsBefore: 0 })).toMatchObject({ ok: false });
    program.child.kill("SIGKILL");
    own.close();
  });

  test.each([
    ["a fault of its own", "setTimeout(() => { throw new Error('a fault'); }, 500)"],
    ["a report that nobody can hear", "setTimeout(() => process.emit('error', new Error('EPIPE')), 500)"],
  ])("regression: %s ends a supervisor, though its other thread waits", async (_, fault) => {
    const child = fork(fileURLToPath(new URL("supervisor/supervisor-main.ts", import.meta.url)), [], {
      execArgv: ["--disable-warning=ExperimentalWarning", "--import", `data:text/javascript,${fault}`],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [, signal] = await once(child, "exit");
    expect(signal).toBe("SIGKILL");
  });

  test("a supervisor that dies before the program starts leaves no process waiting", async () => {
    const own = await supervisor();
    const program = await traced(own, ["/bin/sleep", "600"], { stopped: true });
    process.kill(own.pid, "SIGKILL");
    await vi.waitFor(() => expect(own.failure).toBeDefined());
    program.child.send("go");
    const [code] = await program.ended;
    expect(code).not.toBe(0);
  });

  test("a listener that is not there is refused in a sentence", async () => {
    const refused = await by.trace({ pid: process.pid, fd: 9_999, level: "full", programsBefore: 0 });
    expect(refused).toMatchObject({ ok: false, error: expect.stringContaining("listener") });
  });
});

/** A zombie has ended, though nobody has asked for its exit code yet. */
function runs(pid: number): boolean {
  return existsSync(`/proc/${pid}/exe`);
}
