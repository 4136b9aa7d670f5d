// `audit` over a real log, with no daemon running: what was written, and what somebody changed afterwards.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openKeys } from "../../src/adapters/keys/sealing.ts";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import { openEventLog } from "../../src/gateway/log/event-log.ts";
import type { EventLog } from "../../src/gateway/ports/store.ts";
import { callEntries, unwrap } from "../kit/gateway/log-records.ts";
import { Terminal } from "../kit/client/command.ts";

let terminal: Terminal;
beforeEach(() => {
  terminal = new Terminal();
});
afterEach(() => terminal.remove());

const calls = 6;
const database = (): string => join(terminal.home, "log.db");
const gatewayHome = (): string => join(terminal.home, "gateway");
const gatewayDatabase = (): string => join(gatewayHome(), "log.db");

/** What `audit verify` says of a place where no log is. */
const absent = (log: "daemon" | "gateway") => {
  const file = log === "daemon" ? database() : gatewayDatabase();
  return {
    log,
    file,
    state: "missing",
    records: 0,
    checkpoints: 0,
    pruned: [],
    snapshots: { checked: 0, unchecked: 0 },
    findings: [],
    writers: [],
  };
};

async function openLog(home = terminal.home): Promise<EventLog> {
  const keys = unwrap(openKeys(join(home, "keys")));
  const store = unwrap(openSqliteStore({ path: join(home, "log.db"), durability: "normal", wallMs: Date.now }));
  return unwrap(await openEventLog({ store, keys, wallMs: Date.now, chain: "c".repeat(32), checkpointRecords: 4 }, 0));
}

async function filled(close = true, home = terminal.home): Promise<EventLog> {
  const log = await openLog(home);
  for (let call = 0; call < calls; call += 1) {
    // One by one, as calls of an idle machine come: each entry is then a record of its own.
    for (const entry of callEntries(`run-${call % 2}`, `call-${call}`, {
      to: "ann@example.org",
      text: `hidden ${call}`,
    })) {
      unwrap(await log.append([entry]));
    }
  }
  if (close) await log.close(9);
  return log;
}

describe("without a log", () => {
  test("there is nothing to read, nothing is called valid, and nothing is made", async () => {
    expect(await terminal.json("audit", "verify")).toEqual({
      code: 1,
      value: { valid: false, logs: [absent("daemon"), absent("gateway")] },
    });
    expect((await terminal.run("audit", "verify")).stdout).toContain("No record was checked.");
    expect(await terminal.json("audit", "tail")).toEqual({ code: 0, value: { records: [] } });
    const exported = await terminal.run("audit", "export");
    expect(exported).toMatchObject({ code: 0, stdout: "" });
    expect(exported.stderr).toContain("There is no event log to export");
    expect(existsSync(database())).toBe(false);
    expect(existsSync(join(terminal.home, "keys"))).toBe(false);
  });
});

describe("with a log", () => {
  test("verify counts records and signatures, also beside a writer that is at work", async () => {
    const log = await filled(false);
    const beside = await terminal.run("audit", "verify");
    expect(beside.code).toBe(0);
    expect(beside.stdout).toContain("The daemon log is intact");
    expect(beside.stdout).toContain("There is no gateway log at");
    await log.close(9);
    const { code, value } = await terminal.json("audit", "verify");
    expect(code).toBe(0);
    const report = { log: "daemon", file: database(), state: "intact", records: 2 + 2 * calls, findings: [] };
    expect(value).toMatchObject({ valid: true, logs: [{ ...report, writers: [{ writer: 1 }] }, absent("gateway")] });
  });

  test("tail shows the newest records, of one run, without what was sealed", async () => {
    await filled();
    const { value } = await terminal.json("audit", "tail", "-n", "3");
    const { records } = value as { records: Record<string, unknown>[] };
    expect(records.map((record) => record["seq"])).toEqual([12, 13, 14]);
    const ran = await terminal.run("audit", "tail", "--run", "run-1", "-n", "100");
    expect(ran.stdout.trimEnd().split("\n")).toHaveLength(calls);
    expect(ran.stdout).toContain("mail.send");
    expect(ran.stdout).not.toContain("hidden");
    expect((await terminal.run("audit", "tail", "--payload")).stdout).toContain("hidden 5");
  });

  test("export writes each record once, and OCSF links each to the one before", async () => {
    await filled();
    const plain = (await terminal.run("audit", "export")).stdout.trimEnd().split("\n");
    expect(plain).toHaveLength(2 + 2 * calls);
    expect(plain.join("")).not.toContain("hidden");
    const file = join(terminal.root, "events.jsonl");
    const done = await terminal.json("audit", "export", "--format", "ocsf", "--out", file);
    expect(done).toEqual({ code: 0, value: { file, format: "ocsf", records: 2 + 2 * calls, logs: ["daemon"] } });
    const events = readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(events[0]).toMatchObject({ class_uid: 6003 });
    expect(events[1]).toHaveProperty("record_integrity.attestation_list[0].prev_event.fingerprint.value");
  });

  test("a change, a cut tail and a removed log are found", async () => {
    await filled();
    const report = terminal.file("report.json", (await terminal.run("audit", "verify", "--json")).stdout);
    expect((await terminal.run("audit", "verify", "--anchor", report)).code).toBe(0);
    const tampered = new DatabaseSync(database());
    tampered.exec(
      "UPDATE records SET body = replace(body, 'mail', 'main') WHERE id = (SELECT max(id) - 3 FROM records)",
    );
    tampered.close();
    const changed = await terminal.run("audit", "verify");
    expect(changed.code).toBe(1);
    expect(changed.stdout).toContain("was changed after it was written");
    for (const name of readdirSync(terminal.home).filter((name) => name.startsWith("log.db")))
      rmSync(join(terminal.home, name));
    const removed = await terminal.run("audit", "verify", "--anchor", report);
    expect(removed.code).toBe(1);
    expect(removed.stdout).toContain("The daemon log is not there, although the report names it");
  });

  test("a damaged log is named, and moved away only then", async () => {
    await filled();
    expect(await terminal.json("audit", "set-aside")).toEqual({ code: 0, value: { moved: false } });
    writeFileSync(database(), "no database at all ".repeat(50));
    const broken = await terminal.json("audit", "verify");
    expect(broken).toMatchObject({ code: 2, value: { error: { code: "SG-LOG-DAMAGED" } } });
    expect(await terminal.json("audit", "set-aside")).toMatchObject({ code: 0, value: { moved: true } });
    expect(readdirSync(terminal.home).some((name) => name.includes("damaged"))).toBe(true);
    // The new log has no record before a gateway opens it: that is said, and not called valid.
    const empty = await terminal.json("audit", "verify");
    expect(empty).toMatchObject({ code: 1, value: { valid: false, logs: [{ state: "empty", records: 0 }, {}] } });
  });

  test("missing keys are not made anew", async () => {
    await filled();
    rmSync(join(terminal.home, "keys"), { recursive: true });
    expect(await terminal.json("audit", "verify")).toMatchObject({
      code: 2,
      value: { error: { code: "SG-LOG-KEYS" } },
    });
    expect(existsSync(join(terminal.home, "keys"))).toBe(false);
  });
});

