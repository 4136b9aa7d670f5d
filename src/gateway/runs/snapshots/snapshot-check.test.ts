/** B14: what a fold of the records gives decides whether a snapshot is right; a forged one is found, a true one never blamed. */
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { type LongRun, longPolicyText, longRun, recorded } from "../../../../test/kit/gateway/long-run.ts";
import { unwrap } from "../../../../test/kit/gateway/log-records.ts";
import { policyOf } from "../../../../test/kit/gateway/real-policy.ts";
import { lastSnapshotEventsMin } from "../../ports/limits.ts";
import type { Clock } from "../../ports/services.ts";
import type { Snapshot } from "../../ports/snapshots.ts";
import { type LiveRun, newRun } from "../live-run.ts";
import { SharedStates } from "../shared-store-state.ts";
import { RunSnapshots } from "./run-snapshots.ts";
import { checkSnapshot, type SnapshotVerdict } from "./snapshot-check.ts";
import { fitsOf } from "./snapshot-text.ts";

const clock: Clock = { monotonicMs: () => performance.now(), wallMs: Date.now, after: () => () => undefined };
let known: ReturnType<typeof recorded> | undefined;

async function opened(): Promise<LongRun> {
  const run = await longRun(await (known ??= recorded(longPolicyText)));
  onTestFinished(run.close);
  return run;
}

/** Writes a snapshot of all that is in the log, from the one before on. */
async function snapped(run: LongRun, recordsMax?: number): Promise<Snapshot> {
  const key = { key: run.key, kind: "trusted", lineage: undefined } as const;
  const live: LiveRun = newRun({ key, principal: "os:1000", policy: run.policy, workspace: [] }, 0);
  const shared = new SharedStates(run.store);
  const services = { log: run.log, clock };
  const limit = recordsMax === undefined ? {} : { recordsMax };
  const snapshots = new RunSnapshots({ services, shared, isOpen: (one) => one === live, ...limit });
  snapshots.resumed(live, lastSnapshotEventsMin);
  await snapshots.stop([live]);
  const snapshot = await run.log.snapshot(run.key, fitsOf(run.policy));
  if (snapshot === undefined) throw new Error("no snapshot");
  return snapshot;
}

async function verdictOn(run: LongRun, snapshot: Snapshot, policy = run.policy): Promise<SnapshotVerdict> {
  const heads = unwrap(await run.store.runHeads(run.key, undefined, 10_000));
  const records = heads.findIndex(({ seq }) => seq === snapshot.place.seq) + 1;
  return checkSnapshot(run.log, { snapshot, policy, records });
}

describe("B14: a snapshot that is checked against its records", () => {
  it("is right whatever happened, also where each went on from the one before, and later records change nothing", async () => {
    const calls = fc.array(fc.nat(7), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(calls, calls, calls, async (first, second, third) => {
        const run = await opened();
        for (const part of [first, second]) {
          await run.calls(part);
          expect(await verdictOn(run, await snapped(run))).toBe("same");
        }
        const last = await snapped(run);
        await run.calls(third);
        expect(await verdictOn(run, last)).toBe("same");
      }),
      { numRuns: 10 },
    );
  });

  it("is found where it says less, more or other than its records, though it is sealed with the right key", async () => {
    const run = await opened();
    await run.calls([1, 1]);
    const early = await snapped(run);
    await run.calls([0, 2, 0, 3]);
    const late = await snapped(run);
    expect([await verdictOn(run, early), await verdictOn(run, late)]).toEqual(["same", "same"]);
    // The state of before under the place of now, as if nothing had been read since; and the other way round.
    expect(await verdictOn(run, { ...late, text: early.text })).toBe("differs");
    expect(await verdictOn(run, { ...early, text: late.text })).toBe("differs");
    expect(await verdictOn(run, { ...late, text: "no text" })).toBe("differs");
    const number = /\b1\b/.exec(late.text)?.index ?? 0;
    const changed = `${late.text.slice(0, number)}7${late.text.slice(number + 1)}`;
    expect(await verdictOn(run, { ...late, text: changed })).toBe("differs");
  });

  it("is right where other runs had put data into stores before", async () => {
    const run = await opened();
    const row = { owner: "os:1000", policyDigest: run.policy.digest, top: true, value: {} };
    unwrap(await run.log.append([], { shared: row }));
    await run.calls([0, 2, 1, 3]);
    expect(await verdictOn(run, await snapped(run))).toBe("same");
  });

  it("has no owner where it was made under another policy, and is not blamed where the records cannot be read", async () => {
    const run = await opened();
    await run.calls([0]);
    const snapshot = await snapped(run);
    const other = policyOf(`${longPolicyText}  - {id: NO, tier: block, when: {tool: "post.send"}, why: "no mail"}\n`);
    expect(await verdictOn(run, snapshot, other)).toBe("other");
    const unread = { replay: () => Promise.resolve({ ok: false, error: "gone" } as const) };
    expect(await checkSnapshot(unread, { snapshot, policy: run.policy, records: 1 })).toBe("unreadable");
  });
});
