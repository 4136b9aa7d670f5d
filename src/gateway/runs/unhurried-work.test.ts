// A gateway on a log of many open runs folds them beside its first calls, and not before them.
import { expect, test } from "vitest";
import type { ModelState } from "../../core/run.ts";
import { ok } from "../../core/result.ts";
import type { LoadedPolicy } from "../ports/policy.ts";
import type { Services } from "../ports/services.ts";
import type { RunRow } from "../ports/store.ts";
import { DormantRuns } from "./dormant-runs.ts";
import type { LineageStreams } from "./streams/lineage-streams.ts";
import type { SharedStates } from "./shared-store-state.ts";
import { UnhurriedWork } from "./unhurried-work.ts";

const rowOf = (key: string): RunRow => ({
  key,
  principal: "ann",
  policyDigest: "p",
  begunWallMs: 0,
  idleExpiresWallMs: 0,
  top: false,
  resume: {},
});

/** Everything that folding a run looks at; each reading of it takes `msPerRun`. */
function world(runs: number, msPerRun: number) {
  let now = 0;
  const seen = { idle: 0, urgent: 0, longestMs: 0, since: 0 };
  const between: (() => void)[] = [];
  const top = { name: "top" } as unknown as ModelState; // opaque to what is tested
  const clean = { name: "clean" } as unknown as ModelState;
  const rows = Array.from({ length: runs }, (_, index) => rowOf(`ann/process:${index}@1`));
  const idle = async (urgent: boolean): Promise<void> => {
    seen.idle += 1;
    seen.urgent += Number(urgent);
    seen.longestMs = Math.max(seen.longestMs, now - seen.since);
    between.shift()?.();
    now += 1_000; // other calls take their time
    seen.since = now;
  };
  const replay = async (_run: string, _lattice: unknown, way?: { pause?: () => Promise<void> | undefined }) => {
    now += msPerRun;
    await way?.pause?.();
    return ok({ events: [], complete: true, policies: [], waiting: [], member: undefined });
  };
  const services = {
    clock: { monotonicMs: () => now, wallMs: () => now },
    log: { replay, store: { idle } },
  } as unknown as Services; // the members above are all that is used
  const policy = {
    digest: "p",
    regulated: true,
    topState: () => top,
    engine: { model: { initial: () => clean }, mechanisms: [] },
  } as unknown as LoadedPolicy;
  const shared = { of: async () => undefined } as unknown as SharedStates;
  const streams = { of: () => undefined } as unknown as LineageStreams;
  return { rows, dormant: new DormantRuns(services, shared, streams), policy, seen, between, top, clean };
}

test("between two stretches of a few milliseconds everything else goes first", async () => {
  const { dormant, rows, policy, seen, clean } = world(100, 3);
  dormant.load(rows);
  await dormant.prepare("ann", policy);
  expect(seen.idle).toBeGreaterThanOrEqual(90);
  expect(seen.longestMs).toBeLessThanOrEqual(8);
  // The seconds that others took meanwhile do not count against the limit: each run was folded.
  expect(dormant.of("ann", policy).every(({ q }) => q === clean)).toBe(true);
});

test("beyond the limit of its own work the remaining runs count as holding everything", async () => {
  const { dormant, rows, policy, top, clean } = world(30, 100);
  dormant.load(rows);
  await dormant.prepare("ann", policy);
  const states = dormant.of("ann", policy).map(({ q }) => q);
  expect(states[0]).toBe(clean);
  expect(states.at(-1)).toBe(top);
});

test("a run that was resumed, ended or noted anew while it was folded keeps nothing of that", async () => {
  const { dormant, rows, policy, between, top } = world(1, 10);
  dormant.load(rows);
  between.push(() => {
    dormant.forget("ann/process:0@1");
    dormant.note(rowOf("ann/process:0@1"));
  });
  await dormant.prepare("ann", policy);
  expect(dormant.of("ann", policy)).toEqual([{ key: "ann/process:0@1", q: top }]);
});

test("a log that is distrusted while runs are folded from it leaves none of their states", async () => {
  const { dormant, rows, policy, between, top } = world(3, 10);
  dormant.load(rows);
  between.push(() => dormant.distrust());
  await dormant.prepare("ann", policy);
  expect(dormant.of("ann", policy).map(({ q }) => q)).toEqual([top, top, top]);
});

test("a call that waits for it hurries the work on", async () => {
  const { dormant, rows, policy, seen } = world(10, 3);
  dormant.load(rows);
  const preparing = dormant.prepare("ann", policy);
  expect(dormant.prepare("ann", policy, true)).toBe(preparing);
  await preparing;
  expect(seen.urgent).toBeGreaterThanOrEqual(9);
});

test("short work makes no way, and its time is counted across pauses", async () => {
  let now = 0;
  const work = new UnhurriedWork({ monotonicMs: () => now } as never, { idle: async () => void (now += 50) });
  now = 1;
  expect(work.pause()).toBeUndefined();
  now = 7;
  await work.pause();
  now += 2;
  expect(work.workedMs).toBe(9);
});