describe("the log of gateways in the foreground", () => {
  test("is verified, shown and exported by itself, and never counts as an intact daemon log", async () => {
    const config = terminal.file("config.json", {
      version: 1,
      servers: { notes: { command: process.execPath, args: ["-e", ""] } },
    });
    expect((await terminal.run("gateway", "--config", config)).code).toBe(0);
    const { code, value } = await terminal.json("audit", "verify");
    expect(code).toBe(0);
    const report = { log: "gateway", file: gatewayDatabase(), state: "intact", records: 2 };
    expect(value).toMatchObject({ valid: true, logs: [absent("daemon"), report] });
    const tail = await terminal.json("audit", "tail");
    expect(tail.value).toMatchObject({
      records: [
        { log: "gateway", kind: "opened" },
        { log: "gateway", kind: "closed" },
      ],
    });
    expect((await terminal.run("audit", "export")).stdout.trimEnd().split("\n")).toHaveLength(2);
    expect((await terminal.run("audit", "verify", "--log", "daemon")).code).toBe(1);
    expect(await terminal.json("audit", "tail", "--log", "daemon")).toEqual({ code: 0, value: { records: [] } });
  });

  test("stands beside that of the daemon: lines in the order of time, each with its log", async () => {
    await filled();
    await filled(true, gatewayHome());
    const { value } = await terminal.json("audit", "verify");
    expect(value).toMatchObject({
      valid: true,
      logs: [
        { log: "daemon", state: "intact", records: 2 + 2 * calls },
        { log: "gateway", state: "intact", records: 2 + 2 * calls },
      ],
    });
    const shown = (await terminal.run("audit", "tail", "-n", "100")).stdout.trimEnd().split("\n");
    expect(shown).toHaveLength(2 * (2 + 2 * calls));
    const times = shown.map((line) => line.slice(9, 28));
    expect(times).toEqual(times.toSorted());
    expect(new Set(shown.map((line) => line.slice(0, 9).trim()))).toEqual(new Set(["daemon", "gateway"]));
    const uids = (await terminal.run("audit", "export", "--format", "ocsf")).stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { metadata: { uid: string } }).metadata.uid);
    expect(new Set(uids).size).toBe(2 * (2 + 2 * calls));
  });

  test("a change in it is found, also from an earlier report, and set-aside moves it", async () => {
    await filled();
    await filled(true, gatewayHome());
    const report = terminal.file("report.json", (await terminal.run("audit", "verify", "--json")).stdout);
    const tampered = new DatabaseSync(gatewayDatabase());
    tampered.exec(
      "UPDATE records SET body = replace(body, 'mail', 'main') WHERE id = (SELECT max(id) - 3 FROM records)",
    );
    tampered.close();
    const { code, value } = await terminal.json("audit", "verify");
    expect(code).toBe(1);
    expect(value).toMatchObject({ valid: false, logs: [{ state: "intact" }, { log: "gateway", state: "broken" }] });
    writeFileSync(gatewayDatabase(), "no database at all ".repeat(50));
    // Both are told, and that not all was checked.
    expect(await terminal.json("audit", "verify")).toMatchObject({
      code: 1,
      value: {
        valid: false,
        logs: [{ state: "intact" }, { log: "gateway", state: "unreadable", error: { code: "SG-LOG-DAMAGED" } }],
      },
    });
    const both = await terminal.run("audit", "verify");
    expect(both.stdout).toContain("The daemon log is intact");
    expect(both.stdout).toMatch(/^The gateway log was not checked\. .* \[SG-LOG-DAMAGED\]$/m);
    expect((await terminal.run("audit", "verify", "--log", "gateway")).code).toBe(2);
    const aside = await terminal.json("audit", "set-aside");
    expect(aside).toMatchObject({ code: 0, value: { moved: true, log: "gateway" } });
    expect(existsSync(join(gatewayHome(), "history-lost"))).toBe(true);
    rmSync(gatewayHome(), { recursive: true });
    const removed = await terminal.run("audit", "verify", "--anchor", report);
    expect(removed.code).toBe(1);
    expect(removed.stdout).toContain("The gateway log is not there, although the report names it");
  });
});
