/** B14: records that say what left are summed up, and rows of their runs leave; the chain stays verifiable. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { replayRun } from "../../src/gateway/log/event-replay.ts";
import { readPruning } from "../../src/gateway/log/retention/pruning.ts";
import type { Head } from "../../src/gateway/ports/store.ts";
import { AgedLog, dayMs, principal, type StoreKind } from "../kit/gateway/aged-log.ts";
import { lattice, unwrap } from "../kit/gateway/log-records.ts";

const session = (index: number): string => `${principal}/session:${index}`;
const conversation = `${principal}/hook:talk`;

for (const kind of ["memory", "SQLite"] as const satisfies readonly StoreKind[]) {
  describe(`B14: summed prunings, ${kind}`, () => {
    let aged: AgedLog;
    let heads: Head[];
    beforeEach(async () => {
      aged = await AgedLog.of(kind);
      heads = [];
    });
    afterEach(() => aged.dispose());

    /** One record that says what left for each of so many runs, a day apart; a head of each that left. */
    async function prunings(count: number, first = 0): Promise<void> {
      for (let index = first; index < first + count; index += 1) {
        await aged.past(session(index), 2);
        heads.push(...unwrap(await aged.store.runHeads(session(index), undefined, 3)));
        unwrap(await aged.log.checkpoint(1));
        aged.wallMs += 31 * dayMs;
        await aged.prune();
      }
    }

    const said = async () => unwrap(await aged.store.prunings(1)).map((record) => readPruning(record));
    const summary = async () => (await said()).find((one) => one?.sums !== undefined);

    it("takes sixteen old records together as one, with the signed heads between them", async () => {
      await prunings(16);
      const kindsOf = async () =>
        unwrap(await aged.store.records({ order: "oldest", limit: 1_000 })).map((one) => one.kind);
      expect((await kindsOf()).filter((one) => one === "checkpoint")).toHaveLength(16);
      await prunings(2, 16);
      expect(await said()).toMatchObject([
        { runs: [{ run: session(16) }] },
        { sums: 16, runs: [], hasPrints: false },
        { sums: undefined, runs: [{ run: session(17) }] },
      ]);
      expect(await kindsOf()).toEqual(["opened", "checkpoint", "pruned", "pruned", "checkpoint", "pruned"]);
      expect((await summary())?.ranges).toHaveLength(1);
      expect(await aged.verified()).toMatchObject({ valid: true, findings: [] });
      expect(unwrap(await aged.store.run(session(3)))).toBeUndefined();
      expect(unwrap(await aged.store.prunedBy(session(3)))).toBeUndefined();
      expect(unwrap(await aged.store.run(session(17)))).toBeDefined();
    });

    it("keeps heads that were kept elsewhere free of findings, and finds a false one at the ends of a range", async () => {
      await prunings(17);
      await aged.prune();
      expect(await aged.verified({ outside: heads })).toMatchObject({ valid: true });
      const [first] = heads;
      const forged = [{ writer: 1, seq: first?.seq ?? 0, fingerprint: "0".repeat(64) }];
      expect((await aged.verified({ outside: forged })).findings.map((one) => one.kind)).toEqual(["rewritten"]);
    });

    it("sums summaries up as well, so that their number does not grow with time", async () => {
      for (let round = 0; round < 4; round += 1) await prunings(16, 16 * round);
      await prunings(20, 64);
      const sums = (await said()).map((one) => one?.sums ?? 1);
      expect(sums.length).toBeLessThanOrEqual(24);
      expect(sums.reduce((sum, one) => sum + one, 0)).toBe(84);
      expect(await aged.verified()).toMatchObject({ valid: true });
    });

    it("gives fingerprints up at once where bytes are short, and lets no row leave before its days", async () => {
      await aged.past(session(1), 200);
      await aged.prune({ keepBytes: 1 });
      expect(await said()).toMatchObject([{ hasPrints: true, runs: [{ run: session(1) }] }]);
      await aged.prune({ keepBytes: 1 });
      expect(await said()).toMatchObject([{ sums: 1, hasPrints: false, runs: [{ run: session(1), records: 402 }] }]);
      expect(unwrap(await aged.store.run(session(1)))).toBeDefined();
      expect(await aged.verified()).toMatchObject({ valid: true });
    });

    it("keeps rows and marks of what can be named again: conversations, tokens, the one run of a user, parents", async () => {
      const names = [conversation, "run-token", `${principal}/any`, `${principal}/process:7@1`, session(99)];
      for (const name of names) await aged.past(name, 1);
      await aged.begin("run-child", { parent: session(99) });
      await prunings(17);
      expect((await summary())?.sums).toBe(16);
      expect((await summary())?.runs.map(({ run }) => run).toSorted()).toEqual(names.toSorted());
      for (const name of names) {
        expect(unwrap(await aged.store.run(name))?.endedWallMs).toBeDefined();
        const read = await replayRun({ store: aged.store, keys: aged.keys, lattice }, name);
        expect(read.ok ? "read" : read.error).toContain("its records left the log");
      }
      expect(await aged.verified()).toMatchObject({ valid: true });
    });

    it("lets the row of a client process leave once the process is gone", async () => {
      const process = `${principal}/process:7@1`;
      await aged.past(process, 1);
      await prunings(16, 1);
      aged.wallMs += 31 * dayMs;
      const asked: string[] = [];
      const isGone = ({ pid, startedAt }: { pid: number; startedAt: string }): boolean => {
        asked.push(`${pid}@${startedAt}`);
        return true;
      };
      await aged.prune({ clients: { isGone, isOwn: () => false } });
      expect(asked).toEqual(["7@1"]);
      expect(unwrap(await aged.store.run(process))).toBeUndefined();
      expect(await aged.verified()).toMatchObject({ valid: true });
    });

    it("leaves the history of a run alone that began anew under a name between its removal and the summary", async () => {
      await aged.past(conversation, 1);
      aged.wallMs += 31 * dayMs;
      await aged.prune();
      await aged.begin(conversation);
      await aged.calls(conversation, 2);
      await prunings(16);
      expect((await summary())?.sums).toBe(16);
      const read = unwrap(await replayRun({ store: aged.store, keys: aged.keys, lattice }, conversation));
      expect(read.events.map((event) => event.kind).join(" ")).toBe(
        "begun dispatched succeeded released dispatched succeeded released",
      );
      expect(await aged.verified()).toMatchObject({ valid: true });
    });

    it("changes nothing where a record that it names is not there, or is another one", async () => {
      await prunings(2);
      const [first] = unwrap(await aged.store.prunings(1));
      const head = unwrap(await aged.store.head(1));
      const place = { writer: 1, seq: first?.seq ?? 0 };
      const none = { prunings: [], checkpoints: [], ranges: [], nameless: [], endedBefore: 0 };
      for (const wanted of [
        { ...none, prunings: [{ writer: 1, seq: 1 }] },
        { ...none, prunings: [place, { writer: 1, seq: 9_999 }] },
        { ...none, prunings: [place], checkpoints: [place] },
        { ...none, prunings: [place], checkpoints: [{ writer: 1, seq: 1 }] },
      ]) {
        const batch = (): never => {
          throw new Error("nothing may be written");
        };
        expect(unwrap(await aged.store.sumUp(wanted, batch))).toBe(false);
      }
      expect(unwrap(await aged.store.head(1))).toEqual(head);
    });
  });
}

