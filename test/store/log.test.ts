/** The event log over real keys and a real database: what it keeps, what it hides, what it notices. */
import { readdirSync, readFileSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openKeys } from "../../src/adapters/keys/sealing.ts";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import { recordId } from "../../src/adapters/store/sqlite-dialect.ts";
import { makeLattice } from "../../src/core/label.ts";
import { openEventLog } from "../../src/gateway/log/event-log.ts";
import { toOcsf } from "../../src/gateway/log/ocsf.ts";
import { verifyLog, type Verified } from "../../src/gateway/log/verify.ts";
import type { EventLog, Head, LogKeys, Store } from "../../src/gateway/ports/store.ts";
import { callEntries, lattice, temporaryFolder, unwrap } from "../kit/gateway/log-records.ts";

const dayMs = 86_400_000;
let folder: ReturnType<typeof temporaryFolder>;
let keys: LogKeys;
let wallMs: number;
const path = (): string => join(folder.path, "log.db");

beforeEach(() => {
  folder = temporaryFolder();
  keys = unwrap(openKeys(join(folder.path, "keys")));
  wallMs = 20_000 * dayMs;
});
afterEach(() => folder.remove());

function openStore(mode: "own" | "read" = "own"): Store {
  return unwrap(openSqliteStore({ path: path(), durability: "normal", wallMs: () => wallMs, bootId: "boot", mode }));
}

async function openLog(checkpointRecords = 4): Promise<EventLog> {
  const chain = `chain-${wallMs}`;
  return unwrap(await openEventLog({ store: openStore(), keys, wallMs: () => wallMs, chain, checkpointRecords }, 0));
}

/** Ten calls in two runs, closed in order. */
async function writtenLog(): Promise<void> {
  const log = await openLog();
  for (let call = 0; call < 10; call += 1) {
    for (const entry of callEntries(`run-${call % 2}`, `call-${call}`, { to: "ann@example.org", call })) {
      unwrap(await log.append([entry]));
    }
  }
  await log.close(9);
}

/** Changes the database behind the gateway's back. */
function tamper(statement: string, ...values: (string | number | Uint8Array)[]): void {
  const database = new DatabaseSync(path());
  database.prepare(statement).run(...values);
  database.close();
}

async function verified(withKeys: LogKeys = keys, outside: readonly Head[] = []): Promise<Verified> {
  const store = openStore("read");
  const found = unwrap(await verifyLog(store, withKeys, { outside }));
  await store.close(false);
  return found;
}

const kindsOf = (found: Verified): string[] => found.findings.map((finding) => `${finding.kind} ${finding.seq}`);

