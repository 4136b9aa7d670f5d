// `audit` over a real log, with no daemon running: what was written, and what somebody changed afterwards.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openKeys } from "../../src/adapters/sealing.ts";
import { openSqliteStore } from "../../src/adapters/store-sqlite.ts";
import { openEventLog } from "../../src/gateway/log/event-log.ts";
import type { EventLog } from "../../src/gateway/store-port.ts";
import { callEntries, unwrap } from "../store/fixture.ts";
import { Terminal } from "./command.ts";

let terminal: Terminal;
beforeEach(() => {
  terminal = new Terminal();
});
afterEach(() => terminal.remove());

const calls = 6;
const database = (): string => join(terminal.home, "log.db");

async function openLog(): Promise<EventLog> {
  const keys = unwrap(openKeys(join(terminal.home, "keys")));
  const store = unwrap(openSqliteStore({ path: database(), durability: "normal", wallMs: Date.now }));
  return unwrap(await openEventLog({ store, keys, wallMs: Date.now, chain: "c".repeat(32), checkpointRecords: 4 }, 0));
}

async function filled(close = true): Promise<EventLog> {
  const log = await openLog();
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
  test("there is nothing to read and nothing wrong, and nothing is made", async () => {
    expect(await terminal.json("audit", "verify")).toEqual({
      code: 0,
      value: { valid: true, records: 0, findings: [], writers: [] },
    });
    expect(await terminal.json("audit", "tail")).toEqual({ code: 0, value: { records: [] } });
    expect(await terminal.run("audit", "export")).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(existsSync(database())).toBe(false);
    expect(existsSync(join(terminal.home, "keys"))).toBe(false);
  });
});

describe("with a log", () => {
  test("verify counts records and signatures, also beside a writer that is at work", async () => {
    const log = await filled(false);
    const beside = await terminal.run("audit", "verify");
    expect(beside.code).toBe(0);
    expect(beside.stdout).toContain("The log is intact");
    await log.close(9);
    const { code, value } = await terminal.json("audit", "verify");
    expect(code).toBe(0);
    expect(value).toMatchObject({ valid: true, records: 2 + 2 * calls, findings: [], writers: [{ writer: 1 }] });
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
    expect(done).toEqual({ code: 0, value: { file, format: "ocsf", records: 2 + 2 * calls } });
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
    expect((await terminal.run("audit", "verify")).code).toBe(0);
    expect((await terminal.run("audit", "verify", "--anchor", report)).code).toBe(1);
  });

  test("a damaged log is named, and moved away only then", async () => {
    await filled();
    expect(await terminal.json("audit", "set-aside")).toEqual({ code: 0, value: { moved: false } });
    writeFileSync(database(), "no database at all ".repeat(50));
    const broken = await terminal.json("audit", "verify");
    expect(broken).toMatchObject({ code: 2, value: { error: { code: "SG-LOG-DAMAGED" } } });
    expect(await terminal.json("audit", "set-aside")).toMatchObject({ code: 0, value: { moved: true } });
    expect(readdirSync(terminal.home).some((name) => name.includes("damaged"))).toBe(true);
    expect((await terminal.run("audit", "verify")).code).toBe(0);
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
