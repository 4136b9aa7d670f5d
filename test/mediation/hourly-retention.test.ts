/** B14: a gateway looks after its log by itself: a minute after its start and then each hour, by days and by bytes. */
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Composition } from "../../src/app/gateway/composition.ts";
import { nodeClock } from "../../src/app/state/node-services.ts";
import { readPruning } from "../../src/gateway/log/retention/pruning.ts";
import { verifyLog } from "../../src/gateway/log/verify.ts";
import { openKeys } from "../../src/adapters/keys/sealing.ts";
import { logPlaces } from "../../src/app/state/log-files.ts";
import type { Clock } from "../../src/gateway/ports/services.ts";
import { composed, Session } from "../kit/gateway/local-sessions.ts";
import { callEntries, temporaryFolder, unwrap } from "../kit/gateway/log-records.ts";

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const minuteMs = 60_000;

const policy = `extends: [default]
audit: { keepMb: 1 }
labels: { fixture.read_text: { effects: [read.local], output: { confidentiality: public, trust: trusted } } }
`;

let folder: ReturnType<typeof temporaryFolder>;
let composition: Composition;
let now: number;
let passed: number;
let told: string[];
/** Timers of a minute and more; shorter ones are those of the machine. */
let timers: { readonly at: number; readonly run: () => void }[];

const clock: Clock = {
  monotonicMs: () => nodeClock.monotonicMs() + passed,
  wallMs: () => now,
  after: (delayMs, run) => {
    if (delayMs < minuteMs) return nodeClock.after(delayMs, run);
    const timer = { at: passed + delayMs, run };
    timers.push(timer);
    return () => void (timers = timers.filter((one) => one !== timer));
  },
};

/** Lets time pass; what is due is done, in its order. */
function pass(ms: number): void {
  now += ms;
  passed += ms;
  const due = timers.filter(({ at }) => at <= passed).toSorted((left, right) => left.at - right.at);
  timers = timers.filter((one) => !due.includes(one));
  for (const { run } of due) run();
}

const prunings = async () => unwrap(await composition.log.store.prunings(1)).map((record) => readPruning(record));

/** Lets hours pass until so many records say what left: a look that comes while one is under way leaves it to the next. */
async function pruned(count: number): Promise<void> {
  const look = async (): Promise<number> => {
    pass(hourMs);
    return (await prunings()).length;
  };
  await expect.poll(look, { interval: 20, timeout: 4_000 }).toBe(count);
}

/** A run of so many kibibytes, written beside the sessions. */
async function run(key: string, kibibytes: number, isOpen: boolean): Promise<void> {
  const times = { begunWallMs: now, idleExpiresWallMs: now, ...(isOpen ? {} : { endedWallMs: now }) };
  const row = { key, principal: "os:1", policyDigest: "policy-1", ...times, top: false, resume: {} };
  for (let call = 0; call < kibibytes / 16; call += 1) {
    for (const entry of callEntries(key, `${key}-${call}`, { text: "gravel ".repeat((16 * 1_024) / 7) })) {
      unwrap(await composition.log.append([entry], { runs: [row] }));
    }
  }
}

beforeEach(async () => {
  folder = temporaryFolder();
  [now, passed, told, timers] = [Date.UTC(2026, 0, 1), 0, [], []];
  composition = await composed(folder.path, policy, { clock, tell: (text) => void told.push(text) });
});
afterEach(async () => {
  await composition.close();
  folder.remove();
});

async function isIntact(): Promise<boolean> {
  const keys = unwrap(openKeys(logPlaces(folder.path).keys));
  return unwrap(await verifyLog(composition.log.store, keys)).valid;
}

