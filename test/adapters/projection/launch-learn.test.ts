// A server that is only watched, and one that may start nothing, launched as root and as an ordinary user.
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { probeSupport } from "../../../src/adapters/projection/launch/support.ts";
import { tierOf } from "../../../src/adapters/projection/launch/tiers.ts";
import { type LaunchCase, type LaunchOutcome, runLaunch, scopeOf } from "../../kit/isolation/launch-case.ts";

const base = mkdtempSync(join(tmpdir(), "sluicegate-learn-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));
chmodSync(base, 0o755);
const callers = process.getuid?.() === 0 ? (["self", "nobody"] as const) : (["self"] as const);
let count = 0;

type Desk = Pick<LaunchCase, "workspace" | "home" | "stateFolder">;

function desk(owner = process.getuid?.() ?? 0): Desk {
  const folder = join(base, String(count++));
  const made = { workspace: join(folder, "work"), home: join(folder, "home"), stateFolder: join(folder, "state") };
  for (const one of [...Object.values(made), join(made.home, ".ssh"), join(made.home, "notes")]) {
    mkdirSync(one, { recursive: true });
    chmodSync(one, 0o777);
    chownSync(one, owner, owner);
  }
  writeFileSync(join(made.home, ".ssh/id"), "key");
  writeFileSync(join(made.home, "notes/a"), "note");
  return made;
}

function script({ home }: Desk, body: string): Pick<LaunchCase, "command" | "args"> {
  const code = join(home, "code");
  mkdirSync(code);
  writeFileSync(join(code, "package.json"), `{"type":"commonjs"}`);
  const attempt = `(name, act) => { try { tried[name] = String(act() ?? "done"); } catch (error) { tried[name] = error.code; } }`;
  const head = `const fs = require("fs"), tried = {}, attempt = ${attempt};`;
  writeFileSync(join(code, "server.js"), `${head}\n${body}\nconsole.log(JSON.stringify(tried));`);
  return { command: process.execPath, args: [join(code, "server.js")] };
}

function tried({ output, error, end }: LaunchOutcome): Record<string, string> {
  if (error !== undefined) throw new Error(error);
  if (!output.startsWith("{")) throw new Error(`no answer: ${output} ${end.lastWords}`);
  return JSON.parse(output);
}

const { tier } = tierOf(await probeSupport(), scopeOf({ ...desk(), command: "x", args: [] }));
if (tier !== "A") console.log(`skipped: this machine gives tier ${tier}, not A`);

describe.skipIf(tier !== "A")("a server that is learned (needs tier A)", () => {
  // `bwrap` cannot put a cover below a folder that its user may not enter, and nothing of the server can either.
  test.each(callers)("C21: as %s it starts although folders around keys are closed to its user", (as) => {
    const own = desk(as === "nobody" ? 65_534 : undefined);
    for (const name of [".config/chromium", ".local/share/keyrings", "open/keys"]) {
      mkdirSync(join(own.home, name), { recursive: true });
      writeFileSync(join(own.home, name, "secret"), "secret");
    }
    for (const name of [".config", ".config/chromium", ".local", ".local/share"])
      chmodSync(join(own.home, name), 0o700);
    const names = [".config/chromium", ".local/share/keyrings", "open/keys"];
    const program = script(
      own,
      names
        .map((name) => `attempt("${name}", () => fs.readFileSync(${JSON.stringify(join(own.home, name, "secret"))}));`)
        .join("\n"),
    );
    const deny = names.map((name) => `~/${name}`);
    const outcome = runLaunch({ ...own, ...program, order: "learn", scope: { deny, net: "list", trace: "full" } }, as);
    for (const name of names) expect(tried(outcome)[name], name).toMatch(/^(?:EACCES|ENOENT)$/);
  });

  test.each(callers)("as %s it reads the machine, no keys, and what it writes elsewhere never gets there", (as) => {
    const own = desk(as === "nobody" ? 65_534 : undefined);
    const program = script(
      own,
      `const home = ${JSON.stringify(own.home)};
       attempt("etc", () => fs.readFileSync("/etc/fstab").length >= 0);
       attempt("var", () => fs.readdirSync("/var").length > 0);
       attempt("passwd", () => fs.readFileSync("/etc/passwd", "utf8").split("\\n").length);
       attempt("note", () => fs.readFileSync(home + "/notes/a"));
       attempt("key", () => fs.readFileSync(home + "/.ssh/id"));
       attempt("state", () => fs.readdirSync(${JSON.stringify(own.stateFolder)}).length);
       attempt("run", () => fs.existsSync("/run/docker.sock") || fs.existsSync("/run/dbus"));
       attempt("write", () => fs.writeFileSync(home + "/notes/new", "x"));
       attempt("work", () => fs.writeFileSync("made", "x"));
       attempt("socket", () => require("child_process").execFileSync("python3",
         ["-c", "import socket\\ntry: socket.socket(socket.AF_UNIX)\\nexcept OSError as e: print(e.errno, end='')"]));`,
    );
    const outcome = runLaunch(
      { ...own, ...program, order: "learn", scope: { deny: ["~/.ssh"], net: "list", trace: "full" } },
      as,
    );
    expect(tried(outcome)).toEqual({
      etc: "true",
      var: "true",
      passwd: "2",
      note: "note",
      key: as === "self" && process.getuid?.() === 0 ? expect.stringMatching(/^E(?:ACCES|NOENT)$/) : "EACCES",
      // In a folder for temporary files, of which the server has its own.
      state: "ENOENT",
      run: "false",
      write: as === "self" && process.getuid?.() === 0 ? "EROFS" : "done",
      work: "done",
      socket: "1",
    });
    expect(existsSync(join(own.home, "notes/new"))).toBe(false);
    expect(readFileSync(join(own.home, "notes/a"), "utf8")).toBe("note");
    expect(outcome.changes).toEqual(["added made"]);
    expect(outcome.acts?.some((act) => act.endsWith("/notes/new"))).toBe(true);
    expect(outcome.notes.join(" ")).toContain("Sockets of this machine stay shut");
  });

  test("without namespaces it sees what its scope names, and is told so", () => {
    const own = desk();
    const program = script(own, `attempt("note", () => fs.readFileSync(${JSON.stringify(join(own.home, "notes/a"))}))`);
    const outcome = runLaunch(
      { ...own, ...program, order: "learn", without: ["bwrap"], scope: { trace: "full" } },
      "self",
    );
    expect(tried(outcome)).toEqual({ note: "EACCES" });
    expect(outcome.notes.join(" ")).toContain("it is shown only what its scope names");
  });

  test("without a tracer it is told that little is learned", () => {
    const own = desk();
    const { notes } = runLaunch({ ...own, ...script(own, ""), order: "learn", scope: { trace: "none" } }, "self");
    expect(notes.join(" ")).toContain("Nothing traces this server");
  });
});

const starts = `attempt("start", () => require("child_process").execFileSync("/bin/true").length)`;

describe.skipIf(tier !== "A")("a server that may start no program (needs tier A)", () => {
  test.each(callers)("as %s cannot, though `env` starts it", (as) => {
    const own = desk();
    const { args } = script(own, starts);
    const command = join(own.home, "code/server");
    writeFileSync(command, `#!/usr/bin/env node\n${readFileSync(args[0] ?? "", "utf8")}`, { mode: 0o755 });
    const outcome = runLaunch({ ...own, command, args: [], scope: { exec: "none", trace: "effects" } }, as);
    expect(tried(outcome)).toEqual({ start: "EPERM" });
    expect(outcome.acts?.filter((act) => act.startsWith("process-spawn denied"))).toHaveLength(1);
    expect(outcome.notes.join(" ")).not.toContain("starts no other program");
  });

  test.each([[["koffi"]], [[]]])("without a supervisor (%o) that is judged only, and said", (without) => {
    const own = desk();
    const scope = { exec: "none", trace: without.length === 0 ? "none" : "effects" } as const;
    const outcome = runLaunch({ ...own, ...script(own, starts), without, scope }, "self");
    expect(tried(outcome)).toEqual({ start: "0" });
    expect(outcome.notes.join(" ")).toContain("judged after the fact");
  });
});
