/** Snapshots of runs in a real log: only an authentic one is believed, and only for what it stands for. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { dayKeysIn, openKeys } from "../../src/adapters/keys/sealing.ts";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import { openEventLog } from "../../src/gateway/log/event-log.ts";
import type { Snapshot } from "../../src/gateway/ports/snapshots.ts";
import type { EventLog, RunRow } from "../../src/gateway/ports/store.ts";
import { callEntries, lattice, temporaryFolder, unwrap } from "../kit/gateway/log-records.ts";

let folder: ReturnType<typeof temporaryFolder>;
let log: EventLog;
const dayMs = 86_400_000;
let wallMs = 20_000 * dayMs;
const path = (): string => join(folder.path, "log.db");
const rowOf = (key: string): RunRow => ({
  key,
  principal: "os:1",
  policyDigest: "policy-1",
  begunWallMs: 1,
  idleExpiresWallMs: 2,
  top: false,
  resume: {},
});

async function open(release = "1.0.0"): Promise<EventLog> {
  const store = unwrap(openSqliteStore({ path: path(), durability: "normal", wallMs: () => wallMs, bootId: "boot" }));
  const keys = unwrap(openKeys(join(folder.path, "keys")));
  return unwrap(await openEventLog({ store, keys, wallMs: () => wallMs, chain: "c".repeat(32), release }, 0));
}

async function append(run: string, call: string): Promise<void> {
  const runs = [rowOf(run)];
  for (const entry of callEntries(run, call, { to: "ann@example.org" })) unwrap(await log.append([entry], { runs }));
}

/** A snapshot of all that a run has in the log. */
async function snapshotOf(run: string, text = "what was folded"): Promise<Snapshot> {
  const { last } = unwrap(await log.replay(run, lattice));
  if (last === undefined) throw new Error("the run has no record");
  const { place, sinceWallMs } = last;
  return { run, place, sinceWallMs, fits: "policy-1", text };
}

function tamper(statement: string): void {
  const database = new DatabaseSync(path());
  database.exec(statement);
  database.close();
}

beforeEach(async () => {
  folder = temporaryFolder();
  log = await open();
  for (const run of ["run-a", "run-b"]) await append(run, `${run}-1`);
});
afterEach(async () => {
  await log.close(9);
  folder.remove();
});

describe("B14: a snapshot in the log", () => {
  it("comes back as it was, with the records after it", async () => {
    const snapshot = await snapshotOf("run-a");
    unwrap(await log.keepSnapshot(snapshot));
    await append("run-a", "run-a-2");
    expect(await log.snapshot("run-a", "policy-1")).toEqual(snapshot);
    const rest = unwrap(
      await log.replay("run-a", lattice, { after: { place: snapshot.place, heard: undefined, waiting: [] } }),
    );
    expect(rest.events.map(({ kind }) => kind)).toEqual(["dispatched", "succeeded", "released"]);
    const first = unwrap(await log.replay("run-a", lattice, { recordsMax: 1 }));
    expect(first.events.map(({ kind }) => kind)).toEqual(["dispatched"]);
  });

  it("is not believed after a byte of it was changed", async () => {
    unwrap(await log.keepSnapshot(await snapshotOf("run-a")));
    tamper("UPDATE snapshots SET sealed = CAST(substr(sealed, 1, length(sealed) - 1) || x'00' AS BLOB)");
    expect(await log.snapshot("run-a", "policy-1")).toBeUndefined();
  });

  it("of another run, or for another place, is not believed", async () => {
    for (const run of ["run-a", "run-b"]) unwrap(await log.keepSnapshot(await snapshotOf(run)));
    tamper("UPDATE snapshots SET sealed = (SELECT sealed FROM snapshots WHERE run = 'run-b') WHERE run = 'run-a'");
    expect(await log.snapshot("run-a", "policy-1")).toBeUndefined();
    tamper("UPDATE snapshots SET record = record + 1 WHERE run = 'run-b'");
    expect(await log.snapshot("run-b", "policy-1")).toBeUndefined();
  });

  it("put back to an older one gives the records since then", async () => {
    const older = await snapshotOf("run-a", "older");
    unwrap(await log.keepSnapshot(older));
    tamper("CREATE TABLE kept AS SELECT * FROM snapshots");
    await append("run-a", "run-a-2");
    unwrap(await log.keepSnapshot(await snapshotOf("run-a", "newer")));
    tamper("DELETE FROM snapshots; INSERT INTO snapshots SELECT * FROM kept; DROP TABLE kept");
    const found = await log.snapshot("run-a", "policy-1");
    expect(found?.text).toBe("older");
    const after = { place: older.place, heard: undefined, waiting: [] };
    expect(unwrap(await log.replay("run-a", lattice, { after })).events).toHaveLength(3);
  });

  it("of records that are not there, or are others now, is not believed", async () => {
    const snapshot = await snapshotOf("run-a");
    const { place } = snapshot;
    unwrap(await log.keepSnapshot({ ...snapshot, place: { ...place, seq: place.seq + 1_000 } }));
    expect(await log.snapshot("run-a", "policy-1")).toBeUndefined();
    unwrap(await log.keepSnapshot({ ...snapshot, place: { ...place, fingerprint: "f".repeat(64) } }));
    expect(await log.snapshot("run-a", "policy-1")).toBeUndefined();
    unwrap(await log.keepSnapshot(snapshot));
    expect(await log.snapshot("run-a", "policy-1")).toBeDefined();
    // A log that was cut off before the record.
    tamper("DELETE FROM records WHERE run = 'run-a'");
    expect(await log.snapshot("run-a", "policy-1")).toBeUndefined();
  });

  it("of another policy or release does not fit", async () => {
    unwrap(await log.keepSnapshot(await snapshotOf("run-a")));
    expect(await log.snapshot("run-a", "policy-2")).toBeUndefined();
    await log.close(5);
    log = await open("1.0.1");
    expect(await log.snapshot("run-a", "policy-1")).toBeUndefined();
  });

  it("cannot be read without the key of the run's first day, like what it was folded of", async () => {
    const days = (): readonly string[] => dayKeysIn(join(folder.path, "keys"));
    const [first] = days();
    wallMs += dayMs;
    await append("run-a", "run-a-2");
    unwrap(await log.keepSnapshot(await snapshotOf("run-a")));
    await log.close(5);
    expect(days()).toHaveLength(2);
    rmSync(join(folder.path, "keys", first ?? ""));
    log = await open();
    expect(await log.snapshot("run-a", "policy-1")).toBeUndefined();
  });

  it("is missing in a file whose owner knew none yet, and a reader says so", async () => {
    unwrap(await log.keepSnapshot(await snapshotOf("run-a")));
    await log.close(5);
    tamper("DROP TABLE snapshots");
    const reader = unwrap(openSqliteStore({ path: path(), durability: "normal", wallMs: () => wallMs, mode: "read" }));
    expect(unwrap(await reader.snapshot("run-a"))).toBeUndefined();
    expect(unwrap(await reader.snapshotRuns("", 9))).toEqual([]);
    await reader.close(false);
    log = await open();
    unwrap(await log.keepSnapshot(await snapshotOf("run-a")));
    expect(await log.snapshot("run-a", "policy-1")).toBeDefined();
  });
});
