/** B14: `audit verify` believes a gap only where a signed record says exactly that it left, and refuses every other one. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openKeys } from "../../src/adapters/keys/sealing.ts";
import { recordId } from "../../src/adapters/store/sqlite-dialect.ts";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import { fingerprintOf } from "../../src/gateway/log/record.ts";
import { verifyLog } from "../../src/gateway/log/verify.ts";
import type { Store } from "../../src/gateway/ports/store.ts";
import { AgedLog, dayMs } from "../kit/gateway/aged-log.ts";
import { lattice, temporaryFolder, unwrap } from "../kit/gateway/log-records.ts";

let aged: AgedLog;
/** The place of the record that says what left. */
let by: { readonly writer: number; readonly seq: number };

beforeEach(async () => {
  aged = await AgedLog.of("SQLite");
  await aged.past("old", 2); // 1/2 to 1/7
  await aged.begin("open"); // 1/8
  aged.tamper("CREATE TABLE kept AS SELECT * FROM records");
  aged.wallMs += 31 * dayMs;
  await aged.prune();
  by = unwrap(await aged.store.prunedBy("old")) ?? { writer: 0, seq: 0 };
});
afterEach(() => aged.dispose());

async function found(): Promise<readonly string[]> {
  return (await aged.verified()).findings.map(({ kind, writer, seq }) => `${kind} ${writer}/${seq}`);
}

/** A log over the same keys and database whose removal removes nothing, as one that a fault or an attacker changed. */
async function signedWithoutRemoval(run: string): Promise<void> {
  await aged.log.close(1);
  const real = aged.openStore();
  const store: Store = {
    ...real,
    prune: async (_wanted, batch) => {
      const written = await real.append(batch);
      return written.ok ? { ok: true, value: true } : written;
    },
  };
  await aged.start(store);
  const heads = unwrap(await real.runHeads(run, undefined, 100));
  const leaving = heads.map((head) => ({ ...head, run }));
  unwrap(await aged.log.prune({ leaving, keepDays: 30, endedBefore: aged.wallMs, wallMs: aged.wallMs, at: 1 }));
  const { writer } = real.opening;
  const { seq } = unwrap(await real.head(writer)) ?? { seq: 0 };
  aged.tamper("INSERT INTO prunings (record) VALUES (?)", recordId(writer, seq));
}

