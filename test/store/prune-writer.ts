/**
 * The process that `pruned-crash.test.ts` kills: clients append to runs that stay open, others begin and end runs, and old
 * ones leave all the while. Every acknowledged call of an open run is printed as `run call`.
 */
import { randomBytes } from "node:crypto";
import { writeSync } from "node:fs";
import { join } from "node:path";
import { openKeys } from "../../src/adapters/keys/sealing.ts";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import { openEventLog } from "../../src/gateway/log/event-log.ts";
import type { RunRow } from "../../src/gateway/ports/store.ts";
import { prune } from "../../src/gateway/runs/retention/run-retention.ts";
import { callEntries, unwrap } from "../kit/gateway/log-records.ts";

const [folder = "", generation = ""] = process.argv.slice(2);
const dayMs = 86_400_000;
const days = 100 * Number(generation);
const start = Date.now();
/** A day passes with each millisecond, so that runs are old soon. */
const wallMs = (): number => 20_000 * dayMs + days * dayMs + (Date.now() - start) * dayMs;
const keys = unwrap(openKeys(join(folder, "keys")));
const store = unwrap(openSqliteStore({ path: join(folder, "log.db"), durability: "normal", wallMs }));
const chain = randomBytes(16).toString("hex");
const log = unwrap(await openEventLog({ store, keys, wallMs, chain, checkpointRecords: 50 }, 0));
const plain = () => ({ payload: "clear" }) as const; // a key for each of so many days would be most of the work

function row(key: string, ended = false): RunRow {
  const at = wallMs();
  const base = { key, principal: "os:1", policyDigest: "policy-1", begunWallMs: at, idleExpiresWallMs: at, resume: {} };
  return { ...base, top: false, ...(ended ? { endedWallMs: at } : {}) };
}

async function append(run: string, call: string, ended = false): Promise<void> {
  for (const entry of callEntries(run, call, { text: "x".repeat(300) })) {
    const context = { ...entry.context, ...plain() };
    unwrap(await log.append([{ ...entry, context }], { runs: [row(run, ended)] }));
  }
}

async function open(run: string): Promise<void> {
  for (let number = 0; ; number += 1) {
    await append(run, `${generation}-${number}`);
    writeSync(1, `${run} ${generation}-${number}\n`);
  }
}

async function passing(client: number): Promise<void> {
  for (let number = 0; ; number += 1) {
    const run = `os:1/session:past-${generation}-${client}-${number}`;
    for (let call = 0; call < 6; call += 1) await append(run, `${run}-${call}`, call === 5);
  }
}

async function leaving(): Promise<void> {
  let looks = 0;
  const pause = (): Promise<boolean> => new Promise((resolve) => setImmediate(() => resolve(true)));
  for (;;) {
    const isGone = (): boolean => true;
    const clients = { isGone, isOwn: () => false };
    const way = { keepDays: 20, wallMs: wallMs(), atMs: () => performance.now(), isOpen: () => false, clients, pause };
    // In turns by age and by bytes, which sums up what it says as well.
    unwrap(await prune(log, (looks += 1) % 3 === 0 ? { ...way, keepBytes: 200_000 } : way));
    await pause();
  }
}

await Promise.all([open("open-1"), open("open-2"), passing(1), passing(2), passing(3), leaving()]);
