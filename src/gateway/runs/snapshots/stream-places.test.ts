/** B14: a member of a stream that is taken up from its snapshot goes on in the stream where it was, and not from its start. */
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { settlesOn } from "../../../core/mechanism.ts";
import { samePlain } from "../../../core/same-plain.ts";
import { type LongRun, longPolicyText, longRun, recorded } from "../../../../test/kit/gateway/long-run.ts";
import { unwrap } from "../../../../test/kit/gateway/log-records.ts";
import { Conversation } from "../../../../test/kit/gateway/real-policy.ts";
import { lastSnapshotEventsMin } from "../../ports/limits.ts";
import type { StoredRecord } from "../../ports/store.ts";
import { type LiveRun, newRun } from "../live-run.ts";
import { foldHistory } from "../refold.ts";
import { SharedStates } from "../shared-store-state.ts";
import { goOnFrom, readHistory, wholeHistory } from "./run-history.ts";
import { RunSnapshots } from "./run-snapshots.ts";
import { checkSnapshot } from "./snapshot-check.ts";
import { fitsOf, historyFrom, historyText } from "./snapshot-text.ts";

const clock = {
  monotonicMs: () => performance.now(),
  wallMs: Date.now,
  after: () => () => undefined,
};

let known: ReturnType<typeof recorded> | undefined;

const calls = ["files.list", "files.read_text", "files.write"] as const;

/** Two clients of one user whose runs share a stream, over a real log; `run` is that of the first one. */
class Pair {
  readonly talk = new Conversation(longPolicyText, { files: ["read_text", "list", "write"], post: ["send"] });
  readonly #other = this.talk.stage.connect({ server: "files", process: { pid: 8, startedAt: "1" } });
  #calls = 0;
  #taken = 0;
  #run: LongRun | undefined;