test("old runs leave a minute after the start, and later ones in the hour in which they are old enough", async () => {
  const open = await new Session(composition, "open").open();
  const first = await new Session(composition, "first").open();
  await first.call("read_text");
  await open.call("read_text");
  await run("os:1/session:old", 16, false);
  pass(minuteMs - 1);
  expect(await prunings()).toEqual([]);
  pass(1);
  await expect.poll(() => timers.filter(({ at }) => at === passed + hourMs).length).toBeGreaterThan(0);
  expect(await prunings()).toEqual([]);
  pass(29 * dayMs);
  await run("os:1/session:younger", 16, false);
  pass(2 * dayMs);
  await pruned(1);
  expect(await prunings()).toMatchObject([{ keepDays: 30, keepBytes: undefined, runs: [{ run: "os:1/session:old" }] }]);
  pass(29 * dayMs);
  await pruned(2);
  // Calls go on all the while.
  await open.call("read_text");
  expect(await isIntact()).toBe(true);
  expect(told.filter((line) => line.includes("event log"))).toEqual([]);
});

test("a log that is too large gives back what ended first, and says once where open runs hold the rest", async () => {
  for (let index = 0; index < 6; index += 1) {
    await run(`os:1/session:${index}`, 320, false);
    now += 1_000;
  }
  expect(unwrap(await composition.log.store.bytes())).toBeGreaterThan(1_048_576);
  pass(minuteMs);
  await expect.poll(async () => unwrap(await composition.log.store.bytes())).toBeLessThanOrEqual(1_048_576);
  expect(unwrap(await composition.log.store.run("os:1/session:5"))?.endedWallMs).toBeDefined();
  const left = (await prunings()).flatMap((one) => one?.runs.map((named) => named.run) ?? []);
  expect(left).toContain("os:1/session:0");
  expect(left).not.toContain("os:1/session:5");
  expect(told).toEqual([]);
  await run("os:1/session:open", 1_400, true);
  const hours = (): number => {
    pass(hourMs);
    return told.length;
  };
  await expect.poll(hours, { interval: 20, timeout: 4_000 }).toBe(1);
  for (let hour = 0; hour < 3; hour += 1) hours();
  expect(told).toHaveLength(1);
  expect(told[0]).toMatch(/^The event log needs [\d.]+ MiB, more than its limit of 1\.0 MiB: 1 open run/);
  expect(unwrap(await composition.log.store.runHeads("os:1/session:open", undefined, 1_000)).length).toBeGreaterThan(
    80,
  );
  expect(await isIntact()).toBe(true);
});

test("a clock that is set forward makes nothing old for a day, and keeps the keys; put right, nothing was lost", async () => {
  await run("os:1/session:one", 16, false);
  pass(minuteMs);
  const keys = unwrap(openKeys(logPlaces(folder.path).keys));
  keys.seal("os:1/session:one", "text", "here", now);
  const days = () => readdirSync(logPlaces(folder.path).keys).filter((name) => name.startsWith("day-"));
  const before = days();
  expect(before).not.toEqual([]);
  now += 400 * dayMs;
  for (let hour = 0; hour < 20; hour += 1) pass(hourMs);
  expect(await prunings()).toEqual([]);
  expect(days()).toEqual(expect.arrayContaining(before));
  expect(told.filter((line) => line.includes("set forward"))).toHaveLength(1);
  now -= 400 * dayMs;
  for (let hour = 0; hour < 30; hour += 1) pass(hourMs);
  await expect.poll(prunings).toEqual([]);
  expect(days()).toEqual(expect.arrayContaining(before));
  // One that stays there is believed after a day.
  now += 400 * dayMs;
  for (let hour = 0; hour < 24; hour += 1) pass(hourMs);
  expect(days()).toEqual(expect.arrayContaining(before));
  await pruned(1);
  expect(told.filter((line) => line.includes("set forward"))).toHaveLength(2);
  expect(await isIntact()).toBe(true);
});

test("a key that cannot be destroyed keeps no gateway from its start, and is reported", async () => {
  await composition.close();
  mkdirSync(join(logPlaces(folder.path).keys, "day-1999-01-01.key"));
  composition = await composed(folder.path, policy, { clock, tell: (text) => void told.push(text) });
  expect(told).toEqual([
    "Keys of old days cannot be destroyed: check that the key folder and its disk can be written.",
  ]);
});
