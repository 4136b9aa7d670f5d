/** B14: whole runs leave the log, and it says so; what restricts an open run never leaves. One suite for every store. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readPruning } from "../../src/gateway/log/retention/pruning.ts";
import { replayRun } from "../../src/gateway/log/event-replay.ts";
import type { Head } from "../../src/gateway/ports/store.ts";
import { wouldLeave } from "../../src/gateway/runs/retention/run-retention.ts";
import { AgedLog, dayMs, principal, type StoreKind } from "../kit/gateway/aged-log.ts";
import { callEntries, lattice, unwrap } from "../kit/gateway/log-records.ts";

const kinds: readonly StoreKind[] = ["memory", "SQLite"];

for (const kind of kinds) {
  describe(`B14: retention, ${kind}`, () => {
    let aged: AgedLog;
    beforeEach(async () => (aged = await AgedLog.of(kind)));
    afterEach(() => aged.dispose());

    async function eventsOf(run: string): Promise<string> {
      const read = await replayRun({ store: aged.store, keys: aged.keys, lattice }, run);
      return read.ok ? read.value.events.map(({ kind: name }) => name).join(" ") : read.error;
    }

    it("removes a run that ended longer ago than the policy keeps, and the log says what left and verifies", async () => {
      await aged.past("old", 3);
      await aged.begin("open");
      aged.wallMs += 31 * dayMs;
      await aged.past("young", 1);
      const swept = await aged.prune();
      expect(swept).toMatchObject({ runs: 1, records: 8, steps: 1 });
      expect([await aged.recordsOf("old"), await aged.recordsOf("open"), await aged.recordsOf("young")]).toEqual([
        0, 1, 4,
      ]);
      const verified = await aged.verified();
      expect(verified).toMatchObject({ valid: true, pruned: [{ records: 8, runs: 1, keepDays: 30 }] });
      expect(verified.writers.map(({ left }) => left)).toEqual([8]);
      const [record] = unwrap(await aged.store.prunings(1));
      expect(readPruning(record ?? { body: "", run: "" })).toMatchObject({
        ranges: [{ writer: 1, from: 2, to: 9 }],
        runs: [{ run: "old", records: 8 }],
      });
      // A day later there is nothing more to do, and nothing is written.
      const before = unwrap(await aged.store.head(1));
      expect(await aged.prune()).toMatchObject({ runs: 0, steps: 0 });
      expect(unwrap(await aged.store.head(1))).toEqual(before);
    });

    it("keeps a run whose end is exactly as old as the limit", async () => {
      await aged.past("old", 1);
      aged.wallMs += 30 * dayMs;
      expect(await aged.prune()).toMatchObject({ runs: 0 });
      aged.wallMs += 1;
      expect(await aged.prune()).toMatchObject({ runs: 1 });
    });

    it("removes at most 500 records in a step, whatever the run has, and interleaved runs leave as few ranges", async () => {
      await aged.begin("a");
      await aged.begin("b");
      for (let index = 0; index < 160; index += 1) {
        await aged.calls("a", 1);
        await aged.calls("b", 1);
      }
      await aged.end("a");
      await aged.end("b");
      aged.wallMs += 31 * dayMs;
      const swept = await aged.prune();
      expect(swept).toMatchObject({ runs: 2, records: 644, steps: 2 });
      const records = unwrap(await aged.store.prunings(1));
      const prunings = records.map((record) => readPruning(record));
      expect(prunings.map((one) => [one?.records, one?.ranges.length])).toEqual([
        [500, 1],
        [144, 1],
      ]);
      expect(await aged.verified()).toMatchObject({ valid: true });
    });

    it("goes on where it was ended between two steps; what is left of the run belongs to no history", async () => {
      await aged.past("long", 400);
      aged.wallMs += 31 * dayMs;
      let steps = 0;
      const store = aged.store;
      const pause = async (): Promise<boolean> => {
        steps = unwrap(await store.prunings(1)).length;
        return steps === 0;
      };
      expect(await aged.prune({ pause })).toMatchObject({ steps: 1, records: 500 });
      expect(await aged.recordsOf("long")).toBe(302);
      expect(await eventsOf("long")).toContain("its records left the log, as record 1/");
      expect(await aged.verified()).toMatchObject({ valid: true });
      await aged.restart();
      expect(await aged.prune()).toMatchObject({ steps: 1, records: 302 });
      expect(await aged.verified()).toMatchObject({ valid: true });
    });

    it("never takes an open run for a run that restricted nothing: its history cannot be read once it left", async () => {
      await aged.past("os:1/hook:conversation", 2);
      aged.wallMs += 31 * dayMs;
      expect(await eventsOf("os:1/hook:conversation")).toContain("dispatched");
      await aged.prune();
      expect(await eventsOf("os:1/hook:conversation")).toContain("left the log");
      expect(unwrap(await aged.store.run("os:1/hook:conversation"))?.endedWallMs).toBeDefined();
    });

    it("reads a run that began anew under the key of one that left, from its own beginning", async () => {
      await aged.past("key", 2);
      aged.wallMs += 31 * dayMs;
      await aged.prune();
      await aged.begin("key");
      await aged.calls("key", 1);
      expect(await eventsOf("key")).toBe("begun dispatched succeeded released");
      expect(await aged.verified()).toMatchObject({ valid: true });
      await aged.prune();
      expect(await eventsOf("key")).toBe("begun dispatched succeeded released");
    });

    it("leaves the rest of a run alone whose key is used anew in the middle of its removal", async () => {
      await aged.past("key", 300);
      aged.wallMs += 31 * dayMs;
      let looks = 0;
      await aged.prune({ pause: async () => (looks += 1) < 2 });
      const rest = await aged.recordsOf("key");
      expect(rest).toBeGreaterThan(0);
      await aged.begin("key");
      expect(await aged.prune()).toMatchObject({ records: 0 });
      expect(await aged.recordsOf("key")).toBe(rest + 1);
      expect(await eventsOf("key")).toBe("begun");
      expect(await aged.verified()).toMatchObject({ valid: true });
      aged.wallMs += dayMs;
      await aged.end("key");
      aged.wallMs += 31 * dayMs;
      expect(await aged.prune()).toMatchObject({ records: rest + 2 });
      expect(await aged.verified()).toMatchObject({ valid: true });
    });

    it("is stopped by the store where a run opened since it was chosen", async () => {
      await aged.past("key", 1);
      const heads = unwrap(await aged.store.runHeads("key", undefined, 100));
      aged.wallMs += 31 * dayMs;
      await aged.begin("key");
      const leaving = heads.map((head) => ({ ...head, run: "key" }));
      const step = { leaving, keepDays: 30, endedBefore: aged.wallMs, wallMs: aged.wallMs, at: 5 };
      const before = unwrap(await aged.store.head(1));
      expect(unwrap(await aged.log.prune(step))).toBe(false);
      expect(unwrap(await aged.store.head(1))).toEqual(before);
      expect(await aged.recordsOf("key")).toBe(5);
    });

    it("is stopped by the store where a range holds a record of another run, of none, or of no row", async () => {
      await aged.past("old", 1);
      await aged.begin("open");
      await aged.append(...callEntries("no-row", "call-x", {}));
      aged.wallMs += 31 * dayMs;
      const wanted = { runs: ["old", "open", "no-row"], endedBefore: aged.wallMs, wallMs: aged.wallMs };
      const batch = (): never => {
        throw new Error("nothing may be written");
      };
      for (const [from, to] of [
        [1, 3],
        [4, 6],
        [7, 8],
        [2, 60],
      ] as const) {
        expect(unwrap(await aged.store.prune({ ...wanted, ranges: [{ writer: 1, from, to }] }, batch))).toBe(false);
      }
      const named = { ...wanted, runs: ["open"], ranges: [{ writer: 1, from: 2, to: 5 }] };
      expect(unwrap(await aged.store.prune(named, batch))).toBe(false);
    });

    describe("stays, however old", () => {
      const cases: readonly [string, (run: string) => Promise<unknown>][] = [
        ["an open run", (run) => aged.calls(run, 1)],
        ["a run with a call without outcome", async (run) => [await aged.inDoubt(run), await aged.end(run)]],
        [
          "a run that the policy stopped, which keeps its key",
          (run) => aged.end(run, { endedWallMs: undefined as never }),
        ],
      ];
      it.each(cases)("%s", async (_name, make) => {
        await aged.begin("run");
        await make("run");
        aged.wallMs += 400 * dayMs;
        const before = await aged.recordsOf("run");
        expect(await aged.prune()).toMatchObject({ records: 0 });
        expect(await aged.recordsOf("run")).toBe(before);
      });

      it("a run that is open in memory, whatever its row says", async () => {
        await aged.past("run", 1);
        aged.wallMs += 31 * dayMs;
        expect(await aged.prune({ isOpen: (run) => run === "run" })).toMatchObject({ records: 0 });
      });

      it("a run whose approval can still be decided or used; it leaves with its approvals then", async () => {
        await aged.past("run", 1);
        aged.wallMs += 31 * dayMs;
        const of = { run: "run", principal, server: "s", tool: "t", argumentDigest: "a", policyDigest: "p" };
        const expiresWallMs = aged.wallMs + 1_000;
        const status = "pending" as const;
        unwrap(await aged.store.createApproval({ ...of, id: "a-1", createdWallMs: 1, expiresWallMs, status }));
        expect(await aged.prune()).toMatchObject({ records: 0, staying: { approvals: 1 } });
        aged.wallMs += 1_000;
        expect(await aged.prune()).toMatchObject({ runs: 1 });
        expect(unwrap(await aged.store.approval("a-1"))).toBeUndefined();
      });

      it("the row of a run that began an open one, though its records leave", async () => {
        await aged.past("parent", 1);
        await aged.begin("child", { parent: "parent" });
        aged.wallMs += 31 * dayMs;
        expect(await aged.prune()).toMatchObject({ runs: 1 });
        expect(unwrap(await aged.store.run("parent"))).toMatchObject({ key: "parent" });
        expect(await eventsOf("child")).toBe("begun");
      });

      it("what belongs to no run", async () => {
        await aged.past("old", 1);
        aged.wallMs += 31 * dayMs;
        await aged.restart();
        await aged.prune();
        const all = unwrap(await aged.store.records({ order: "oldest", limit: 100 }));
        expect(all.filter(({ run }) => run === "").map((one) => one.kind)).toEqual(
          kind === "memory" ? ["opened", "pruned"] : ["opened", "closed", "opened", "pruned"],
        );
      });
    });

    it("lets the stream of a lineage leave with its last kept member", async () => {
      const [first] = callEntries("stream:one", "none", {});
      const event = { kind: "begun", at: 1, principal } as const;
      await aged.begin("member");
      await aged.begin("other");
      const posted = { ...first, events: [event], stream: { n: 1, by: "other" } };
      unwrap(await aged.log.append([posted], { runs: [aged.row("stream:one")] }));
      await aged.append({
        ...first,
        run: "member",
        events: [],
        kind: "joined",
        stream: { of: "stream:one", joined: 1, whole: true },
      });
      await aged.end("other");
      unwrap(await aged.log.append([], { runs: [aged.row("stream:one", { endedWallMs: aged.wallMs })] }));
      await aged.append({ ...first, run: "later", events: [event] });
      aged.wallMs += 31 * dayMs;
      expect(await aged.prune()).toMatchObject({ runs: 1, staying: { members: 1 } });
      expect(await aged.recordsOf("stream:one")).toBe(1);
      expect(await eventsOf("member")).toBe("begun begun");
      await aged.end("member");
      aged.wallMs += 31 * dayMs;
      expect(await aged.prune()).toMatchObject({ runs: 2, staying: { members: 0 } });
      expect(await aged.recordsOf("stream:one")).toBe(0);
      expect(await aged.verified()).toMatchObject({ valid: true });
    });

    it("says what would leave and changes nothing", async () => {
      await aged.past("old", 2);
      aged.wallMs += 31 * dayMs;
      const before = unwrap(await aged.store.head(1));
      expect(unwrap(await wouldLeave(aged.store, aged.way()))).toMatchObject({ runs: 1, records: 6, steps: 0 });
      expect(unwrap(await aged.store.head(1))).toEqual(before);
    });

    it("keeps every head that was kept elsewhere verifiable, also of a record that left", async () => {
      await aged.past("old", 5);
      const heads: Head[] = unwrap(await aged.store.records({ order: "oldest", limit: 100 })).map(
        ({ writer, seq, fingerprint }) => ({ writer, seq, fingerprint }),
      );
      aged.wallMs += 31 * dayMs;
      await aged.prune();
      expect(await aged.verified({ outside: heads })).toMatchObject({ valid: true });
      for (const { writer, seq } of heads.slice(1)) {
        const forged = [{ writer, seq, fingerprint: "0".repeat(64) }];
        expect((await aged.verified({ outside: forged })).findings.map((one) => one.kind)).toEqual(["rewritten"]);
      }
    });
  });
}
