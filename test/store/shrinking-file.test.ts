/** B14: the file gets smaller when records leave, also one of an earlier release; and what left is never taken for nothing. */
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import { inheritedFrom } from "../../src/gateway/runs/conversation-history.ts";
import { AgedLog, dayMs } from "../kit/gateway/aged-log.ts";
import { lattice, unwrap } from "../kit/gateway/log-records.ts";

/** Bytes of the file when its owner has closed it. */
const sizeOf = (aged: AgedLog): number => statSync(aged.path).size;

function asked(aged: AgedLog, pragma: string): number {
  const database = new DatabaseSync(aged.path);
  const row = database.prepare(`PRAGMA ${pragma}`).get() ?? {};
  database.close();
  return Number(Object.values(row)[0]);
}

/** A log with some megabytes of a run that is old by now. */
async function large(): Promise<AgedLog> {
  const aged = await AgedLog.of("SQLite");
  await aged.begin("open");
  await aged.begin("old");
  // Text that looks like no secret, and that does not repeat.
  const text = Array.from({ length: 5_000 }, (_, index) => `item ${(index * 7919) % 1000}`).join(" ");
  await aged.calls("old", 60, text);
  await aged.end("old");
  aged.wallMs += 31 * dayMs;
  return aged;
}

it("gives the space of what left back to the file system", async () => {
  const aged = await large();
  await aged.restart();
  const before = sizeOf(aged);
  expect(await aged.prune()).toMatchObject({ runs: 1 });
  await aged.log.close(1);
  expect(asked(aged, "auto_vacuum")).toBe(2);
  expect(sizeOf(aged)).toBeLessThan(before / 2);
  await aged.start();
  expect(await aged.verified()).toMatchObject({ valid: true });
  await aged.dispose();
});

it("rewrites a file of an earlier release, which could not, and what is in it stays", async () => {
  const aged = await large();
  await aged.log.close(1);
  const database = new DatabaseSync(aged.path);
  database.exec("PRAGMA auto_vacuum = NONE; VACUUM");
  database.close();
  expect(asked(aged, "auto_vacuum")).toBe(0);
  await aged.start();
  const before = sizeOf(aged);
  expect(await aged.prune()).toMatchObject({ runs: 1 });
  await aged.log.close(1);
  // There is too little to gain for a start of a gateway.
  expect(sizeOf(aged)).toBeGreaterThan(before / 2);
  const { path, wallMs } = aged;
  const options = { path, durability: "normal", wallMs: () => wallMs, bootId: "boot", compact: true } as const;
  await aged.start(unwrap(openSqliteStore(options)));
  expect(await aged.verified()).toMatchObject({ valid: true });
  await aged.log.close(1);
  expect(asked(aged, "auto_vacuum")).toBe(2);
  expect(sizeOf(aged)).toBeLessThan(before / 2);
  await aged.start();
  await aged.dispose();
});

it.each(["memory", "SQLite"] as const)(
  "a later run of a conversation whose records left holds everything, and does not begin clean (%s)",
  async (kind) => {
    const aged = await AgedLog.of(kind);
    const key = "os:1/hook:conversation";
    await aged.past(key, 2);
    aged.wallMs += 31 * dayMs;
    expect(await inheritedFrom(aged.log, [key], lattice)).toMatchObject({ whole: true, unread: [] });
    await aged.prune();
    expect(await inheritedFrom(aged.log, [key], lattice)).toMatchObject({ whole: false, unread: [key], images: [] });
    await aged.dispose();
  },
);