describe("B14: a log of which records left", () => {
  it("verifies, and names the records", async () => {
    expect(await found()).toEqual([]);
    expect((await aged.verified()).pruned).toMatchObject([{ ...by, records: 6, runs: 1 }]);
  });

  it("is broken where a record is missing that nothing names, also beside one that left", async () => {
    aged.tamper("DELETE FROM records WHERE id = ?", recordId(1, 8));
    expect(await found()).toEqual(["gap 1/8"]);
  });

  it("is broken where the list of such records was cut, since then nothing explains the gap", async () => {
    aged.tamper("DELETE FROM prunings");
    expect(await found()).toEqual(["gap 1/2"]);
  });

  it("is broken where records are there that are said to have left", async () => {
    aged.tamper("INSERT INTO records SELECT * FROM kept WHERE id = ?", recordId(1, 4));
    expect(await found()).toContain("pruned-present 1/4");
    aged.tamper("INSERT OR IGNORE INTO records SELECT * FROM kept");
    expect(await found()).toEqual(["pruned-present 1/2"]);
  });

  it("is broken where a range was widened or shifted, or another run was named", async () => {
    const change = (from: string, to: string): void =>
      aged.tamper("UPDATE records SET body = replace(body, ?, ?) WHERE id = ?", from, to, recordId(by.writer, by.seq));
    change('"run":"old"', '"run":"new"');
    expect(await found()).toContain(`changed ${by.writer}/${by.seq}`);
    change('"run":"new"', '"run":"old"');
    expect(await found()).toEqual([]);
    change('"to":7', '"to":8');
    expect(await found()).toContain("pruned-present 1/8");
    aged.tamper("DELETE FROM records WHERE id = ?", recordId(1, 8));
    expect(await found()).toContain(`changed ${by.writer}/${by.seq}`);
    change('"to":8', '"to":7');
    expect(await found()).toEqual(["gap 1/8"]);
  });

  it("is broken where the fingerprint at the end of a range was changed", async () => {
    const id = recordId(by.writer, by.seq);
    aged.tamper('UPDATE records SET body = replace(body, \'"last":"\', \'"last":"0\') WHERE id = ?', id);
    expect(await found()).toEqual(["changed 1/8", `changed ${by.writer}/${by.seq}`]);
  });

  it("is broken where the fingerprints of what left were changed or removed", async () => {
    const id = recordId(by.writer, by.seq);
    aged.tamper("UPDATE records SET payload = CAST(replace(payload, 'a', 'b') AS BLOB) WHERE id = ?", id);
    expect(await found()).toEqual([`payload-changed ${by.writer}/${by.seq}`]);
    aged.tamper("UPDATE records SET payload = NULL WHERE id = ?", id);
    expect(await found()).toEqual([`payload-removed ${by.writer}/${by.seq}`]);
  });

  it("does not believe a record that no signature covers, though the chain is whole", async () => {
    const last = unwrap(await aged.store.head(1)) ?? { seq: 0, fingerprint: "" };
    const [real] = unwrap(await aged.store.prunings(1));
    const { fingerprint } = unwrap(
      await aged.store.records({ writer: 1, after: { writer: 1, seq: 7 }, order: "oldest", limit: 1 }),
    )[0] ?? { fingerprint: "" };
    const seq = last.seq + 1;
    const body = (real?.body ?? "")
      .replace(/"seq":\d+/, `"seq":${seq}`)
      .replace(
        /"ranges":\[.*?\]/,
        `"ranges":${JSON.stringify([{ writer: 1, from: 8, to: 8, first: fingerprint, last: fingerprint }])}`,
      )
      .replace(/,"payload":\{.*\}\}$/, "}");
    const print = fingerprintOf(aged.keys, last.fingerprint, body);
    aged.tamper("DELETE FROM records WHERE id = ?", recordId(1, 8));
    const insert =
      "INSERT INTO records (id, run, kind, body, payload, fingerprint) VALUES (?, '', 'pruned', ?, NULL, ?)";
    aged.tamper(insert, recordId(1, seq), body, print);
    aged.tamper("INSERT INTO prunings (record) VALUES (?)", recordId(1, seq));
    expect(await found()).toEqual([`pruned-unsigned 1/${seq}`, "gap 1/8"]);
    // Nor one with the signature of another key.
    const folder = temporaryFolder();
    const foreign = unwrap(openKeys(folder.path));
    const text = JSON.stringify({
      version: 1,
      chain: "c".repeat(32),
      writer: 1,
      seq,
      fingerprint: print,
      wallTime: "2030-01-01T00:00:00.000Z",
      signer: aged.keys.signer,
    });
    aged.tamper(
      "INSERT INTO checkpoints (id, body, signature) VALUES (?, ?, ?)",
      recordId(1, seq),
      text,
      foreign.sign(text),
    );
    expect(await found()).toEqual([`bad-signature 1/${seq}`, `pruned-unsigned 1/${seq}`, "gap 1/8"]);
    folder.remove();
  });

  it("does not believe its own record any more where the signature of it is gone", async () => {
    aged.tamper("DELETE FROM checkpoints WHERE id = ?", recordId(by.writer, by.seq));
    expect(await found()).toEqual([`pruned-unsigned ${by.writer}/${by.seq}`, "gap 1/2"]);
  });

  it("is broken where two records name one that left, or one names what is there", async () => {
    await aged.past("other", 1);
    aged.wallMs += 31 * dayMs;
    await signedWithoutRemoval("other");
    expect(await found()).toEqual([
      expect.stringMatching(/^pruned-present/),
      expect.stringMatching(/^pruned-unmarked/),
    ]);
    await signedWithoutRemoval("other");
    expect(await found()).toContainEqual(expect.stringMatching(/^pruned-overlap/));
  });

  it("is broken where the run is open, and where its mark is gone", async () => {
    aged.tamper("UPDATE runs SET ended_ms = NULL WHERE key = 'old'");
    expect(await found()).toEqual([`pruned-open ${by.writer}/${by.seq}`]);
    aged.tamper("UPDATE runs SET ended_ms = 1 WHERE key = 'old'");
    aged.tamper("DELETE FROM pruned_runs");
    expect(await found()).toEqual([`pruned-unmarked ${by.writer}/${by.seq}`]);
  });

  it("is broken where a tail was cut off together with what named it, as the next writer shows", async () => {
    await aged.restart();
    aged.tamper("DELETE FROM records WHERE id >= ? AND id < ?", recordId(by.writer, by.seq), recordId(2, 0));
    aged.tamper("DELETE FROM checkpoints WHERE id >= ? AND id < ?", recordId(by.writer, by.seq), recordId(2, 0));
    const kinds = (await aged.verified()).findings.map(({ kind }) => kind);
    expect(kinds).toContain("truncated");
    expect(kinds).toContain("gap");
  });

  it("verifies where the end of a writer left, which the next writer names", async () => {
    await aged.past("last", 1);
    // A crash: no end is written.
    await aged.log.store.close(false);
    await aged.start();
    aged.wallMs += 31 * dayMs;
    await aged.prune();
    expect(await found()).toEqual([]);
    expect(await aged.recordsOf("last")).toBe(0);
    const last = unwrap(await aged.store.records({ writer: 1, order: "newest", limit: 1 }))[0];
    expect(last?.kind).toBe("pruned");
  });

  it("is read as it was when a reader opened it, while records leave", async () => {
    await aged.past("next", 3);
    aged.wallMs += 31 * dayMs;
    const reader = unwrap(
      openSqliteStore({ path: aged.path, durability: "normal", wallMs: () => 1, mode: "read", steady: true }),
    );
    await aged.prune();
    expect(unwrap(await verifyLog(reader, aged.keys))).toMatchObject({ valid: true });
    expect(unwrap(await reader.records({ run: "next", order: "oldest", limit: 100 }))).toHaveLength(8);
    await reader.close(false);
  });

  it("is no history for a reader that began before the records left", async () => {
    await aged.past("long", 700);
    aged.wallMs += 31 * dayMs;
    let pauses = 0;
    const pause = async (): Promise<void> => {
      pauses += 1;
      if (pauses === 1) await aged.prune();
    };
    const read = await aged.log.replay("long", lattice, { pause });
    expect(read).toEqual({ ok: false, error: expect.stringContaining("left the log") });
  });
});
