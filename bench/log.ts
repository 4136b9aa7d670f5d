/**
 * Durable events per second and CPU per record of the event log: `node bench/log.ts [--json] [--seconds 2] [--concurrent 1,64]`.
 *
 * Each client appends the two records that a call makes (1 KB of arguments, a small result), waits for each, and goes
 * on; sealing, secret search, hash chain and signatures are all on. CPU is that of the whole process.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openKeys } from "../src/adapters/sealing.ts";
import { openSqliteStore } from "../src/adapters/store-sqlite.ts";
import { openEventLog } from "../src/gateway/log/event-log.ts";
import type { EventLog } from "../src/gateway/store-port.ts";
import { callEntries, unwrap } from "../test/store/fixture.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    seconds: { type: "string", default: "2" },
    payload: { type: "string", default: "1024" },
    folder: { type: "string", default: tmpdir() },
    concurrent: { type: "string", default: "1,64,1024" },
  },
});

const concurrencies = values.concurrent.split(",").map(Number);

type Measured = {
  readonly durability: "normal" | "full";
  readonly concurrent: number;
  readonly recordsPerSecond: number;
  readonly userMicrosecondsPerRecord: number;
  /** Writing the file; where system calls are emulated this is the larger part. */
  readonly systemMicrosecondsPerRecord: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};

/** Prose of words and numbers, since repeated text would flatter the search for secrets. */
function prose(characters: number): string {
  let text = "";
  for (let index = 1; text.length < characters; index += 1) text += `item ${(index * 7919) % 1000} of the ledger, `;
  return text.slice(0, characters);
}

async function client(log: EventLog, name: string, until: number, waits: number[]): Promise<number> {
  const text = prose(Number(values.payload));
  let records = 0;
  for (let call = 0; performance.now() < until; call += 1) {
    for (const entry of callEntries(name, `${name}-${call}`, { to: "ann@example.org", body: text })) {
      const begun = performance.now();
      unwrap(await log.append([entry]));
      waits.push(performance.now() - begun);
      records += 1;
    }
  }
  return records;
}

async function measure(durability: Measured["durability"], concurrent: number): Promise<Measured> {
  const folder = mkdtempSync(join(values.folder, "sluicegate-bench-"));
  const store = unwrap(openSqliteStore({ path: join(folder, "log.db"), durability, wallMs: Date.now }));
  const keys = unwrap(openKeys(join(folder, "keys")));
  const chain = randomBytes(16).toString("hex");
  const log = unwrap(await openEventLog({ store, keys, wallMs: Date.now, chain }, 0));
  const run = async (seconds: number): Promise<{ records: number; waits: number[] }> => {
    const until = performance.now() + seconds * 1_000;
    const waits: number[] = [];
    const clients = Array.from({ length: concurrent }, (_, index) => client(log, `run-${index}`, until, waits));
    const counts = await Promise.all(clients);
    return { records: counts.reduce((sum, count) => sum + count, 0), waits };
  };
  await run(0.3); // the compiler warms up
  const cpu = process.cpuUsage();
  const begun = performance.now();
  const { records, waits } = await run(Number(values.seconds));
  const seconds = (performance.now() - begun) / 1_000;
  const used = process.cpuUsage(cpu);
  await log.close(0);
  rmSync(folder, { recursive: true, force: true });
  waits.sort((left, right) => left - right);
  const at = (share: number): number => Number((waits[Math.floor(waits.length * share)] ?? 0).toFixed(3));
  return {
    durability,
    concurrent,
    recordsPerSecond: Math.round(records / seconds),
    userMicrosecondsPerRecord: Number((used.user / records).toFixed(1)),
    systemMicrosecondsPerRecord: Number((used.system / records).toFixed(1)),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}

const results: Measured[] = [];
for (const durability of ["normal", "full"] as const) {
  for (const concurrent of concurrencies) {
    results.push(await measure(durability, concurrent));
    if (!values.json) console.log(results.at(-1));
  }
}
if (values.json) console.log(JSON.stringify({ payloadBytes: Number(values.payload), results }, undefined, 2));
