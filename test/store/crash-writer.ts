/**
 * The process that `crash.test.ts` kills: eight clients append calls without end, and every acknowledged entry is
 * printed as `run call phase` before anything else happens.
 */
import { randomBytes } from "node:crypto";
import { writeSync } from "node:fs";
import { join } from "node:path";
import { openKeys } from "../../src/adapters/keys/sealing.ts";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import { openEventLog } from "../../src/gateway/log/event-log.ts";
import { callEntries, unwrap } from "../kit/gateway/log-records.ts";

const [folder = "", generation = ""] = process.argv.slice(2);
const store = unwrap(openSqliteStore({ path: join(folder, "log.db"), durability: "normal", wallMs: Date.now }));
const keys = unwrap(openKeys(join(folder, "keys")));
const chain = randomBytes(16).toString("hex");
const log = unwrap(await openEventLog({ store, keys, wallMs: Date.now, chain, checkpointRecords: 50 }, 0));

async function client(run: string): Promise<void> {
  for (let number = 0; ; number += 1) {
    const call = `${generation}-${number}`;
    const [before, after] = callEntries(run, call, { number, text: "x".repeat(number % 3_000) });
    unwrap(await log.append([before]));
    writeSync(1, `${run} ${call} dispatched\n`);
    unwrap(await log.append([after]));
    writeSync(1, `${run} ${call} succeeded\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, (_, index) => client(`run-${index}`)));