  async start(): Promise<this> {
    this.#run = await longRun({ ...(await (known ??= recorded(longPolicyText))), begun: [] });
    onTestFinished(this.#run.close);
    await this.act(0, 0);
    await this.act(1, 0);
    return this;
  }

  get run(): LongRun {
    const key = [...this.talk.stage.log.runs.keys()].find((one) => one.includes("process:7")) ?? "";
    if (this.#run === undefined) throw new Error("not started");
    return { ...this.#run, key };
  }

  /** One call of one of the two, on record. */
  async act(who: number, which: number): Promise<void> {
    this.#calls += 1;
    const name = calls[which % calls.length] ?? calls[0];
    if (who === 0) await this.talk.call(name, { path: `/notes/${this.#calls}.txt` });
    else {
      const params = { name: name.slice("files.".length), arguments: { path: `/notes/${this.#calls}.txt` } };
      this.#other.say({ id: `other-${this.#calls}`, method: "tools/call", params });
      await this.talk.serve();
    }
    await this.talk.stage.gateway.runs.flushDeferred();
    const { log } = this.talk.stage;
    const runs = [...log.runs.values()];
    for (const entry of log.entries.slice(this.#taken)) unwrap(await this.run.log.append([entry], { runs }));
    this.#taken = log.entries.length;
  }

  async snapshot(recordsMax = 4_000): Promise<void> {
    const { key, policy, log, store } = this.run;
    const live = liveOf({ key, policy });
    const shared = new SharedStates(store);
    const snapshots = new RunSnapshots({ services: { log, clock }, shared, isOpen: (one) => one === live, recordsMax });
    snapshots.resumed(live, lastSnapshotEventsMin);
    await snapshots.stop([live]);
  }

  async takenUp(every: boolean): Promise<LiveRun> {
    const { key, policy, log } = this.run;
    const live = liveOf({ key, policy });
    const { before, events, whole } = await (every ? wholeHistory(log, live) : readHistory(log, live));
    expect([whole, before === undefined]).toEqual([true, every]);
    if (before !== undefined) goOnFrom(live, before);
    unwrap(foldHistory(live, events, { clock, msMax: Number.POSITIVE_INFINITY }));
    while (settlesOn(policy.engine, live.state));
    return live;
  }

  async isSame(): Promise<boolean> {
    const parts = ({ state, sources, inFlight }: LiveRun): unknown => [state, sources, inFlight];
    return samePlain(parts(await this.takenUp(false)), parts(await this.takenUp(true)));
  }

  /** Records of the stream that are read when the run is taken up. */
  async streamRecordsRead(): Promise<number> {
    const { store } = this.run;
    const records = store.records.bind(store);
    let count = 0;
    store.records = async (query) => {
      const found = await records(query);
      if (query.run?.startsWith("stream:") === true && query.limit > 1 && found.ok) count += found.value.length;
      return found;
    };
    await this.takenUp(false);
    store.records = records;
    return count;
  }

  /** What the store gives from now on where it is asked for one record of the stream. */
  alter(change: (record: StoredRecord) => readonly StoredRecord[]): void {
    const { store } = this.run;
    const records = store.records.bind(store);
    store.records = async (query) => {
      const found = await records(query);
      if (!found.ok || query.run?.startsWith("stream:") !== true || query.limit > 1) return found;
      return { ok: true, value: found.value.flatMap(change) };
    };
  }
}

function liveOf({ key, policy }: Pick<LongRun, "key" | "policy">): LiveRun {
  const known = { key, kind: "trusted", lineage: undefined } as const;
  return newRun({ key: known, principal: "os:1000", policy, workspace: [] }, 0);
}

describe("B14: a member of a stream that is taken up from its snapshot", () => {
  it("is the run that all records give, wherever its snapshots were written", async () => {
    const act = fc.record({ who: fc.nat(1), which: fc.nat(2), snapshot: fc.constantFrom(0, 0, 0, 2, 4_000) });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 3, maxLength: 9 }), async (acts) => {
        const pair = await new Pair().start();
        await pair.snapshot();
        for (const { who, which, snapshot } of acts) {
          await pair.act(who, which);
          if (snapshot > 0) await pair.snapshot(snapshot);
        }
        expect(await pair.isSame()).toBe(true);
      }),
      { numRuns: 5 },
    );
  });

  it("reads nothing of the stream that it entered itself, however much that is", async () => {
    const pair = await new Pair().start();
    for (let count = 0; count < 12; count += 1) await pair.act(0, count);
    await pair.snapshot();
    expect(await pair.streamRecordsRead()).toBe(0);
    await pair.act(1, 1);
    for (let count = 0; count < 3; count += 1) await pair.act(0, count);
    expect(await pair.isSame()).toBe(true);
    const read = await pair.streamRecordsRead();
    await pair.snapshot();
    expect(await pair.streamRecordsRead()).toBeLessThan(read);
  });

  it("reads the stream from its start where the record that it goes on after is another one, or gone", async () => {
    for (const change of [
      (record: StoredRecord) => [{ ...record, fingerprint: "0".repeat(64) }],
      (record: StoredRecord) => [{ ...record, seq: record.seq + 1 }],
      () => [],
    ]) {
      const pair = await new Pair().start();
      for (let count = 0; count < 6; count += 1) await pair.act(count % 2, count);
      await pair.snapshot();
      await pair.act(1, 1);
      const before = await pair.takenUp(true);
      const read = await pair.streamRecordsRead();
      pair.alter(change);
      expect(await pair.streamRecordsRead()).toBeGreaterThan(read);
      const after = await pair.takenUp(false);
      expect(samePlain([after.state, after.sources], [before.state, before.sources])).toBe(true);
    }
  });

  it("is what its records give, for every check, and not where it goes on behind what others did", async () => {
    const pair = await new Pair().start();
    for (let count = 0; count < 6; count += 1) await pair.act(count % 2, count);
    await pair.act(0, 0);
    await pair.snapshot();
    await pair.act(1, 1);
    await pair.act(0, 0);
    const { log, policy, key, store } = pair.run;
    const snapshot = await log.snapshot(key, fitsOf(policy));
    const records = unwrap(await store.records({ run: key, order: "oldest", limit: 1_000 }));
    const place = snapshot?.place;
    const behind = records.findIndex(({ writer, seq }) => writer === place?.writer && seq === place.seq) + 1;
    const history = snapshot === undefined ? undefined : historyFrom(snapshot);
    if (snapshot === undefined || history?.heard === undefined) throw new Error("no snapshot");
    const verdict = (text: string): Promise<string> =>
      checkSnapshot(log, { snapshot: { ...snapshot, text }, policy, records: behind });
    expect(await verdict(snapshot.text)).toBe("same");
    const [last] = unwrap(await store.records({ run: history.heard.of, order: "newest", limit: 1 }));
    if (last === undefined) throw new Error("no stream");
    const { writer, seq, fingerprint } = last;
    const heard = { ...history.heard, record: { writer, seq, fingerprint } };
    const steps = historyText({ ...history, heard });
    for (;;) {
      const step = steps.next();
      if (step.done !== true) continue;
      expect(await verdict(unwrap(step.value))).toBe("differs");
      break;
    }
  });
});