describe("what the log keeps", () => {
  it("replays a run exactly", async () => {
    const log = await openLog();
    const entries = callEntries("run-1", "call-1", { to: "ann@example.org", id: JSON.rawJSON("12345678901234567890") });
    unwrap(await log.append(entries));
    unwrap(await log.append(callEntries("run-2", "call-2", {})));
    const replayed = unwrap(await log.replay("run-1", lattice));
    expect(replayed.events).toEqual(entries.flatMap((entry) => entry.events));
    expect(JSON.stringify(replayed.events)).toContain("12345678901234567890");
    expect(replayed).toMatchObject({ complete: true, policies: ["policy-1"] });
    expect(unwrap(await log.replay("no such run", lattice)).events).toEqual([]);
    await log.close(1);
  });

  it("writes what has waited while the event loop is busy with more, in its order", async () => {
    const log = await openLog();
    const records = (): unknown => {
      const database = new DatabaseSync(path(), { readOnly: true });
      const found = database.prepare("SELECT run FROM records WHERE run <> '' ORDER BY id").all();
      database.close();
      return found.map(({ run }) => run);
    };
    const appended = ["run-1", "run-2", "run-3"].map((run, index) => {
      // Somebody else's work, for longer than an append waits.
      if (index === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
      return log.append(callEntries(run, `call-${index}`, {}));
    });
    expect(records()).toEqual(["run-1", "run-2"]);
    expect((await Promise.all(appended)).every(({ ok }) => ok)).toBe(true);
    expect(records()).toEqual(["run-1", "run-2", "run-3"]);
    await log.close(1);
    expect((await verified()).findings).toEqual([]);
  });

  it("gives labels without values once the key of the day is destroyed, and the chain stays valid", async () => {
    await writtenLog();
    wallMs += 31 * dayMs;
    const log = await openLog();
    expect(keys.destroyBefore(wallMs - 30 * dayMs)).toBe(1);
    const replayed = unwrap(await log.replay("run-1", lattice));
    expect(replayed.complete).toBe(false);
    expect(replayed.events).toHaveLength(15);
    expect(JSON.stringify(replayed.events)).not.toContain("ann@example.org");
    await log.close(1);
    const found = await verified();
    expect(found).toMatchObject({ valid: true, findings: [] });
    expect(found.writers[0]?.unreadable).toBe(20);
  });

  it("cannot replay into a lattice that lost a name", async () => {
    const log = await openLog();
    unwrap(await log.append(callEntries("run-1", "call-1", {})));
    const other = unwrap(makeLattice({ levels: ["public", "private"], categories: [], groups: [] }));
    expect(await log.replay("run-1", other)).toMatchObject({ ok: false });
    await log.close(1);
  });

  it("shows the newest records, with decisions and notes in clear and details as payload", async () => {
    const log = await openLog();
    const [entry] = callEntries("run-1", "call-1", {});
    const reason = { mechanism: "flow", code: "leak", verdict: "deny", rule: "r1", facts: { value: "v-77" } } as const;
    const decision = {
      verdict: "deny",
      enforcedVerdict: "deny",
      reasons: [reason],
      obligations: [],
      option: undefined,
    } as const;
    unwrap(
      await log.append([
        {
          ...entry,
          events: [{ at: 1, kind: "refused", call: "call-1", server: "s", tool: "t", digest: "d", codes: ["leak"] }],
          decision,
          details: { x: 1 },
        },
        { ...entry, run: "", events: [], kind: "policy-loaded", notes: { file: "p.yaml" } },
      ]),
    );
    const tail = unwrap(await log.tail(2));
    expect(tail.map((view) => view.kind)).toEqual(["refused", "policy-loaded"]);
    expect(tail[0]).toMatchObject({
      call: "call-1",
      clear: { decision: { verdict: "deny", reasons: [{ code: "leak" }] } },
    });
    expect(JSON.stringify(tail[0]?.clear)).not.toContain("v-77");
    expect(tail[0]?.payload).toMatchObject({
      decision: { reasons: [{ facts: { value: "v-77" } }] },
      details: { x: 1 },
    });
    expect(unwrap(await log.tail(5, "run-1"))).toHaveLength(1);
    await log.close(1);
  });

  it("never writes arguments or secrets to disk, in any mode", async () => {
    const token = `gh${"p"}_${"a1B2".repeat(9)}`;
    const log = await openLog();
    for (const payload of ["sealed", "digests", "clear"] as const) {
      const entries = callEntries(`run-${payload}`, "call-1", { token, body: `plain-${payload}` });
      unwrap(await log.append(entries.map((entry) => ({ ...entry, context: { ...entry.context, payload } }))));
    }
    unwrap(await log.append([{ ...callEntries("r", "c", {})[0], events: [], notes: { wrong: `password=${token}` } }]));
    const replayed = unwrap(await log.replay("run-digests", lattice));
    expect(replayed.complete).toBe(false);
    expect(JSON.stringify(unwrap(await log.tail(9)))).toContain("[secret token ");
    const parts = readdirSync(folder.path).filter((name) => name.startsWith("log.db"));
    const disk = Buffer.concat(parts.map((name) => readFileSync(join(folder.path, name)))).toString("latin1");
    expect(disk).not.toContain(token);
    expect(disk).not.toContain("plain-sealed");
    expect(disk).not.toContain("plain-digests");
    expect(disk).toContain("plain-clear");
    await log.close(1);
  });

  it("keeps its chain when an entry cannot be sealed", async () => {
    let isBroken = false;
    const seal: LogKeys["seal"] = (...sealed) => {
      if (isBroken) throw new Error("The key folder is gone. Bring it back.");
      return keys.seal(...sealed);
    };
    const options = { store: openStore(), keys: { ...keys, seal }, wallMs: () => wallMs, chain: "c" };
    const log = unwrap(await openEventLog(options, 0));
    unwrap(await log.append(callEntries("run-1", "call-1", {})));
    isBroken = true;
    const refused = await log.append(callEntries("run-1", "call-2", {}));
    expect(refused).toMatchObject({ ok: false, error: { sentence: "The key folder is gone. Bring it back." } });
    isBroken = false;
    unwrap(await log.append(callEntries("run-1", "call-3", {})));
    unwrap(await log.checkpoint(2));
    unwrap(await log.checkpoint(2));
    await log.close(1);
    expect(await verified()).toMatchObject({ valid: true, writers: [{ records: 5, signedTo: 5 }] });
  });

  // A batch that came meanwhile names the same documents, and once had them forgotten with the batch that failed.
  it("stores what a record names although the entry that named it first could not be sealed", async () => {
    const seal: LogKeys["seal"] = (...sealed) => {
      if (sealed[0] === "run-1") throw new Error("The key folder is gone. Bring it back.");
      return keys.seal(...sealed);
    };
    const options = { store: openStore(), keys: { ...keys, seal }, wallMs: () => wallMs, chain: "c" };
    const log = unwrap(await openEventLog(options, 0));
    // Two rows of what runs share never go into one transaction.
    const shared = { owner: "os:1000", policyDigest: "policy-1", top: false, value: {} };
    const first = log.append(callEntries("run-1", "call-1", {}), { shared });
    const second = log.append(callEntries("run-2", "call-2", {}), { shared });
    expect(await first).toMatchObject({ ok: false });
    unwrap(await second);
    expect(unwrap(await log.replay("run-2", lattice))).toMatchObject({ complete: true });
    await log.close(1);
  });

  it("keeps the digest of a payload that is too large, and says that the run is incomplete", async () => {
    const options = { store: openStore(), keys, wallMs: () => wallMs, chain: "c", payloadBytesMax: 1_000 };
    const log = unwrap(await openEventLog(options, 0));
    unwrap(await log.append(callEntries("run-1", "call-1", { body: "x".repeat(2_000) })));
    expect(unwrap(await log.replay("run-1", lattice))).toMatchObject({ complete: false });
    await log.close(1);
    expect(await verified()).toMatchObject({ valid: true });
  });

  it("makes one record of what a run does in one commit, and shows each entry of it", async () => {
    const log = await openLog();
    const entries = [1, 2, 3].flatMap((call) => callEntries("run-1", `call-${call}`, { call }));
    const other = callEntries("run-2", "call-4", {});
    const written = [...entries, ...other, ...callEntries("run-1", "call-5", {})].map((entry) => log.append([entry]));
    for (const result of await Promise.all(written)) unwrap(result);
    const tail = unwrap(await log.tail(10));
    expect(tail.map(({ seq, part }) => [seq, part])).toEqual([
      ...[0, 1, 2, 3, 4, 5].map((part) => [2, part]),
      ...[0, 1].map((part) => [3, part]),
      ...[0, 1].map((part) => [4, part]),
    ]);
    expect(tail[1]).toMatchObject({ call: "call-1", kind: "released", clear: { policy: "policy-1" } });
    expect(tail[4]?.payload).toMatchObject({ events: [{ arguments: { call: 3 } }] });
    expect(unwrap(await log.replay("run-1", lattice)).events).toHaveLength(4 * 3);
    expect(unwrap(await log.store.openCalls())).toEqual([]);
    await log.close(1);
    expect(await verified()).toMatchObject({ valid: true, writers: [{ records: 5 }] });
  });

  it("does not list a read that was recorded late as open, and takes nothing back for it", async () => {
    const log = await openLog();
    const [before, after] = callEntries("run-1", "call-1", {});
    unwrap(await log.append([{ ...before, late: true }]));
    expect(unwrap(await log.store.openCalls())).toEqual([]);
    unwrap(await log.append([after]));
    expect(unwrap(await log.replay("run-1", lattice)).events).toHaveLength(3);
    await log.close(1);
  });

  it("seals cards for their run only", async () => {
    const log = await openLog();
    const sealed = log.seal("run-1", { call: "x" });
    expect(log.open("run-1", sealed)).toEqual({ call: "x" });
    expect(log.open("run-2", sealed)).toBeUndefined();
    await log.close(1);
  });

  it("remembers calls without outcome over a crash, and nothing else", async () => {
    const log = await openLog();
    const [before, after] = callEntries("run-1", "call-1", {});
    unwrap(await log.append([before, after]));
    unwrap(await log.append([callEntries("run-1", "call-2", {})[0]]));
    unwrap(await log.append([callEntries("run-1", "call-3", {})[0]]));
    unwrap(await log.append([callEntries("run-1", "call-3", {})[1]]));
    await log.store.close(false);
    const again = await openLog();
    expect(again.store.opening.inFlight.map((call) => call.call)).toEqual(["call-2"]);
    expect(again.store.opening.inFlight[0]).toMatchObject({
      server: "mail",
      tool: "send",
      digest: "digest-call-2",
      wallMs,
    });
    await again.close(1);
  });
});

describe("what verification notices", () => {
  it("finds nothing in a log that nobody touched, over several writers", async () => {
    await writtenLog();
    await writtenLog();
    const found = await verified();
    expect(found).toMatchObject({ valid: true, findings: [] });
    expect(found.writers).toMatchObject([
      { writer: 1, records: 22, signedTo: 22, unreadable: 0 },
      { writer: 2, records: 22, signedTo: 22 },
    ]);
  });

  it("finds a changed record", async () => {
    await writtenLog();
    tamper("UPDATE records SET body = replace(body, 'dispatched', 'refused') WHERE id = ?", recordId(1, 6));
    expect(kindsOf(await verified())).toEqual(["changed 6"]);
  });

  it("finds a record that was filed under another run", async () => {
    await writtenLog();
    tamper("UPDATE records SET run = 'run-9' WHERE id = ?", recordId(1, 6));
    expect(kindsOf(await verified())).toEqual(["changed 6"]);
  });

  it("finds a changed and a removed payload", async () => {
    await writtenLog();
    tamper("UPDATE records SET payload = ? WHERE id = ?", new Uint8Array([1, 2]), recordId(1, 4));
    tamper("UPDATE records SET payload = NULL WHERE id = ?", recordId(1, 5));
    expect(kindsOf(await verified())).toEqual(["payload-changed 4", "payload-removed 5"]);
  });

  it("finds a gap", async () => {
    await writtenLog();
    tamper("DELETE FROM records WHERE id IN (?, ?)", recordId(1, 7), recordId(1, 8));
    const found = await verified();
    expect(kindsOf(found)).toEqual(["gap 7"]);
    expect(found.findings[0]?.sentence).toBe("Records 1/7 to 1/8 are missing.");
  });

  it("finds records that were swapped", async () => {
    await writtenLog();
    tamper("UPDATE records SET id = id + 1000000 WHERE id = ?", recordId(1, 6));
    tamper("UPDATE records SET id = id - 1 WHERE id = ?", recordId(1, 7));
    tamper("UPDATE records SET id = id - 1000000 + 1 WHERE id = ?", recordId(1, 6) + 1_000_000);
    expect(kindsOf(await verified())).toEqual(["reordered 6", "reordered 7"]);
  });

  it("finds a tail that was cut off, by the signature and by an anchor kept outside", async () => {
    await writtenLog();
    const head = (await verified()).writers[0]?.head;
    tamper("DELETE FROM records WHERE id > ?", recordId(1, 18));
    expect((await verified()).findings.map((finding) => finding.kind)).toContain("truncated");
    tamper("DELETE FROM checkpoints WHERE id > ?", recordId(1, 18));
    expect(await verified()).toMatchObject({ valid: true });
    const outside = head === undefined ? [] : [head];
    expect(kindsOf(await verified(keys, outside))).toEqual(["truncated 19"]);
  });

  it("finds a whole writer gone, and a tail cut off before the next writer", async () => {
    await writtenLog();
    await writtenLog();
    tamper("DELETE FROM records WHERE id < ?", recordId(2, 0));
    tamper("DELETE FROM checkpoints WHERE id < ?", recordId(2, 0));
    expect((await verified()).findings.map((finding) => finding.kind)).toEqual(["writer-missing"]);
  });

  it("finds a chain that was computed anew", async () => {
    await writtenLog();
    const database = new DatabaseSync(path());
    let previous = "";
    for (const row of database.prepare("SELECT id, body FROM records ORDER BY id").all()) {
      const body = String(row["body"]).replaceAll("digest-call-3", "digest-call-x");
      previous = keys.hash(`${previous}\n${body}`);
      database
        .prepare("UPDATE records SET body = ?, fingerprint = ? WHERE id = ?")
        .run(body, previous, Number(row["id"]));
    }
    database.close();
    const kinds = new Set((await verified()).findings.map((finding) => finding.kind));
    expect([...kinds]).toEqual(["rewritten"]);
  });

  it("finds a forged signature and a foreign signer", async () => {
    await writtenLog();
    // The time of the checkpoint, and nothing else of it: digits stand in fingerprints and signers, too.
    tamper(
      'UPDATE checkpoints SET body = replace(body, \'"wallTime":"2\', \'"wallTime":"3\') WHERE id = ?',
      recordId(1, 1),
    );
    expect((await verified()).findings.map((finding) => finding.kind)).toEqual(["bad-signature"]);
    unlinkSync(join(folder.path, "keys", "signing.pem"));
    const others = unwrap(openKeys(join(folder.path, "keys")));
    const kinds = new Set((await verified(others)).findings.map((finding) => finding.kind));
    expect([...kinds]).toEqual(["unknown-signer"]);
  });
});

describe("export", () => {
  it("writes OCSF events with the chain as record integrity", async () => {
    const log = await openLog();
    for (const entry of callEntries("run-1", "call-1", {})) unwrap(await log.append([entry]));
    const views = unwrap(await log.tail(2));
    const [first, second] = views.map((view, index) => toOcsf(view, views[index - 1]?.fingerprint, "daemon"));
    expect(first).toMatchObject({
      class_uid: 6003,
      type_uid: 600399,
      api: { operation: "send", service: { name: "mail" } },
    });
    expect(second).toMatchObject({
      record_integrity: {
        attestation_list: [{ chain_uid: "daemon-1", fingerprint: { algorithm_id: 3, value: views[1]?.fingerprint } }],
      },
    });
    await log.close(1);
  });
});
