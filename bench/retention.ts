/**
 * Cost of removing old runs from a log: `node bench/retention.ts [--runs 200] [--calls 100] [--payload 1024] [--keep 20]
 * [--folder F] [--json]`.
 *
 * Writes so many runs of so many calls each, with the log's own writer, which ended 60 days ago but for the last `--keep` per
 * cent. Then one client appends calls one after the other, first alone and then while the old runs leave, at the pace of a
 * gateway (src/app/state/log-retention.ts). Prints the longest and the middle step of 500 records in ms, calls in both
 * phases, the size of the file before and after, and how long the whole log takes to verify.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openKeys } from "../src/adapters/keys/sealing.ts";
import { openSqliteStore } from "../src/adapters/store/sqlite.ts";
import type { Result } from "../src/core/result.ts";
import { openEventLog } from "../src/gateway/log/event-log.ts";
import { verifyLog } from "../src/gateway/log/verify.ts";
import type { EventLog, RunRow } from "../src/gateway/ports/store.ts";
import { prune } from "../src/gateway/runs/retention/run-retention.ts";
import { callEntries } from "../test/kit/gateway/log-records.ts";
import { median } from "./measure.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "200" },
    calls: { type: "string", default: "100" },
    payload: { type: "string", default: "1024" },
    keep: { type: "string", default: "20" },
    folder: { type: "string", default: tmpdir() },
    json: { type: "boolean", default: false },
  },
});

const dayMs = 86_400_000;
const [runs, calls] = [Number(values.runs), Number(values.calls)];
const keptRuns = Math.ceil((runs * Number(values.keep)) / 100);

/** Pause after work of so many ms, as a gateway makes it. */
const pauseAfter = (workedMs: number): number => Math.max(10, 9 * workedMs);

function given<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

/** Prose of words and numbers, since repeated text would flatter the search for secrets. */
function prose(seed: number): string {
  let text = "";
  for (let index = seed; text.length < Number(values.payload); index += 1) {
    text += `item ${(index * 7919) % 1000} of the ledger, `;
  }
  return text.slice(0, Number(values.payload));
}

let wallMs = Date.now() - 60 * dayMs;

function rowOf(key: string, ended: boolean): RunRow {
  const times = { begunWallMs: wallMs, idleExpiresWallMs: wallMs, ...(ended ? { endedWallMs: wallMs } : {}) };
  return { key, principal: "os:0", policyDigest: "policy-1", ...times, top: false, resume: {} };
}

async function call(log: EventLog, run: string, number: number): Promise<number> {
  const start = performance.now();
  for (const entry of callEntries(run, `${run}-${number}`, { text: prose(number) })) given(await log.append([entry]));
  return performance.now() - start;
}

async function build(log: EventLog): Promise<void> {
  for (let run = 0; run < runs; run += 1) {
    if (run === runs - keptRuns) wallMs = Date.now();
    const key = `os:0/process:${run}@1`;
    given(await log.append([], { runs: [rowOf(key, false)] }));
    for (let number = 0; number < calls; number += 1) await call(log, key, number);
    given(await log.append([], { runs: [rowOf(key, true)] }));
  }
  wallMs = Date.now();
}

const home = mkdtempSync(join(values.folder, "sluicegate-retention-"));
try {
  const path = join(home, "log.db");
  const store = given(openSqliteStore({ path, durability: "normal", wallMs: () => wallMs }));
  const keys = given(openKeys(join(home, "keys")));
  const log = given(await openEventLog({ store, keys, wallMs: () => wallMs, chain: "c".repeat(32) }, 0));
  await build(log);
  const size = (): number => ["", "-wal"].reduce((sum, part) => sum + statSync(path + part).size, 0);
  const bytesBefore = size();
  let number = 0;
  const alone: number[] = [];
  while (number < 300) alone.push(await call(log, "os:0/process:client@1", (number += 1)));
  const steps: number[] = [];
  const shrinks: number[] = [0];
  const meanwhile: number[] = [];
  let done = false;
  const pause = async (workedMs: number): Promise<boolean> => {
    await new Promise((resolve) => setTimeout(resolve, pauseAfter(workedMs)));
    return true;
  };
  const timed = {
    store: {
      ...store,
      shrink: async () => {
        const start = performance.now();
        const more = await store.shrink();
        shrinks.push(performance.now() - start);
        return more;
      },
    },
    sumUp: (way: Parameters<EventLog["sumUp"]>[0]) => log.sumUp(way),
    prune: async (step: Parameters<EventLog["prune"]>[0]) => {
      const start = performance.now();
      const left = await log.prune(step);
      steps.push(performance.now() - start);
      return left;
    },
  };
  const start = performance.now();
  const atMs = (): number => performance.now();
  const removing = prune(timed, { keepDays: 30, wallMs, atMs, isOpen: () => false, pause }).finally(
    () => (done = true),
  );
  while (!done) {
    meanwhile.push(await call(log, "os:0/process:client@1", (number += 1)));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const swept = given(await removing);
  const tookMs = performance.now() - start;
  const verifying = performance.now();
  const verified = given(await verifyLog(store, keys));
  const verifyMs = performance.now() - verifying;
  await log.close(1);
  const bytesAfter = statSync(path).size;
  const figures = {
    runs: swept.runs,
    records: swept.records,
    steps: steps.length,
    longestStepMs: Math.max(...steps),
    medianStepMs: median(steps),
    longestShrinkMs: Math.max(...shrinks),
    callAloneP50Ms: median(alone),
    callAloneMaxMs: Math.max(...alone),
    callMeanwhileP50Ms: median(meanwhile),
    callMeanwhileMaxMs: Math.max(...meanwhile),
    tookMs,
    bytesBefore,
    bytesAfter,
    verifyMs,
    valid: verified.valid,
  };
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  const mb = (value: number): string => `${(value / 1e6).toFixed(1)} MB`;
  if (values.json) console.log(JSON.stringify(figures));
  else {
    console.log(
      `${swept.runs} runs, ${swept.records} records left in ${steps.length} steps, ${ms(tookMs)} with pauses`,
    );
    console.log(`a step of 500 records: median ${ms(median(steps))}, longest ${ms(figures.longestStepMs)}`);
    console.log(
      `a call: p50 ${ms(median(alone))} alone, ${ms(median(meanwhile))} meanwhile; longest ${ms(figures.callAloneMaxMs)} alone, ${ms(figures.callMeanwhileMaxMs)} meanwhile`,
    );
    console.log(
      `file: ${mb(bytesBefore)} before, ${mb(bytesAfter)} after; space given back at most ${ms(Math.max(...shrinks))} at a time`,
    );
    console.log(`the log ${verified.valid ? "verifies" : "does NOT verify"}, in ${ms(verifyMs)}`);
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
