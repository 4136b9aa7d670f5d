/** B14: `audit verify` folds the records of each snapshot again, in a real state folder. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ownVersion } from "../../src/adapters/daemon/version.ts";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import type { Clock } from "../../src/gateway/ports/services.ts";
import { type LiveRun, newRun } from "../../src/gateway/runs/live-run.ts";
import { SharedStates } from "../../src/gateway/runs/shared-store-state.ts";
import { RunSnapshots } from "../../src/gateway/runs/snapshots/run-snapshots.ts";
import { fitsOf } from "../../src/gateway/runs/snapshots/snapshot-text.ts";
import { type LongRun, longPolicyText, longRun, recorded } from "../kit/gateway/long-run.ts";
import { unwrap } from "../kit/gateway/log-records.ts";
import { Terminal } from "../kit/client/command.ts";

const clock: Clock = { monotonicMs: () => performance.now(), wallMs: Date.now, after: () => () => undefined };
let terminal: Terminal;
let run: LongRun;

async function snap(): Promise<void> {
  const key = { key: run.key, kind: "trusted", lineage: undefined } as const;
  const live: LiveRun = newRun({ key, principal: "os:1000", policy: run.policy, workspace: [] }, 0);
  const setup = { services: { log: run.log, clock }, shared: new SharedStates(run.store) };
  const snapshots = new RunSnapshots({ ...setup, isOpen: (one) => one === live });
  snapshots.resumed(live, 10_000);
  await snapshots.stop([live]);
}

beforeEach(async () => {
  terminal = new Terminal();
  const path = join(terminal.home, "log.db");
  const store = unwrap(openSqliteStore({ path, durability: "normal", wallMs: Date.now }));
  run = await longRun(await recorded(longPolicyText), { home: terminal.home, store, release: ownVersion() });
  await run.calls([1, 0, 2]);
  await snap();
});
afterEach(() => terminal.remove());

/** Exit code, counts and kinds of findings. */
async function verified(): Promise<readonly unknown[]> {
  const { code, value } = await terminal.json("audit", "verify", "--log", "daemon");
  const [log] = (value as { logs: { snapshots: object; findings: { kind: string; sentence: string }[] }[] }).logs;
  return [code, log?.snapshots, log?.findings.map(({ kind }) => kind)];
}

function tamper(statement: string): void {
  const database = new DatabaseSync(join(terminal.home, "log.db"));
  database.exec(statement);
  database.close();
}

test("a snapshot that is what its records give is counted; a changed one is a finding and is not believed", async () => {
  await run.calls([3]);
  await run.close();
  expect(await verified()).toEqual([0, { checked: 1, unchecked: 0 }, []]);
  expect((await terminal.run("audit", "verify")).stdout).toContain("1 snapshot of open runs was held against");
  tamper("UPDATE snapshots SET sealed = CAST(substr(sealed, 1, length(sealed) - 1) || x'00' AS BLOB)");
  expect(await verified()).toEqual([1, { checked: 1, unchecked: 0 }, ["snapshot-altered"]]);
  expect((await terminal.run("audit", "verify")).stdout).toContain(`The snapshot of the run ${run.key} at record 1/`);
});

test("one that was sealed with the right key, and says less than its records, is a finding too", async () => {
  const early = await run.log.snapshot(run.key, fitsOf(run.policy));
  await run.calls([0, 0]);
  await snap();
  const late = await run.log.snapshot(run.key, fitsOf(run.policy));
  if (early === undefined || late === undefined) throw new Error("no snapshot");
  unwrap(await run.log.keepSnapshot({ ...late, text: early.text }));
  await run.close();
  expect(await verified()).toEqual([1, { checked: 1, unchecked: 0 }, ["snapshot-differs"]]);
  expect((await terminal.run("audit", "verify")).stdout).toContain("End the run with `sluicegate runs close`");
});

test("one of another release is named, and is nothing that a run is taken up from", async () => {
  await run.close();
  const path = join(terminal.home, "log.db");
  const store = unwrap(openSqliteStore({ path, durability: "normal", wallMs: Date.now }));
  run = await longRun({ ...(await recorded(longPolicyText)), begun: [] }, { home: terminal.home, store, release: "0" });
  const { key } = unwrap(await store.openRuns())[0] ?? { key: "" };
  run = { ...run, key };
  await snap();
  await run.close();
  expect(await verified()).toEqual([0, { checked: 0, unchecked: 1 }, []]);
});
