/** What happens when the disk, the file or the machine lets us down. Nothing that was acknowledged may be lost. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openKeys } from "../../src/adapters/keys/sealing.ts";
import { openMemoryStore } from "../../src/adapters/store/memory.ts";
import { currentBootId, openSqliteStore, type SqliteOptions } from "../../src/adapters/store/sqlite.ts";
import { openEventLog } from "../../src/gateway/log/event-log.ts";
import { verifyLog } from "../../src/gateway/log/verify.ts";
import type { EventLog, RunRow, Store, StoreFailure } from "../../src/gateway/ports/store.ts";
import { callEntries, lattice, record, temporaryFolder, unwrap } from "../kit/gateway/log-records.ts";

let folder: ReturnType<typeof temporaryFolder>;
const path = (): string => join(folder.path, "log.db");
const options = (changes: Partial<SqliteOptions> = {}): SqliteOptions => ({
  path: path(),
  durability: "normal",
  wallMs: () => 5_000,
  bootId: "boot-1",
  busyWaitMsMax: 50,
  ...changes,
});
const opened = (changes: Partial<SqliteOptions> = {}): Store => unwrap(openSqliteStore(options(changes)));

function failureOf(changes: Partial<SqliteOptions> = {}): StoreFailure {
  const result = openSqliteStore(options(changes));
  if (result.ok) throw new Error("it opened");
  // What people read: bounded, with the place, and no stack trace.
  expect(result.error.sentence.length).toBeLessThanOrEqual(240);
  expect(result.error.sentence).toContain(folder.path);
  expect(result.error.sentence).not.toContain(" at ");
  return result.error;
}

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

async function closedStoreWithRecords(count: number): Promise<void> {
  const store = opened();
  for (let seq = 1; seq <= count; seq += 1) unwrap(await store.append({ records: [record(seq, "run-1", 1)] }));
  await store.close(true);
}

describe("a damaged file", () => {
  const damages: [string, (bytes: Buffer) => Buffer][] = [
    ["a wrong header", (bytes) => Buffer.concat([Buffer.from("not a database at all"), bytes.subarray(21)])],
    [
      "a page of zeros",
      (bytes) => Buffer.concat([bytes.subarray(0, 8_192), Buffer.alloc(4_096 * 3), bytes.subarray(20_480)]),
    ],
    ["half a file", (bytes) => bytes.subarray(0, bytes.length / 2)],
    [
      "a broken schema",
      (bytes) => Buffer.concat([bytes.subarray(0, 100), Buffer.alloc(3_996, 7), bytes.subarray(4_096)]),
    ],
  ];

  it.each(damages)("with %s is refused and not touched", async (_name, damage) => {
    await closedStoreWithRecords(300);
    writeFileSync(path(), damage(readFileSync(path())));
    const before = readFileSync(path());
    expect(failureOf()).toMatchObject({ kind: "damaged", place: path() });
    expect(readFileSync(path()).equals(before)).toBe(true);
    expect(failureOf({ mode: "read" }).kind).toBe("damaged");
  });

  it("is kept aside where that is asked for, and everything resumes at top", async () => {
    await closedStoreWithRecords(3);
    for (const expected of ["log.db.damaged-1", "log.db.damaged-2"]) {
      const damaged = Buffer.from(`garbage of ${expected}`);
      writeFileSync(path(), damaged);
      const store = opened({ setAside: "damaged" });
      expect(store.opening).toMatchObject({ resumeAtTop: true, keptAside: join(folder.path, expected), writer: 1 });
      expect(readFileSync(join(folder.path, expected)).equals(damaged)).toBe(true);
      await store.close(true);
    }
  });

  it("that was emptied beside its write-ahead log is no fresh start", () => {
    writeFileSync(path(), "");
    writeFileSync(`${path()}-wal`, "something");
    expect(failureOf().kind).toBe("damaged");
    expect(readFileSync(`${path()}-wal`, "utf8")).toBe("something");
  });
});

describe("a file that is not ours to open", () => {
  it("of a newer version is refused", async () => {
    await closedStoreWithRecords(1);
    const database = new DatabaseSync(path());
    database.exec("PRAGMA user_version = 99");
    database.close();
    expect(failureOf().kind).toBe("newer");
  });

  it("of another program is refused", () => {
    const database = new DatabaseSync(path());
    database.exec("CREATE TABLE theirs (x)");
    database.close();
    expect(failureOf().kind).toBe("foreign");
  });

  it("has one owner; readers are welcome", async () => {
    const store = opened();
    unwrap(await store.append({ records: [record(1, "run-1", 1)] }));
    expect(failureOf().kind).toBe("busy");
    const reader = opened({ mode: "read" });
    expect(unwrap(await reader.records({ order: "oldest", limit: 5 }))).toHaveLength(1);
    expect(await reader.append({ records: [] })).toMatchObject({ ok: false, error: { kind: "closed" } });
    await reader.close(false);
    await store.close(true);
    await opened().close(true);
  });

  it("cannot be read before it exists", () => {
    expect(failureOf({ mode: "read" }).kind).toBe("unreachable");
    expect(existsSync(path())).toBe(false);
  });

  it.runIf(process.platform !== "win32")("is private: 0600 in a folder of 0700, and an open folder is refused", () => {
    const deep = join(folder.path, "state", "log.db");
    const store = opened({ path: deep });
    for (const name of readdirSync(join(folder.path, "state"))) {
      expect([name, (statSync(join(folder.path, "state", name)).mode & 0o777).toString(8)]).toEqual([name, "600"]);
    }
    expect((statSync(join(folder.path, "state")).mode & 0o777).toString(8)).toBe("700");
    void store.close(true);
    chmodSync(join(folder.path, "state"), 0o755);
    expect(failureOf({ path: deep }).sentence).toContain("chmod 700");
  });
});

async function logOn(store: Store): Promise<EventLog> {
  const keys = unwrap(openKeys(join(folder.path, "keys")));
  return unwrap(await openEventLog({ store, keys, wallMs: () => 5_000, chain: "c" }, 0));
}

/** Appends until the disk is full; gives the number of acknowledged entries. */
async function fill(log: EventLog): Promise<number> {
  const body = "x".repeat(20_000);
  for (let count = 0; count < 10_000; count += 1) {
    const appended = await log.append([callEntries("run-1", `call-${count}`, { body })[0]]);
    if (!appended.ok) {
      expect(appended.error).toMatchObject({ kind: "full" });
      return count;
    }
  }
  throw new Error("the disk never got full");
}

