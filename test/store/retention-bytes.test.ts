/** B14: the log keeps within a number of bytes; what open runs hold never leaves for it. One suite for every store. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { replayRun } from "../../src/gateway/log/event-replay.ts";
import { readPruning } from "../../src/gateway/log/retention/pruning.ts";
import { wouldLeave } from "../../src/gateway/runs/retention/run-retention.ts";
import { AgedLog, dayMs, type StoreKind } from "../kit/gateway/aged-log.ts";
import { lattice, unwrap } from "../kit/gateway/log-records.ts";

const kinds: readonly StoreKind[] = ["memory", "SQLite"];
const text = "gravel ".repeat(300);

for (const kind of kinds) {
  describe(`B14: retention by bytes, ${kind}`, () => {
    let aged: AgedLog;
    beforeEach(async () => (aged = await AgedLog.of(kind)));
    afterEach(() => aged.dispose());

    const bytes = async (): Promise<number> => unwrap(await aged.store.bytes());

    /** So many runs of 40 calls, an hour apart. */
    async function runs(count: number): Promise<void> {
      for (let index = 0; index < count; index += 1) {
        await aged.begin(`run-${index}`);
        await aged.calls(`run-${index}`, 40, text);
        await aged.end(`run-${index}`);
        aged.wallMs += 3_600_000;
      }
    }

    async function kept(): Promise<readonly string[]> {
      const all = unwrap(await aged.store.records({ order: "oldest", limit: 10_000 }));
      return [...new Set(all.map(({ run }) => run))].filter((run) => run !== "");
    }

    it("lets the runs that ended first leave until it fits, each of them whole, and says which limit it was", async () => {
      await runs(10);
      const before = await bytes();
      const keepBytes = Math.round(before * 0.6);
      const swept = await aged.prune({ keepBytes });
      expect(swept).toMatchObject({ over: undefined, early: swept.records });
      expect(await bytes()).toBeLessThanOrEqual(keepBytes);
      const rest = await kept();
      expect(rest.length).toBeGreaterThan(3);
      expect(rest).toEqual([...Array(10).keys()].map((index) => `run-${index}`).slice(10 - rest.length));
      for (const run of rest) expect(await aged.recordsOf(run)).toBe(82);
      expect(await aged.verified()).toMatchObject({ valid: true, findings: [] });
      const [record] = unwrap(await aged.store.prunings(1));
      expect(readPruning(record ?? { body: "", run: "" })).toMatchObject({ keepDays: 30, keepBytes });
      const again = unwrap(await aged.store.head(1));
      expect(await aged.prune({ keepBytes })).toMatchObject({ records: 0 });
      expect(unwrap(await aged.store.head(1))).toEqual(again);
    });

    it("writes nothing where the log is small enough, or no limit is set", async () => {
      await runs(2);
      const before = unwrap(await aged.store.head(1));
      expect(await aged.prune({ keepBytes: await bytes() })).toMatchObject({ records: 0, over: undefined });
      expect(await aged.prune()).toMatchObject({ records: 0, over: undefined });
      expect(unwrap(await aged.store.head(1))).toEqual(before);
    });

    it("keeps open runs, those with a call in doubt and those with an approval, and says that the limit is not met", async () => {
      await aged.begin("open");
      await aged.calls("open", 40, text);
      await aged.begin("doubt");
      await aged.inDoubt("doubt");
      await aged.end("doubt");
      await aged.begin("approval");
      await aged.end("approval");
      const of = { run: "approval", principal: "os:1", server: "s", tool: "t", argumentDigest: "a", policyDigest: "p" };
      const times = { createdWallMs: 1, expiresWallMs: aged.wallMs + dayMs };
      unwrap(await aged.store.createApproval({ ...of, ...times, id: "a-1", status: "pending" }));
      await runs(3);
      const swept = await aged.prune({ keepBytes: 1 });
      expect(swept.runs).toBe(3);
      expect(swept.over).toEqual({ bytes: await bytes(), openRuns: 1 });
      expect(await kept()).toEqual(["open", "doubt", "approval"]);
      const read = unwrap(await replayRun({ store: aged.store, keys: aged.keys, lattice }, "open"));
      expect(read.events).toHaveLength(121);
      expect(await aged.verified()).toMatchObject({ valid: true });
    });

    it("removes what is too old first, and counts only the rest as early", async () => {
      await runs(4);
      aged.wallMs += 31 * dayMs;
      await aged.past("young", 1);
      const swept = await aged.prune({ keepBytes: 1 });
      expect(swept).toMatchObject({ runs: 5, early: 4 });
    });

    it("says what would leave, and changes nothing", async () => {
      await runs(6);
      const before = unwrap(await aged.store.head(1));
      const keepBytes = Math.round((await bytes()) / 2);
      const looked = unwrap(await wouldLeave(aged.store, aged.way({ keepBytes })));
      expect(unwrap(await aged.store.head(1))).toEqual(before);
      const swept = await aged.prune({ keepBytes });
      expect(looked.runs).toBeGreaterThan(1);
      expect(Math.abs(looked.runs - swept.runs)).toBeLessThanOrEqual(1);
      expect(unwrap(await wouldLeave(aged.store, aged.way({ keepBytes: 1 }))).over?.openRuns).toBe(0);
    });

    it("ends between two steps where it is told to, and goes on later", async () => {
      await runs(12);
      const keepBytes = 1;
      expect(await aged.prune({ keepBytes, pause: () => Promise.resolve(false) })).toMatchObject({ records: 0 });
      let pauses = 0;
      await aged.prune({ keepBytes, pause: () => Promise.resolve((pauses += 1) < 4) });
      expect(await aged.verified()).toMatchObject({ valid: true });
      await aged.prune({ keepBytes });
      expect(await kept()).toEqual([]);
      expect(await aged.verified()).toMatchObject({ valid: true });
    });

    it("counts a run whose end lies in the future, since the clock was set back, as any other", async () => {
      await runs(3);
      aged.wallMs -= 400 * dayMs;
      expect(await aged.prune()).toMatchObject({ records: 0 });
      expect(await aged.prune({ keepBytes: 1 })).toMatchObject({ runs: 3 });
      expect(await aged.verified()).toMatchObject({ valid: true });
    });
  });
}
