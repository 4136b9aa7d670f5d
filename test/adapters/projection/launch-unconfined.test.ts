// Servers that nothing confines: with hooks only (tier C), and with nothing at all. Root's never run as root.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type LaunchCase, type LaunchOutcome, runLaunch } from "../../kit/isolation/launch-case.ts";

const base = mkdtempSync(join(tmpdir(), "sluicegate-bare-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));
chmodSync(base, 0o755);
const root = process.getuid?.() === 0;
const callers = root ? (["self", "nobody"] as const) : (["self"] as const);
const uid = String(root ? 65_534 : process.getuid?.());
const linux = process.platform === "linux";
if (!linux) console.log(`skipped: this is ${process.platform}, not Linux`);
const python = spawnSync("/usr/bin/python3", ["-c", "import sys; sys.addaudithook"]).status === 0;
let count = 0;

function desk(): Pick<LaunchCase, "workspace" | "home" | "stateFolder"> {
  const folder = join(base, String(count++));
  const made = { workspace: join(folder, "work"), home: join(folder, "home"), stateFolder: join(folder, "state") };
  for (const one of Object.values(made)) {
    mkdirSync(one, { recursive: true });
    chmodSync(one, 0o777);
  }
  return made;
}

function said({ output, error, end }: LaunchOutcome): string {
  if (error !== undefined) throw new Error(error);
  if (output === "") throw new Error(end.lastWords);
  return output.trim();
}

const walls = ["bwrap", "landlock"];
const env = { API_TOKEN: "secret" };

describe.skipIf(!linux)("tier C", () => {
  test.each(callers)("a server in Node, started by %s: hooks tell what it did, secrets are kept back", (as) => {
    const own = desk();
    const file = join(own.workspace, "server.cjs");
    const body = `require("fs").readFileSync("/etc/hostname"); console.log(process.getuid(), process.env.API_TOKEN ?? "none")`;
    writeFileSync(file, body);
    const given = { ...own, command: process.execPath, args: [file], env, without: walls };
    const outcome = runLaunch({ ...given, scope: { trace: "full" } }, as);
    expect(said(outcome)).toBe(`${uid} none`);
    expect(outcome.tier).toBe("C");
    expect(outcome.tracer).toBeGreaterThan(0);
    expect(outcome.notes.join(" ")).toContain("Not passed to the server: API_TOKEN");
  });

  test.skipIf(!python).each(callers)("a server in Python, started by %s (needs /usr/bin/python3)", (as) => {
    const own = desk();
    const file = join(own.workspace, "server.py");
    writeFileSync(file, `import os\nopen("made", "w").close()\nprint(os.getuid())\n`);
    const given = { ...own, command: "/usr/bin/python3", args: [file], without: walls };
    const outcome = runLaunch({ ...given, scope: { trace: "full" } }, as);
    expect(said(outcome)).toBe(uid);
    expect(outcome.acts?.some((act) => act.endsWith("/made"))).toBe(true);
  });

  test("a Node that is too old for the hook starts without it, and that is said", () => {
    const own = desk();
    const node = join(own.workspace, "node");
    // It refuses every option, as an old one does this one.
    copyFileSync("/bin/false", node);
    chmodSync(node, 0o755);
    const outcome = runLaunch({ ...own, command: node, args: [], without: walls, scope: { trace: "full" } }, "self");
    expect(outcome).toMatchObject({ tier: "C", end: { code: 1 } });
    expect(outcome.notes.join(" ")).toContain("does not know `--permission-audit`");
  });

  test.skipIf(!root)("root starts none where its rights cannot be dropped (needs root)", () => {
    const given = { ...desk(), command: "/bin/true", args: [], without: [...walls, "setpriv"] };
    expect(runLaunch(given, "self").error).toContain("Servers are never run as root");
  });
});

describe.skipIf(!linux)("tier none", () => {
  function fetcher(workspace: string): string {
    const file = join(workspace, "npx");
    writeFileSync(file, `#!/bin/sh\necho "$(id -u) $HOME"; touch "$HOME/kept"\n`);
    chmodSync(file, 0o755);
    return file;
  }

  test.each(callers)("a command that fetches code, started by %s, is not root and is told to be unconfined", (as) => {
    const own = desk();
    const outcome = runLaunch({ ...own, command: fetcher(own.workspace), args: [] }, as);
    const [user, home] = said(outcome).split(" ");
    expect(outcome.tier).toBe("none");
    expect(user).toBe(uid);
    if (root && as === "self") expect(home).not.toBe(own.home);
    expect(outcome.notes.join(" ")).toContain("fetches its package at every start");
    expect(outcome.notes.join(" ")).toContain("Nothing of its scope holds for this server");
  });

  test.skipIf(!root)(
    "root starts none where its rights cannot be dropped, unless the policy turns isolation off",
    () => {
      const own = desk();
      const given = { ...own, command: fetcher(own.workspace), args: [], without: ["setpriv"] };
      expect(runLaunch(given, "self").error).toContain("Servers are never run as root");
      expect(said(runLaunch({ ...given, order: "off" }, "self"))).toBe("0");
    },
  );
});
