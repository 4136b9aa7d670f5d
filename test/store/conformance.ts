/** What every store must do. One suite for SQLite, memory and whatever comes later. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SessionRow } from "../../src/gateway/ports/cached-rows.ts";
import type { ApprovalRow, RunRow, SharedRow, Store } from "../../src/gateway/ports/store.ts";
import type { StoredSnapshot } from "../../src/gateway/ports/snapshots.ts";
import { record, unwrap } from "../kit/gateway/log-records.ts";

export type StoreUnderTest = { readonly store: Store; readonly dispose: () => Promise<void> };

const match = {
  run: "run-1",
  principal: "os:1000",
  server: "mail",
  tool: "send",
  argumentDigest: "arguments-1",
  policyDigest: "policy-1",
};

function approval(id: string, changes: Partial<ApprovalRow> = {}): ApprovalRow {
  return { ...match, id, createdWallMs: 1_000, expiresWallMs: 2_000, status: "pending", ...changes };
}

const runRow: RunRow = {
  key: "run-1",
  principal: "os:1000",
  policyDigest: "policy-1",
  begunWallMs: 10,
  idleExpiresWallMs: 99,
  top: false,
  resume: { hook: "session-7" },
};

const sessionRow: SessionRow = {
  id: "session-1",
  principal: "os:1000",
  run: "run-1",
  server: "mail",
  targetDigest: "target-1",
  initialize: { protocolVersion: "2025-11-25" },
  touchedWallMs: 5,
};

function recordSuite(current: () => Store): void {
  it("gives back records as they were written, in both orders and page by page", async () => {
    const { store, writer } = { store: current(), writer: current().opening.writer };
    for (let seq = 1; seq <= 9; seq += 1) {
      unwrap(await store.append({ records: [record(seq, seq % 3 === 0 ? "run-b" : "run-a", writer)] }));
    }
    const oldest = unwrap(await store.records({ order: "oldest", limit: 4 }));
    expect(oldest.map((one) => one.seq)).toEqual([1, 2, 3, 4]);
    expect(oldest[1]).toEqual({ ...record(2, "run-a", writer), payload: oldest[1]?.payload });
    expect([...(oldest[1]?.payload ?? [])]).toEqual([2, 0, 255]);
    expect(oldest[0]?.payload).toBeUndefined();
    const after = { writer, seq: 4 };
    const rest = unwrap(await store.records({ writer, after, order: "oldest", limit: 100 }));
    expect(rest.map((one) => one.seq)).toEqual([5, 6, 7, 8, 9]);
    const newest = unwrap(await store.records({ run: "run-b", order: "newest", limit: 2 }));
    expect(newest.map((one) => one.seq)).toEqual([9, 6]);
    const before = unwrap(await store.records({ run: "run-b", order: "newest", limit: 2, after: { writer, seq: 6 } }));
    expect(before.map((one) => one.seq)).toEqual([3]);
    expect(unwrap(await store.records({ writer: writer + 1, order: "oldest", limit: 5 }))).toEqual([]);
    expect(unwrap(await store.head(writer))).toMatchObject({ writer, seq: 9, fingerprint: "fingerprint-9" });
    expect(unwrap(await store.head(writer + 1))).toBeUndefined();
    expect(unwrap(await store.writers())).toEqual([writer]);
  });

  it("writes everything of a batch together", async () => {
    const store = current();
    const { writer } = store.opening;
    const open = { run: "run-1", call: "call-1", server: "mail", tool: "send", digest: "d", wallMs: 7 };
    const shared = { owner: "os:1000", policyDigest: "policy-1", top: false, value: { outbox: 3 } };
    const signature = new Uint8Array([1, 2, 3]);
    unwrap(
      await store.append({
        records: [record(1, "run-1", writer)],
        checkpoint: { writer, seq: 1, body: "signed", signature },
        documents: [{ digest: "doc", body: "{}" }],
        opened: [open],
        runs: [runRow],
        shared,
      }),
    );
    expect(unwrap(await store.openCalls())).toEqual([open]);
    expect(unwrap(await store.run("run-1"))).toEqual(runRow);
    expect(unwrap(await store.shared("os:1000"))).toEqual(shared);
    expect(unwrap(await store.shared("nobody"))).toBeUndefined();
    expect(unwrap(await store.document("doc"))).toBe("{}");
    expect(unwrap(await store.document("other"))).toBeUndefined();
    expect(unwrap(await store.checkpoints(writer))).toMatchObject([{ writer, seq: 1, body: "signed" }]);
    unwrap(await store.append({ records: [], settled: [{ run: "run-1", call: "call-1" }] }));
    expect(unwrap(await store.openCalls())).toEqual([]);
  });

  it("acknowledges a thousand concurrent appends, each present afterwards", async () => {
    const store = current();
    const { writer } = store.opening;
    const all = Array.from({ length: 1_000 }, (_, index) =>
      store.append({ records: [record(index + 1, "run-1", writer)] }),
    );
    for (const one of await Promise.all(all)) unwrap(one);
    const found = unwrap(await store.records({ writer, order: "oldest", limit: 2_000 }));
    expect(found.map((one) => one.seq)).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 1));
  });
}

function approvalSuite(current: () => Store): void {
  it("takes an approval only when all of the call matches and it is approved and not expired", async () => {
    const store = current();
    unwrap(await store.createApproval(approval("a-1", { card: new Uint8Array([9]) })));
    expect(unwrap(await store.takeApproval(match, 1_500))).toBeUndefined();
    const decision = { id: "a-1", verdict: "approved", by: "os:1000", role: "owner", wallMs: 1_200 } as const;
    expect(unwrap(await store.decideApproval({ ...decision, wallMs: 2_000 }))).toBeUndefined();
    const decided = unwrap(await store.decideApproval(decision));
    expect(decided).toMatchObject({ status: "approved", decidedBy: "os:1000", role: "owner", decidedWallMs: 1_200 });
    expect(unwrap(await store.decideApproval({ ...decision, verdict: "denied" }))).toBeUndefined();
    for (const name of ["run", "principal", "server", "tool", "argumentDigest", "policyDigest"]) {
      expect(unwrap(await store.takeApproval({ ...match, [name]: "other" }, 1_500))).toBeUndefined();
    }
    expect(unwrap(await store.takeApproval(match, 2_000))).toBeUndefined();
    expect(unwrap(await store.takeApproval(match, 1_999))).toMatchObject({ id: "a-1", status: "used" });
    expect(unwrap(await store.takeApproval(match, 1_999))).toBeUndefined();
    expect(unwrap(await store.approval("a-1"))).toMatchObject({ status: "used", decidedBy: "os:1000" });
    expect([...(unwrap(await store.approval("a-1"))?.card ?? [])]).toEqual([9]);
    expect(unwrap(await store.approval("a-2"))).toBeUndefined();
  });

  it("never takes a denied approval, and lists the newest first without the expired", async () => {
    const store = current();
    unwrap(await store.createApproval(approval("old", { expiresWallMs: 1_100 })));
    unwrap(await store.createApproval(approval("one", { createdWallMs: 1_001 })));
    unwrap(await store.createApproval(approval("two", { createdWallMs: 1_002 })));
    unwrap(await store.decideApproval({ id: "one", verdict: "denied", by: "b", role: "owner", wallMs: 1_050 }));
    expect(unwrap(await store.takeApproval(match, 1_060))).toBeUndefined();
    expect(unwrap(await store.approvals(1_100, 10)).map((row) => row.id)).toEqual(["two", "one"]);
    expect(unwrap(await store.approvals(1_100, 1)).map((row) => row.id)).toEqual(["two"]);
  });

  it("gives 500 approvals to exactly 500 of 2,000 who race for them", async () => {
    const store = current();
    const made = Array.from({ length: 500 }, (_, index) =>
      store.createApproval(approval(`a-${index}`, { status: "approved" })),
    );
    for (const one of await Promise.all(made)) unwrap(one);
    const races = Array.from({ length: 2_000 }, () => store.takeApproval(match, 1_500));
    const won = (await Promise.all(races)).map(unwrap).filter((row) => row !== undefined);
    expect(won).toHaveLength(500);
    expect(new Set(won.map((row) => row.id)).size).toBe(500);
  });
}

function tableSuite(current: () => Store): void {
  it("keeps runs, and lists those that have not ended", async () => {
    const store = current();
    unwrap(await store.putRun(runRow));
    unwrap(await store.putRun({ ...runRow, key: "run-2", parent: "run-1", top: true }));
    expect(unwrap(await store.openRuns())).toHaveLength(2);
    unwrap(await store.putRun({ ...runRow, endedWallMs: 77 }));
    expect(unwrap(await store.openRuns())).toEqual([{ ...runRow, key: "run-2", parent: "run-1", top: true }]);
    expect(unwrap(await store.run("run-1"))).toEqual({ ...runRow, endedWallMs: 77 });
    expect(unwrap(await store.run("run-3"))).toBeUndefined();
  });

  it("finds the runs of a principal by how their keys end", async () => {
    const store = current();
    const keys = ["os:1/hook:talk", "os:1/process:3@9/talk", "os:1/process:4@9/talk", "os:1/process:4@9/walk"];
    for (const key of ["talk", ...keys, "os:10/process:3@9/talk"]) {
      unwrap(await store.putRun({ ...runRow, key, ...(key.includes(":3@") ? { endedWallMs: 5 } : {}) }));
    }
    const found = unwrap(await store.runsEnding("os:1", "/talk"));
    expect(found).toEqual([
      { ...runRow, key: "os:1/process:3@9/talk", endedWallMs: 5 },
      { ...runRow, key: "os:1/process:4@9/talk" },
    ]);
    expect(unwrap(await store.runsEnding("os:2", "/talk"))).toEqual([]);
  });

  it("keeps one row of shared state for each owner, the newest, and lists them by owner", async () => {
    const store = current();
    const { writer } = store.opening;
    const row = (owner: string, value: SharedRow["value"], top = false): SharedRow => {
      return { owner, policyDigest: "policy-1", top, value };
    };
    expect(unwrap(await store.sharedRows(10))).toEqual([]);
    const tainted = row("os:1001", { stores: { repo: { lo: 1 } } }, true);
    unwrap(await store.append({ records: [record(1, "run-1", writer)], shared: tainted }));
    unwrap(await store.append({ records: [record(2, "run-1", writer)], shared: row("os:1000", { stores: {} }) }));
    expect(unwrap(await store.sharedRows(10))).toEqual([row("os:1000", { stores: {} }), tainted]);
    expect(unwrap(await store.sharedRows(1))).toEqual([row("os:1000", { stores: {} })]);
    // A reset: a row that says less takes the place of the one before, with a record that is of no run.
    unwrap(await store.append({ records: [record(3, "", writer)], shared: row("os:1001", { stores: {} }) }));
    expect(unwrap(await store.shared("os:1001"))).toEqual(row("os:1001", { stores: {} }));
    expect(unwrap(await store.records({ run: "", order: "oldest", limit: 9 }))).toEqual([]);
    expect(unwrap(await store.records({ order: "newest", limit: 1 }))).toMatchObject([{ seq: 3, run: "" }]);
  });

  it("keeps sessions until they are dropped", async () => {
    const store = current();
    unwrap(await store.putSession(sessionRow));
    unwrap(await store.putSession({ ...sessionRow, id: "session-2", touchedWallMs: 50 }));
    expect(unwrap(await store.session("session-1"))).toEqual(sessionRow);
    expect(unwrap(await store.dropSessionsBefore(50))).toBe(1);
    expect(unwrap(await store.session("session-1"))).toBeUndefined();
    unwrap(await store.dropSession("session-2"));
    expect(unwrap(await store.session("session-2"))).toBeUndefined();
  });

  it("keeps the last manifest of a server", async () => {
    const store = current();
    const row = {
      key: "mail@1",
      server: "mail",
      revision: "2025-11-25",
      digest: "m-1",
      capabilities: { tools: {} },
      manifest: { tools: [{ name: "send" }] },
      seenWallMs: 3,
    };
    unwrap(await store.putManifest(row));
    unwrap(await store.putManifest({ ...row, digest: "m-2" }));
    expect(unwrap(await store.manifest("mail@1"))).toEqual({ ...row, digest: "m-2" });
    expect(unwrap(await store.manifest("mail@2"))).toBeUndefined();
  });

  it("refuses everything that writes once it is closed", async () => {
    const store = current();
    await store.close(true);
    const refused = await store.append({ records: [record(1, "run-1", store.opening.writer)] });
    expect(refused).toMatchObject({ ok: false, error: { kind: "closed" } });
    expect(store.health()).toMatchObject({ kind: "failed", failure: { kind: "closed" } });
    expect(await store.recover()).toMatchObject({ ok: false });
  });
}

function snapshotSuite(current: () => Store): void {
  const snapshot = (run: string, seq: number): StoredSnapshot => {
    return { run, writer: current().opening.writer, seq, sealed: new Uint8Array([seq, 0, 255]) };
  };

  it("B14: keeps the newest snapshot of each open run, until the run ends", async () => {
    const store = current();
    unwrap(await store.putRun(runRow));
    unwrap(await store.putRun({ ...runRow, key: "run-2" }));
    unwrap(await store.putSnapshot(snapshot("run-1", 3)));
    unwrap(await store.putSnapshot(snapshot("run-1", 7)));
    unwrap(await store.putSnapshot(snapshot("run-2", 5)));
    const found = unwrap(await store.snapshot("run-1"));
    expect([found?.writer, found?.seq, [...(found?.sealed ?? [])]]).toEqual([store.opening.writer, 7, [7, 0, 255]]);
    expect(unwrap(await store.snapshotRuns("", 9))).toEqual(["run-1", "run-2"]);
    expect(unwrap(await store.snapshotRuns("", 1))).toEqual(["run-1"]);
    expect(unwrap(await store.snapshotRuns("run-1", 9))).toEqual(["run-2"]);
    unwrap(await store.append({ records: [], runs: [{ ...runRow, endedWallMs: 77 }] }));
    expect(unwrap(await store.snapshot("run-1"))).toBeUndefined();
    // One that comes too late, and one of a run that there never was.
    for (const run of ["run-1", "run-9"]) unwrap(await store.putSnapshot(snapshot(run, 9)));
    expect(unwrap(await store.snapshotRuns("", 9))).toEqual(["run-2"]);
    unwrap(await store.putRun({ ...runRow, key: "run-2", endedWallMs: 78 }));
    expect(unwrap(await store.snapshotRuns("", 9))).toEqual([]);
  });
}

export function storeConformance(name: string, open: () => StoreUnderTest): void {
  describe(`${name}: store conformance`, () => {
    let opened: StoreUnderTest;
    const current = (): Store => opened.store;
    beforeEach(() => {
      opened = open();
    });
    afterEach(() => opened.dispose());
    recordSuite(current);
    approvalSuite(current);
    tableSuite(current);
    snapshotSuite(current);
  });
}