const match = { run: "r", principal: "p", server: "s", tool: "t", argumentDigest: "a", policyDigest: "d" };

/** A log on a store that has run full: it refuses what writes, and still answers what reads. */
async function expectFull(log: EventLog, written: number): Promise<void> {
  expect(written).toBeGreaterThan(3);
  expect(log.health()).toMatchObject({ kind: "failed", failure: { kind: "full" } });
  expect(await log.append([callEntries("run-2", "call-x", {})[0]])).toMatchObject({ ok: false });
  expect(await log.store.takeApproval(match, 0)).toMatchObject({ ok: false });
  expect(unwrap(await log.replay("run-1", lattice)).events).toHaveLength(written);
}

async function expectWhole(store: Store, written: number): Promise<void> {
  expect(unwrap(await store.records({ run: "run-1", order: "oldest", limit: 10_000 }))).toHaveLength(written);
  const keys = unwrap(openKeys(join(folder.path, "keys")));
  expect(unwrap(await verifyLog(store, keys))).toMatchObject({ valid: true, findings: [] });
}

function succeeds(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false; // no right to mount in this container
  }
}

describe("a full disk", () => {
  it("loses nothing and says so (page limit)", async () => {
    const log = await logOn(opened({ pagesMax: 200 }));
    const written = await fill(log);
    await expectFull(log, written);
    await log.close(1);
    const again = opened();
    await expectWhole(again, written);
    unwrap(await again.append({ records: [record(1, "run-2", again.opening.writer)] }));
    await again.close(true);
  });

  it("is the same for the store in memory", async () => {
    const log = await logOn(openMemoryStore(40));
    const written = await fill(log);
    await expectFull(log, written);
    unwrap(await log.recover());
    expect(log.health()).toEqual({ kind: "ok" });
  });

  const canMount = process.platform === "linux" && process.getuid?.() === 0;
  it.runIf(canMount)("goes on without a restart once there is space again (tmpfs)", async (context) => {
    const small = join(folder.path, "small");
    mkdirSync(small, { mode: 0o700 });
    if (!succeeds("mount", "-t", "tmpfs", "-o", "size=3m,mode=0700", "tmpfs", small)) context.skip();
    try {
      writeFileSync(join(small, "ballast"), Buffer.alloc(1_500_000));
      const log = await logOn(opened({ path: join(small, "log.db") }));
      const written = await fill(log);
      await expectFull(log, written);
      unlinkSync(join(small, "ballast"));
      unwrap(await log.recover());
      expect(log.health()).toEqual({ kind: "ok" });
      unwrap(await log.append(callEntries("run-2", "call-y", {})));
      expect(unwrap(await log.replay("run-2", lattice))).toMatchObject({ complete: true });
      await expectWhole(log.store, written);
      await log.close(1);
    } finally {
      succeeds("umount", small);
    }
  });
});

describe("a power cut", () => {
  const run: RunRow = {
    key: "run-1",
    principal: "p",
    policyDigest: "d",
    begunWallMs: 1,
    idleExpiresWallMs: 2,
    top: false,
    resume: {},
  };
  const shared = { owner: "p", policyDigest: "d", top: false, value: {} };

  async function endUncleanly(changes: Partial<SqliteOptions> = {}): Promise<void> {
    const store = opened(changes);
    unwrap(await store.append({ records: [record(1, "run-1", store.opening.writer)], runs: [run], shared }));
    await store.close(false);
  }

  it("puts open runs and stores at top, once", async () => {
    await endUncleanly();
    const store = opened({ bootId: "boot-2" });
    expect(store.opening.resumeAtTop).toBe(true);
    expect(unwrap(await store.run("run-1"))?.top).toBe(true);
    expect(unwrap(await store.shared("p"))?.top).toBe(true);
    await store.close(true);
    const later = opened({ bootId: "boot-3" });
    expect(later.opening.resumeAtTop).toBe(false);
    // The mark stays until the gateway has dealt with the run.
    expect(unwrap(await later.run("run-1"))?.top).toBe(true);
    await later.close(true);
  });

  it("is not assumed after a crash of ours, a clean end, or with full durability", async () => {
    await endUncleanly();
    const crashed = opened();
    expect(crashed.opening).toMatchObject({ resumeAtTop: false, previous: { seq: 1 } });
    await crashed.close(true);
    folder.remove();
    mkdirSync(folder.path, { mode: 0o700 });
    await endUncleanly({ durability: "full" });
    const full = opened({ bootId: "boot-2" });
    expect(full.opening.resumeAtTop).toBe(false);
    await full.close(true);
  });

  it("is told from the boot id of the machine", () => {
    expect(currentBootId(Date.now())).toBe(currentBootId(Date.now()));
    expect(currentBootId(Date.now()).length).toBeGreaterThan(8);
  });
});
