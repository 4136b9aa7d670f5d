import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { probeSupport } from "../../../src/adapters/projection/launch/support.ts";
import { tierOf } from "../../../src/adapters/projection/launch/tiers.ts";
import { type LaunchCase, type LaunchOutcome, runLaunch, scopeOf } from "../../kit/isolation/launch-case.ts";

const base = mkdtempSync(join(tmpdir(), "sluicegate-launch-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));
chmodSync(base, 0o755);
const root = process.getuid?.() === 0;
const callers = root ? (["self", "nobody"] as const) : (["self"] as const);
let count = 0;

/** Folders of one launch; those of root stay closed to everybody else. */
function desk(as: "self" | "nobody"): Pick<LaunchCase, "workspace" | "home" | "stateFolder"> {
  const folder = join(base, String(count++));
  const made = { workspace: join(folder, "work"), home: join(folder, "home"), stateFolder: join(folder, "state") };
  mkdirSync(folder);
  for (const one of Object.values(made)) mkdirSync(one, { mode: as === "self" ? 0o700 : 0o777 });
  if (as === "nobody") for (const one of Object.values(made)) chmodSync(one, 0o777);
  writeFileSync(join(made.workspace, "a.txt"), "hello");
  writeFileSync(join(made.home, ".secret"), "secret");
  if (as === "nobody") chownSync(join(made.workspace, "a.txt"), 65_534, 65_534);
  return made;
}

/** A server that tries things and prints the outcomes. */
function script(desk: { readonly home: string }, body: string): Pick<LaunchCase, "command" | "args"> {
  const code = join(desk.home, "code");
  mkdirSync(code, { recursive: true });
  writeFileSync(join(code, "package.json"), `{"type":"commonjs"}`);
  writeFileSync(
    join(code, "server.js"),
    `const fs = require("fs"), os = require("os"), tried = {};
     const attempt = (name, act) => { try { tried[name] = act() ?? "done"; } catch (error) { tried[name] = error.code ?? String(error); } };
     ${body}
     console.log(JSON.stringify(tried));`,
  );
  return { command: process.execPath, args: [join(code, "server.js")] };
}

function tried({ output, error, end }: LaunchOutcome): Record<string, unknown> {
  if (error !== undefined) throw new Error(error);
  if (!output.startsWith("{")) throw new Error(`no answer: ${output} ${end.lastWords}`);
  return JSON.parse(output);
}

const python = spawnSync("python3", ["--version"]).status === 0;
const support = await probeSupport();
const tier = tierOf(support, scopeOf({ ...desk("self"), command: "x", args: [] })).tier;
if (tier !== "A")
  console.log(
    `skipped: this machine gives tier ${tier} (${tierOf(support, scopeOf({ ...desk("self"), command: "", args: [] })).notes.join(" ")})`,
  );

const world = `
  attempt("fds", () => fs.readdirSync("/proc/self/fd").filter((fd) => { try { return /socket|pipe|dev.null/.test(fs.readlinkSync("/proc/self/fd/" + fd)) && Number(fd) > 2 && !/eventpoll|eventfd/.test(fs.readlinkSync("/proc/self/fd/" + fd)) && /^\\/|socket/.test(fs.readlinkSync("/proc/self/fd/" + fd)); } catch { return false; } }));
  attempt("uid", () => process.getuid());
  attempt("names", () => Object.keys(process.env).sort());
  attempt("home", () => fs.readdirSync(os.homedir()));
  attempt("secret", () => fs.readFileSync(os.homedir() + "/.secret"));
  attempt("code", () => fs.writeFileSync(__filename, "x"));
  attempt("usr", () => fs.writeFileSync("/usr/x", "x"));
  attempt("root", () => fs.writeFileSync("/x", "x"));
  attempt("core", () => fs.writeFileSync("/proc/sys/kernel/core_pattern", "|/bin/true"));
  attempt("shadow", () => fs.readFileSync("/etc/shadow"));
  attempt("run", () => fs.readdirSync("/run"));
  attempt("gateway", () => fs.readFileSync("/proc/${process.pid}/environ").length);
  attempt("setuid", () => { fs.writeFileSync("s", ""); fs.chmodSync("s", 0o4755); });
  attempt("write", () => fs.writeFileSync("a.txt", "changed"));
  attempt("new", () => fs.writeFileSync("b.txt", "new"));
  attempt("tmp", () => fs.writeFileSync("/tmp/x", "x"));`;

describe.skipIf(tier !== "A").for(callers)("tier A as %s", (as) => {
  test("a server sees its code, its workspace and nothing else, and changes neither", () => {
    const place = desk(as);
    const outcome = runLaunch({ ...place, ...script(place, world), env: { API_TOKEN: "x", LANG: "C" } }, as);
    const seen = tried(outcome);
    expect(outcome).toMatchObject({ tier: "A", end: { code: 0 } });
    expect(seen).toMatchObject({ uid: root ? 65_534 : process.getuid?.(), home: ["code"], secret: "ENOENT" });
    expect(seen).toMatchObject({ code: "EROFS", usr: "EROFS", root: "EROFS", shadow: "ENOENT", run: "ENOENT" });
    expect(seen).toMatchObject({ core: "EROFS", gateway: "ENOENT", setuid: "EPERM" });
    expect(seen).toMatchObject({ write: "done", new: "done", tmp: "done", fds: [] });
    expect(seen["names"]).toEqual(["HOME", "LANG", "PATH", "PWD", "TMPDIR", "USER"]);
    expect(outcome.notes.join(" ")).toContain("API_TOKEN");
    expect(outcome.changes).toEqual(["modified a.txt", "added b.txt", "added s"]);
    expect(readFileSync(join(place.workspace, "a.txt"), "utf8")).toBe("hello");
    expect(existsSync(join(place.workspace, "b.txt"))).toBe(false);
  });

  test("what the scope names is there, and what it forbids is not", () => {
    const place = desk(as);
    const data = join(place.home, "data");
    mkdirSync(join(data, "private"), { recursive: true });
    if (as === "nobody") for (const one of [data, join(data, "private")]) chmodSync(one, 0o777);
    writeFileSync(join(data, "private", "key"), "key");
    writeFileSync(join(data, "plain"), "plain");
    const body = `attempt("plain", () => fs.readFileSync("${data}/plain", "utf8"));
      attempt("key", () => fs.readFileSync("${data}/private/key", "utf8"));
      attempt("write", () => fs.writeFileSync("${data}/new", "x"));
      attempt("direct", () => fs.writeFileSync("c.txt", "x"));
      attempt("passed", () => process.env.API_TOKEN);`;
    const scope = { write: ["~/data"], deny: ["~/data/private"], pass: ["API_TOKEN"], mode: "direct" } as const;
    const outcome = runLaunch({ ...place, ...script(place, body), scope, env: { API_TOKEN: "x" } }, as);
    const expected = { plain: "plain", key: "EACCES", write: "done", direct: "done", passed: "x" };
    expect(tried(outcome)).toEqual(expected);
    expect(existsSync(join(data, "new")) && existsSync(join(place.workspace, "c.txt"))).toBe(true);
  });

  test("names and addresses outside of the scope lead nowhere, and each attempt is on record", () => {
    const place = desk(as);
    const body = `require("dns").lookup("example.com", (error) => { console.log(JSON.stringify({ error: error.code })); process.exit(0); }); return;`;
    const outcome = runLaunch({ ...place, ...script(place, `(() => { ${body} })(); if (1) return;`) }, as);
    expect(tried(outcome)).toEqual({ error: "ENOTFOUND" });
    expect(outcome.broker).toContainEqual(
      expect.objectContaining({ action: "dns-query", outcome: "denied", domain: "example.com" }),
    );
  });

  test("a server that wants too much memory is ended, and the limit is on record", () => {
    const place = desk(as);
    const body = `const all = []; for (let i = 0; i < 60; i++) all.push(Buffer.alloc(10 << 20, 1)); setTimeout(() => {}, 5000);`;
    const outcome = runLaunch({ ...place, ...script(place, body), scope: { memoryMb: 200 } }, as);
    expect(outcome.limits).toContain("memory");
    expect(outcome.end.code === 0).toBe(false);
  });

  test("the tracer sees what a server does from its first instruction on", () => {
    const place = desk(as);
    const outcome = runLaunch({ ...place, ...script(place, world), scope: { trace: "full" } }, as);
    expect(tried(outcome)).toMatchObject({ secret: "ENOENT", write: "done" });
    expect(outcome.tracer).toBeGreaterThan(10);
  });
});

describe.skipIf(tier !== "A")("where something is missing", () => {
  const ordinary = root ? "nobody" : "self";

  test("without koffi: the same walls, no network, tier A-", () => {
    const place = desk(ordinary);
    const given = { ...place, ...script(place, world), without: ["koffi"], scope: { trace: "full" } } as const;
    const outcome = runLaunch(given, ordinary);
    expect(tried(outcome)).toMatchObject({ home: ["code"], code: "EROFS", core: "EROFS", setuid: "EPERM", fds: [] });
    expect(outcome).toMatchObject({ tier: "A-", changes: ["modified a.txt", "added b.txt", "added s"] });
    expect(outcome.notes.join(" ")).toContain("npm install koffi");
  });

  test("without bubblewrap: Landlock, the workspace read-only, tier B", () => {
    const place = desk(ordinary);
    const outcome = runLaunch({ ...place, ...script(place, world), without: ["bwrap"] }, ordinary);
    expect(tried(outcome)).toMatchObject({ shadow: "EACCES", write: "EACCES", code: "EACCES", setuid: "EACCES" });
    expect(outcome.tier).toBe("B");
    expect(outcome.notes.join(" ")).toContain("install it (package `bubblewrap`)");
  });

  test.skipIf(!python).each([
    ["A", []],
    ["B", ["bwrap"]],
  ] as const)(
    "a server that hides its memory does nothing unseen, tier %s (needs /usr/bin/python3)",
    (wanted, without) => {
      const place = desk(ordinary);
      const hides = `import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
try: open("/etc/made", "w")
except OSError: print("hidden")`;
      const given = {
        ...place,
        command: "/usr/bin/python3",
        args: ["-c", hides],
        without,
        scope: { trace: "full" },
      } as const;
      const outcome = runLaunch(given, ordinary);
      expect([outcome.error, outcome.tier, outcome.output.trim()]).toEqual([undefined, wanted, "hidden"]);
      const seen = outcome.acts?.some((act) => act.endsWith(" /etc/made")) === true;
      expect(seen || (outcome.lost ?? 0) > 0, JSON.stringify(outcome)).toBe(true);
    },
  );

  test("below the tier that a policy asks for nothing starts", () => {
    const place = desk(ordinary);
    const outcome = runLaunch({ ...place, ...script(place, world), without: ["bwrap"], require: "A-" }, ordinary);
    expect(outcome.error).toContain("needs isolation tier A- and would get B");
    const fetched = runLaunch({ ...place, command: "npx", args: ["some-server"], require: "C" }, ordinary);
    expect(fetched.error).toContain("`npx` fetches its package at every start");
  });
});

/** Processes whose command line holds a mark. */
function left(mark: string): number {
  const all = spawnSync("ps", ["-eo", "stat=,args="], { encoding: "utf8" }).stdout.split("\n");
  return all.filter((line) => line.includes(mark) && !line.startsWith("Z") && !line.includes("ps -eo")).length;
}

describe.skipIf(tier !== "A")("limits and ends", () => {
  const ordinary = root ? "nobody" : "self";

  test("without a control group a fork bomb ends at the limit, and the limit is on record", () => {
    const place = desk(ordinary);
    const body = `const { spawn } = require("child_process"); let failed = 0;
      for (let i = 0; i < 60; i++) spawn("/bin/sleep", ["2"]).on("error", () => failed++);
      setTimeout(() => { console.log(JSON.stringify({ failed: failed > 0 })); process.exit(0); }, 1500); if (1) return;`;
    const given = { ...place, ...script(place, body), without: ["cgroup"], scope: { processes: 40 } } as const;
    const outcome = runLaunch(given, ordinary);
    expect(tried(outcome)).toEqual({ failed: true });
    expect(outcome.limits).toContain("processes");
  });

  for (const without of [[], ["koffi"], ["bwrap"]] as const) {
    test(`nothing of a server is left after it was killed (without ${without.join() || "nothing"})`, async () => {
      const place = desk(ordinary);
      const seconds = String(40_000 + count);
      const args = ["-c", `trap '' TERM HUP; setsid sleep ${seconds} & (sleep ${seconds} &) & exec sleep ${seconds}`];
      const outcome = runLaunch({ ...place, command: "/bin/sh", args, without, killAfterMs: 300 }, ordinary);
      expect(outcome.error).toBeUndefined();
      for (let round = 0; round < 50 && left(`sleep ${seconds}`) > 0; round += 1) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect(left(`sleep ${seconds}`)).toBe(0);
    });
  }
});

if (!python) console.log("skipped: there is no python3");

test.skipIf(tier !== "A" || !python)("a server in Python, under whatever name its interpreter is found", () => {
  const place = desk("self");
  const code = join(place.home, "tools");
  mkdirSync(code);
  writeFileSync(
    join(code, "helper.py"),
    "import ssl, json\ndef told(): return json.dumps({'ssl': bool(ssl.OPENSSL_VERSION)})\n",
  );
  writeFileSync(join(code, "server.py"), "import helper\nprint(helper.told())\n");
  const outcome = runLaunch({ ...place, command: "python3", args: [join(code, "server.py")] }, "self");
  expect(tried(outcome)).toEqual({ ssl: true });
});

// Node makes its own standard streams non-blocking, and a launcher is Node: what becomes of it must not inherit that.
test.skipIf(tier !== "A").each(["nothing", "koffi", "bwrap"])(
  "C21: the standard streams of a server block, so that nothing it says is lost (without %s)",
  (without) => {
    const place = desk(callers.at(-1) ?? "self");
    const body = `
      for (const fd of [0, 1, 2])
        attempt(fd, () => (parseInt(/flags:\\s*(\\d+)/.exec(fs.readFileSync("/proc/self/fdinfo/" + fd, "utf8"))[1], 8) & 0o4000) !== 0);
      attempt("said", () => fs.writeSync(2, "x".repeat(999) + "\\n") && require("child_process").spawnSync(
        "sh", ["-c", "i=0; while [ $i -lt 4000 ]; do printf '%0400d\\\\n' 1 >&2 || exit 3; i=$((i+1)); done"], { stdio: "inherit" }).status);`;
    const less = without === "nothing" ? {} : { without: [without] };
    const outcome = runLaunch({ ...place, ...script(place, body), ...less }, callers.at(-1) ?? "self");
    expect(tried(outcome)).toEqual({ 0: false, 1: false, 2: false, said: 0 });
  },
);
