/** B14: a kill or a full disk in the middle of the removal leaves a log that verifies, and nothing half removed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openKeys } from "../../src/adapters/keys/sealing.ts";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import { readPruning } from "../../src/gateway/log/retention/pruning.ts";
import { replayRun } from "../../src/gateway/log/event-replay.ts";
import { verifyLog } from "../../src/gateway/log/verify.ts";
import type { Store } from "../../src/gateway/ports/store.ts";
import { prune } from "../../src/gateway/runs/retention/run-retention.ts";
import { AgedLog, dayMs } from "../kit/gateway/aged-log.ts";
import { lattice, temporaryFolder, unwrap } from "../kit/gateway/log-records.ts";

const kills = process.env["SLUICEGATE_FULL"] === "1" ? 60 : 5;
const script = fileURLToPath(new URL("prune-writer.ts", import.meta.url));

async function killOnce(folder: string, generation: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [script, folder, String(generation)], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (text: string) => {
    if (output === "") setTimeout(() => child.kill("SIGKILL"), 60 + ((generation * 37) % 120));
    output += text;
  });
  const [, signal] = await once(child, "close");
  expect(signal).toBe("SIGKILL");
  // A last line may be cut by the kill.
  return output.split("\n").slice(0, -1);
}

async function stepsIn(store: Store): Promise<{ readonly steps: number; readonly summed: number }> {
  const found = { steps: 0, summed: 0 };
  for (const writer of unwrap(await store.writers())) {
    const prunings = unwrap(await store.prunings(writer)).map((record) => readPruning(record));
    for (const pruning of prunings) expect(pruning?.records).toBeGreaterThan(0);
    found.steps += prunings.length;
    found.summed += prunings.filter((pruning) => pruning?.sums !== undefined).length;
  }
  return found;
}

describe("B14: retention and crashes", () => {
  it(`verifies after each of ${kills} kills, and no call of an open run is lost`, async () => {
    const folder = temporaryFolder();
    const keys = unwrap(openKeys(join(folder.path, "keys")));
    const options = {
      path: join(folder.path, "log.db"),
      durability: "normal",
      wallMs: Date.now,
      mode: "read",
    } as const;
    const acknowledged = new Set<string>();
    let left = { steps: 0, summed: 0 };
    for (let generation = 1; generation <= kills; generation += 1) {
      for (const line of await killOnce(folder.path, generation)) acknowledged.add(line);
      const store = unwrap(openSqliteStore(options));
      expect(unwrap(await verifyLog(store, keys))).toMatchObject({ valid: true, findings: [] });
      for (const run of ["open-1", "open-2"]) {
        const { events, complete } = unwrap(await replayRun({ store, keys, lattice }, run));
        expect(complete).toBe(true);
        const there = new Set(events.flatMap((event) => ("call" in event ? [`${run} ${event.call}`] : [])));
        for (const line of acknowledged) if (line.startsWith(`${run} `)) expect(there.has(line)).toBe(true);
      }
      left = await stepsIn(store);
      await store.close(false);
    }
    expect(left.steps).toBeGreaterThan(0);
    expect(left.summed).toBeGreaterThan(0);
    folder.remove();
  });

  it("removes nothing on a full disk, and goes on once there is room", async () => {
    const aged = await AgedLog.of("SQLite");
    for (let run = 0; run < 4; run += 1) await aged.past(`old-${run}`, 60);
    aged.wallMs += 31 * dayMs;
    await aged.restart();
    await aged.log.close(1);
    const database = new DatabaseSync(aged.path);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const pages = Number(database.prepare("PRAGMA page_count").get()?.["page_count"]);
    database.close();
    await aged.start(aged.openStore("own", pages));
    const failed = await aged.log.prune({
      leaving: unwrap(await aged.store.runHeads("old-0", undefined, 500)).map((head) => ({ ...head, run: "old-0" })),
      keepDays: 30,
      endedBefore: aged.wallMs,
      wallMs: aged.wallMs,
      at: 1,
    });
    expect(failed).toMatchObject({ ok: false, error: { kind: "full" } });
    expect(await aged.verified()).toMatchObject({ valid: true, pruned: [] });
    expect(await aged.recordsOf("old-0")).toBe(122);
    expect(unwrap(await aged.store.prunedBy("old-0"))).toBeUndefined();
    await aged.log.store.close(false);
    await aged.start();
    expect(await aged.prune()).toMatchObject({ runs: 4, records: 488 });
    expect(await aged.verified()).toMatchObject({ valid: true });
    await aged.dispose();
  });

  it("sums nothing up on a full disk, and goes on once there is room", async () => {
    const aged = await AgedLog.of("SQLite");
    for (let run = 0; run < 16; run += 1) {
      await aged.past(`os:1/session:${run}`, 40);
      aged.wallMs += 31 * dayMs;
      await aged.prune();
    }
    aged.wallMs += 31 * dayMs;
    await aged.log.close(1);
    const database = new DatabaseSync(aged.path);
    database.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
    const pages = Number(database.prepare("PRAGMA page_count").get()?.["page_count"]);
    database.close();
    await aged.start(aged.openStore("own", pages));
    // Whatever room the last page has is used up.
    await aged.calls("open", 20).catch(() => undefined);
    const failed = await prune(aged.log, aged.way());
    expect(failed).toMatchObject({ ok: false, error: { kind: "full" } });
    const stepsOf = async () =>
      (await Promise.all([1, 2].map((writer) => aged.store.prunings(writer)))).map((one) => unwrap(one).length);
    expect(await stepsOf()).toEqual([16, 0]);
    expect(unwrap(await aged.store.run("os:1/session:1"))).toBeDefined();
    expect(await aged.verified()).toMatchObject({ valid: true });
    await aged.log.store.close(false);
    await aged.start();
    await aged.prune();
    expect((await aged.verified()).pruned).toMatchObject([{ sums: 16, records: 16 * 82 + 16 }]);
    expect(unwrap(await aged.store.run("os:1/session:1"))).toBeUndefined();
    await aged.dispose();
  });
});