describe("B14: ways around a summary", () => {
  let aged: AgedLog;
  let place: { writer: number; seq: number };
  beforeEach(async () => {
    aged = await AgedLog.of("SQLite");
    await aged.past(conversation, 1);
    for (let index = 0; index < 17; index += 1) {
      await aged.past(session(index), 1);
      aged.wallMs += 31 * dayMs;
      if (index === 16) aged.tamper("CREATE TABLE kept AS SELECT * FROM records");
      if (index === 16) aged.tamper("CREATE TABLE kept_prunings AS SELECT * FROM prunings");
      await aged.prune();
    }
    await aged.begin("open");
    const summary = unwrap(await aged.store.prunings(1)).find((record) => readPruning(record)?.sums === 16);
    place = { writer: 1, seq: summary?.seq ?? 0 };
    expect(place.seq).toBeGreaterThan(1);
  });
  afterEach(() => aged.dispose());

  const found = async (): Promise<readonly string[]> => [
    ...new Set((await aged.verified()).findings.map(({ kind }) => kind)),
  ];
  const id = (seq: number): number => 2 ** 32 + seq;

  const ways: readonly [string, () => void, readonly string[]][] = [
    ["the summary is removed", () => aged.tamper("DELETE FROM records WHERE id = ?", id(place.seq)), ["gap"]],
    ["it is no longer listed", () => aged.tamper("DELETE FROM prunings WHERE record = ?", id(place.seq)), ["gap"]],
    [
      "its signature is removed",
      () => aged.tamper("DELETE FROM checkpoints WHERE id = ?", id(place.seq)),
      ["pruned-unsigned", "gap"],
    ],
    [
      "a record that it took the place of is put back",
      () => {
        aged.tamper("INSERT INTO records SELECT * FROM kept WHERE kind = 'pruned' LIMIT 1");
        aged.tamper("INSERT INTO prunings SELECT record FROM kept_prunings LIMIT 1");
      },
      ["pruned-unsigned", "pruned-present"],
    ],
    [
      "a record behind it is removed as well",
      () => aged.tamper("DELETE FROM records WHERE id = ?", id(place.seq + 1)),
      ["gap"],
    ],
    [
      "a run that it names is opened",
      () => aged.tamper("UPDATE runs SET ended_ms = NULL WHERE key = ?", conversation),
      ["pruned-open"],
    ],
    [
      "the mark of a run that it names is removed",
      () => aged.tamper("DELETE FROM pruned_runs WHERE run = ?", conversation),
      ["pruned-unmarked"],
    ],
    [
      "the mark of a run that it names is moved",
      () => aged.tamper("UPDATE pruned_runs SET record = record + 1 WHERE run = ?", conversation),
      ["pruned-unmarked"],
    ],
    [
      "its ranges are widened",
      () => aged.tamper(`UPDATE records SET body = replace(body, '"from":2', '"from":1') WHERE id = ?`, id(place.seq)),
      ["changed", "pruned-present"],
    ],
  ];
  it.each(ways)("%s", async (_name, act, kindsFound) => {
    await aged.log.checkpoint(5);
    act();
    expect((await found()).toSorted()).toEqual(kindsFound.toSorted());
  });
});
