// A log that vanished, was cut to nothing, put back or altered, while its keys remain.
import { copyFileSync, existsSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Composition, compose } from "../../src/app/gateway/composition.ts";
import { control } from "../../src/app/gateway/control.ts";
import { Terminal } from "../kit/client/command.ts";
import { callEntries, unwrap } from "../kit/gateway/log-records.ts";

let terminal: Terminal;
beforeEach(() => {
  terminal = new Terminal();
});
afterEach(() => terminal.remove());

const database = (): string => join(terminal.home, "log.db");
const lostMark = (): boolean => existsSync(join(terminal.home, "history-lost"));

const told: string[] = [];

async function started(): Promise<Composition> {
  told.length = 0;
  const connector = {
    connect: () => {
      throw new Error("no server is asked for");
    },
  };
  const tell = (text: string): void => void told.push(text);
  return unwrap(
    await compose({ home: terminal.home, policies: [], connector, servers: [], tagOf: () => undefined, tell }),
  );
}

/** A log with a few sealed records, closed in order. */
async function filled(): Promise<void> {
  const { log, close } = await started();
  for (const entry of callEntries("run-1", "call-1", { to: "ann@example.org", text: "hidden" })) {
    unwrap(await log.append([entry]));
  }
  await close();
}

function removed(): void {
  for (const name of readdirSync(terminal.home).filter((one) => one.startsWith("log.db")))
    rmSync(join(terminal.home, name));
}

async function verified(): Promise<{ code: number | null; stdout: string }> {
  return terminal.run("audit", "verify");
}

const logState = async (composition: Composition): Promise<unknown> => {
  const context = { part: () => undefined, signal: new AbortController().signal };
  const status = unwrap(await control(composition, { kind: "status" }, context)) as { log: unknown };
  return status.log;
};

describe("a log that is gone while its keys remain", () => {
  test.each([
    ["removed", removed],
    ["cut to nothing", () => (removed(), writeFileSync(database(), ""))],
    ["emptied in place", () => truncateSync(database(), 0)],
  ])("%s: verify says that the keys are older, also after a new log began", async (_how, lose) => {
    await filled();
    expect((await verified()).code).toBe(0);
    lose();
    expect(await verified()).toMatchObject({ code: 1, stdout: expect.stringContaining("keys are older than the log") });
    const composition = await started();
    expect(told.join()).toContain("keys are older than the log");
    expect(await logState(composition)).toMatchObject({ state: "broken", sentence: expect.stringContaining("older") });
    await composition.close();
    expect(lostMark()).toBe(true);
    expect(await verified()).toMatchObject({ code: 1, stdout: expect.stringContaining("keys are older than the log") });
  });

  test("of an earlier release, which remembered nothing: the keys of days are evidence enough", async () => {
    await filled();
    rmSync(join(terminal.home, "keys", "log-head.json"));
    expect((await verified()).code).toBe(0);
    removed();
    expect(await verified()).toMatchObject({ code: 1, stdout: expect.stringContaining("keys are older than the log") });
    await (await started()).close();
    expect(lostMark()).toBe(true);
  });

  test("put back to an older copy", async () => {
    await filled();
    const copy = join(terminal.root, "copy.db");
    copyFileSync(database(), copy);
    await filled();
    await filled();
    removed();
    copyFileSync(copy, database());
    expect(await verified()).toMatchObject({ code: 1, stdout: expect.stringContaining("the log has no writer") });
    await (await started()).close();
    expect(lostMark()).toBe(true);
  });

  test("set-aside accepts the loss, and later starts are quiet", async () => {
    await filled();
    removed();
    const accepted = await terminal.json("audit", "set-aside");
    expect(accepted).toMatchObject({ code: 0, value: { moved: false, accepted: true, log: "daemon" } });
    const composition = await started();
    expect(told.join()).not.toContain("older");
    expect(await logState(composition)).toEqual({ state: "ok" });
    await composition.close();
    expect((await verified()).code).toBe(0);
  });

  test("a memory that the keys have not signed is no memory", async () => {
    await filled();
    writeFileSync(join(terminal.home, "keys", "log-head.json"), JSON.stringify({ body: "{}", signature: "00" }));
    expect(await verified()).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("not what its keys have signed"),
    });
    await (await started()).close();
    expect(lostMark()).toBe(true);
  });

  test("keys that never served a log, and a first start, are nothing to report", async () => {
    await (await started()).close();
    await (await started()).close();
    expect(told).toEqual([]);
    expect(lostMark()).toBe(false);
    expect((await verified()).code).toBe(0);
  });
});

describe("a log whose chain is broken", () => {
  const alter = (statement: string) => () => {
    const tampered = new DatabaseSync(database());
    tampered.exec(statement);
    tampered.close();
  };

  test.each([
    ["a changed body", alter("UPDATE records SET body = replace(body, 'mail', 'main') WHERE kind = 'dispatched'")],
    ["a deleted row", alter("DELETE FROM records WHERE kind = 'dispatched'")],
    ["a payload that is gone", alter("UPDATE records SET payload = NULL WHERE payload IS NOT NULL")],
    ["a cut tail", alter("DELETE FROM records WHERE id > (SELECT min(id) FROM records)")],
    ["a bad signature", alter("UPDATE checkpoints SET signature = zeroblob(64)")],
  ])("%s: the gateway says so, and serves with every run restricted", async (_how, tamper) => {
    await filled();
    tamper();
    const composition = await started();
    expect(told.join()).toContain("cannot be believed");
    expect(await logState(composition)).toMatchObject({ state: "broken" });
    const rows = unwrap(await composition.log.store.openRuns());
    expect(rows.every(({ top }) => top)).toBe(true);
    await composition.close();
    expect(lostMark()).toBe(true);
    expect(await terminal.json("audit", "set-aside")).toMatchObject({ code: 0, value: { moved: true } });
    await (await started()).close();
    expect(told.join()).not.toContain("cannot be believed");
  });

  test("a doctor says what is wrong with it", async () => {
    await filled();
    removed();
    const doctor = await terminal.run("doctor");
    expect(doctor.stdout).toContain("keys are older than the log");
  });
});
