/** Snapshots of runs of the real engine: what is read from one is what a fold of all records gives. */
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { samePlain } from "../../../core/same-plain.ts";
import { type LongRun, longPolicyText, longRun, recorded } from "../../../../test/kit/gateway/long-run.ts";
import { unwrap } from "../../../../test/kit/gateway/log-records.ts";
import { Conversation, policyOf } from "../../../../test/kit/gateway/real-policy.ts";
import { lastSnapshotEventsMin, snapshotEventsMin } from "../../ports/limits.ts";
import { settlesOn } from "../../../core/mechanism.ts";
import type { LoadedPolicy } from "../../ports/policy.ts";
import type { Clock } from "../../ports/services.ts";
import { type LiveRun, newRun } from "../live-run.ts";
import { foldHistory } from "../refold.ts";
import { goOnFrom, readHistory, wholeHistory } from "./run-history.ts";
import { RunSnapshots } from "./run-snapshots.ts";
import { SharedStates } from "../shared-store-state.ts";

const clock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: Date.now,
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

let known: ReturnType<typeof recorded> | undefined;
/** Recorded by the first test that needs it. */
const recording = (): ReturnType<typeof recorded> => (known ??= recorded(longPolicyText));

async function opened(): Promise<LongRun> {
  const run = await longRun(await recording());
  onTestFinished(run.close);
  return run;
}

function liveOf({ key, policy }: Pick<LongRun, "key" | "policy">): LiveRun {
  const known = { key, kind: "trusted", lineage: undefined } as const;
  return newRun({ key: known, principal: "os:1000", policy, workspace: [] }, 0);
}

/** A run as it is taken up, and whether a snapshot was used. */
async function takenUp(
  run: LongRun,
  every: boolean,
  policy: LoadedPolicy = run.policy,
): Promise<{ live: LiveRun; used: boolean }> {
  const live = liveOf({ key: run.key, policy });
  const { before, events, whole } = await (every ? wholeHistory(run.log, live) : readHistory(run.log, live));
  if (before !== undefined) goOnFrom(live, before);
  const folded = foldHistory(live, events, { clock, msMax: Number.POSITIVE_INFINITY });
  expect([whole, folded]).toEqual([true, { ok: true, value: undefined }]);
  return { live, used: before !== undefined };
}

function snapshotsOf(run: LongRun, recordsMax?: number): { readonly snapshots: RunSnapshots; readonly live: LiveRun } {
  const live = liveOf(run);
  const shared = new SharedStates(run.store);
  return {
    live,
    snapshots: new RunSnapshots({
      services: { log: run.log, clock },
      shared,
      isOpen: (one) => one === live,
      ...(recordsMax === undefined ? {} : { recordsMax }),
    }),
  };
}

async function isSame(run: LongRun): Promise<boolean> {
  const [short, whole] = [await takenUp(run, false), await takenUp(run, true)];
  expect([short.used, whole.used]).toEqual([true, false]);
  // A snapshot has indexed what a run indexes when it is asked.
  for (const { live } of [short, whole]) while (settlesOn(live.policy.engine, live.state));
  const parts = ({ state, sources, inFlight }: LiveRun): unknown => [state, sources, inFlight];
  return samePlain(parts(short.live), parts(whole.live));
}

