// A log on a medium that cannot be written: it is verified and read, and what would write says so in one sentence.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, type TestContext } from "vitest";
import { openKeys } from "../../src/adapters/keys/sealing.ts";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import { openEventLog } from "../../src/gateway/log/event-log.ts";
import { repository, Terminal } from "../kit/client/command.ts";
import { callEntries, unwrap } from "../kit/gateway/log-records.ts";

let terminal: Terminal;
beforeEach(() => {
  terminal = new Terminal();
});
afterEach(() => terminal.remove());

/** Runs a command where the state folder is mounted read-only. */
function readOnly(context: TestContext, ...words: readonly string[]) {
  const script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"';
  const command = [process.execPath, join(repository, "bin", "sluicegate.js"), ...words];
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: terminal.root,
    SLUICEGATE_HOME: terminal.home,
    SLUICEGATE_RUNTIME_DIR: join(terminal.root, "run"),
  };
  const args = ["-Urm", "sh", "-c", script, "sh", terminal.home];
  if (spawnSync("unshare", [...args, "true"]).status !== 0) {
    context.skip("a read-only folder needs user namespaces with mounts");
  }
  return spawnSync("unshare", [...args, ...command], { env, encoding: "utf8", timeout: 60_000, cwd: terminal.root });
}

async function filled(close: boolean): Promise<void> {
  const keys = unwrap(openKeys(join(terminal.home, "keys")));
  const store = unwrap(
    openSqliteStore({ path: join(terminal.home, "log.db"), durability: "normal", wallMs: Date.now }),
  );
  const log = unwrap(await openEventLog({ store, keys, wallMs: Date.now, chain: "c".repeat(32) }, 0));
  for (const entry of callEntries("run-1", "call-1", { to: "ann@example.org", text: "hidden" })) {
    unwrap(await log.append([entry]));
  }
  if (close) await log.close(9);
}

test("a log that was closed is verified, shown and exported", async (context) => {
  await filled(true);
  const verified = readOnly(context, "audit", "verify");
  expect(verified).toMatchObject({ status: 0, stderr: "" });
  expect(verified.stdout).toContain("The daemon log is intact: 4 records");
  expect(readOnly(context, "audit", "tail", "--payload").stdout).toContain("hidden");
  expect(readOnly(context, "audit", "export").stdout.trimEnd().split("\n")).toHaveLength(4);
});

test("records that are still in the write-ahead log are read, too, and no copy is left", async (context) => {
  await filled(false);
  const before = readdirSync("/tmp").filter((name) => name.startsWith("sluicegate-log-"));
  const verified = readOnly(context, "audit", "verify");
  expect(verified.stdout).toContain("The daemon log is intact: 3 records");
  expect(readdirSync("/tmp").filter((name) => name.startsWith("sluicegate-log-") && !before.includes(name))).toEqual(
    [],
  );
});

test.for([["daemon", "start"], ["run", "--", "true"], ["run", "--solo", "--", "true"], ["doctor"]])(
  "`%s %s` says in a sentence that the folder cannot be written",
  async (given, context) => {
    await filled(true);
    const ran = readOnly(context, ...given);
    const said = `${ran.stdout}${ran.stderr}`;
    expect(ran.status).not.toBe(0);
    expect(said).not.toMatch(/is a bug|\n\s+at /);
    expect(said).toMatch(/cannot be (written|read or written|used|made)/);
  },
);

test("a daemon's log that is a folder is no bug either", async () => {
  mkdirSync(join(terminal.home, "daemon.log"), { recursive: true });
  const ran = await terminal.run("run", "--", "true");
  expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot be written (EISDIR)") });
  writeFileSync(join(terminal.home, "other"), "");
});