describe("B14: a run that is taken up from its snapshot", () => {
  it("is the run that a fold of all its records gives", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(7), { minLength: 1, maxLength: 40 }),
        fc.array(fc.nat(7), { maxLength: 20 }),
        fc.boolean(),
        async (before, after, twice) => {
          const run = await opened();
          const { snapshots, live } = snapshotsOf(run);
          await run.calls(before);
          snapshots.resumed(live, lastSnapshotEventsMin);
          await snapshots.stop([live]);
          await run.calls(after);
          if (twice) {
            // Its next one goes on from the first.
            const next = snapshotsOf(run);
            next.snapshots.resumed(next.live, lastSnapshotEventsMin);
            await next.snapshots.stop([next.live]);
          }
          expect(await isSame(run)).toBe(true);
        },
      ),
      { numRuns: 12 },
    );
  });

  it("and decides the next call alike", async () => {
    const run = await opened();
    await run.calls([0, 2, 1, 0, 3]);
    const { snapshots, live } = snapshotsOf(run);
    snapshots.resumed(live, lastSnapshotEventsMin);
    await snapshots.stop([live]);
    const [short, whole] = [await takenUp(run, false), await takenUp(run, true)];
    const digest = ({ state, policy }: LiveRun): string => policy.stateDigest(state, 5);
    expect(digest(short.live)).toBe(digest(whole.live));
    expect(run.policy.contextLabel(short.live.state.q)).toBe(run.policy.contextLabel(whole.live.state.q));
    expect(run.policy.contextLabel(short.live.state.q)).toBeGreaterThan(run.policy.contextLabel(liveOf(run).state.q));
  });

  it("is written beside calls, and each goes on from the one before", async () => {
    const run = await opened();
    const { snapshots, live } = snapshotsOf(run);
    const seqs: number[] = [];
    for (let part = 0; part < 2; part += 1) {
      await run.calls(Array.from({ length: 120 }, (_, index) => index));
      for (let event = 0; event <= snapshotEventsMin; event += 1) snapshots.moved(live);
      await expect
        .poll(async () => (await run.log.snapshot(run.key, "none"), seqOf(run)), { timeout: 20_000 })
        .not.toBe(seqs[0]);
      seqs.push((await seqOf(run)) ?? 0);
    }
    expect(seqs[1]).toBeGreaterThan((seqs[0] ?? 0) + 120);
    expect(await isSame(run)).toBe(true);
  });

  it("goes a part of a long history further each time, and ends where the log does", async () => {
    const run = await opened();
    await run.calls(Array.from({ length: 100 }, (_, index) => index));
    const { snapshots, live } = snapshotsOf(run, 30);
    // More than there are, as where a snapshot was written meanwhile.
    snapshots.resumed(live, 10 * snapshotEventsMin);
    await expect.poll(() => seqOf(run), { timeout: 20_000 }).toBeGreaterThan(100);
    await snapshots.stop([]);
    expect(await isSame(run)).toBe(true);
  });

  it("is folded from its first record under another policy", async () => {
    const run = await opened();
    await run.calls([0, 1]);
    const { snapshots, live } = snapshotsOf(run);
    snapshots.resumed(live, lastSnapshotEventsMin);
    await snapshots.stop([live]);
    const other = policyOf(`${longPolicyText}  - {id: NO, tier: block, when: {tool: "post.send"}, why: "no mail"}\n`);
    expect((await takenUp(run, false, other)).used).toBe(false);
    expect((await takenUp(run, false)).used).toBe(true);
  });

  it("is not that of an earlier run under the same key", async () => {
    const run = await opened();
    await run.calls([0]);
    const { snapshots, live } = snapshotsOf(run);
    snapshots.resumed(live, lastSnapshotEventsMin);
    await snapshots.stop([live]);
    const { begun } = await recording();
    const [first] = begun;
    if (first === undefined) throw new Error("no begin");
    await run.log.append([{ ...first, events: [{ kind: "ended", at: 1, cause: "closed" }] }]);
    await run.log.append([first]);
    const taken = await takenUp(run, false);
    expect(taken.used).toBe(false);
    expect(run.policy.contextLabel(taken.live.state.q)).toBe(run.policy.contextLabel(liveOf(run).state.q));
    // The next snapshot is that of the new run.
    const next = snapshotsOf(run);
    next.snapshots.resumed(next.live, lastSnapshotEventsMin);
    await next.snapshots.stop([next.live]);
    expect(await isSame(run)).toBe(true);
  });

  it("is not written again while nothing of its own happens", async () => {
    const run = await opened();
    await run.calls([0, 1]);
    const { snapshots, live } = snapshotsOf(run);
    const put = vi.spyOn(run.store, "putSnapshot");
    for (let time = 0; time < 3; time += 1) {
      snapshots.resumed(live, lastSnapshotEventsMin);
      await snapshots.stop([live]);
    }
    expect(put).toHaveBeenCalledTimes(1);
    await run.calls([2]);
    snapshots.resumed(live, lastSnapshotEventsMin);
    await snapshots.stop([live]);
    expect(put).toHaveBeenCalledTimes(2);
  });

  it("of a stream goes on where it had heard the stream", async () => {
    const talk = new Conversation(longPolicyText, { files: ["read_text", "list", "write"], post: ["send"] });
    const other = talk.stage.connect({ server: "files", process: { pid: 8, startedAt: "1" } });
    const both = async (round: number): Promise<void> => {
      await talk.call("files.list", { round });
      const params = { name: "read_text", arguments: { path: `/notes/${round}.txt` } };
      other.say({ id: `other-${round}`, method: "tools/call", params });
      await talk.serve();
      await talk.call("files.write", { path: "/notes", text: `${round}` });
    };
    for (let round = 0; round < 3; round += 1) await both(round);
    const { log: fake } = talk.stage;
    const key = [...fake.runs.keys()].find((one) => one.includes("process:7")) ?? "";
    expect(fake.entries.some(({ run }) => run.startsWith("stream:"))).toBe(true);
    const empty = await longRun({ ...(await recording()), begun: [] });
    onTestFinished(empty.close);
    const run = { ...empty, key };
    let taken = 0;
    const append = async (): Promise<void> => {
      const runs = [...fake.runs.values()];
      for (const entry of fake.entries.slice(taken)) unwrap(await run.log.append([entry], { runs }));
      taken = fake.entries.length;
    };
    await append();
    const { snapshots, live } = snapshotsOf(run);
    snapshots.resumed(live, lastSnapshotEventsMin);
    await snapshots.stop([live]);
    for (let round = 3; round < 6; round += 1) await both(round);
    await append();
    expect(await isSame(run)).toBe(true);
    const { live: short } = await takenUp(run, false);
    expect(run.policy.contextLabel(short.state.q)).toBeGreaterThan(run.policy.contextLabel(liveOf(run).state.q));
    expect((await readHistory(run.log, live)).member).toMatch(/^stream:/);
  });

  it("is never written of a run that is lost, has ended, or cannot be folded", async () => {
    const run = await opened();
    await run.calls([0]);
    const written = async (change: (live: LiveRun) => void): Promise<boolean> => {
      const { snapshots, live } = snapshotsOf(run);
      change(live);
      snapshots.resumed(live, lastSnapshotEventsMin);
      await snapshots.stop([live]);
      return (await seqOf(run)) !== undefined;
    };
    expect(await written((live) => (live.lost = true))).toBe(false);
    expect(await written((live) => (live.ended = true))).toBe(false);
    const broken = {
      ...run.policy,
      engine: {
        ...run.policy.engine,
        model: { ...run.policy.engine.model, next: () => ({ ok: false, error: "no move" }) as const },
      },
    };
    expect(await written((live) => (live.policy = broken))).toBe(false);
    expect(await written(() => undefined)).toBe(true);
  });
});

async function seqOf({ store, key }: LongRun): Promise<number | undefined> {
  const found = await store.snapshot(key);
  return found.ok ? found.value?.seq : undefined;
}
