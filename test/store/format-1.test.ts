/** A log that an earlier release wrote (format 1): read, verified, replayed, and gone on with in the format of today. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openKeys } from "../../src/adapters/keys/sealing.ts";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import { schema } from "./schema-1.ts";
import type { RunEvent } from "../../src/core/event.ts";
import { join as joinLabels } from "../../src/core/label.ts";
import { openEventLog } from "../../src/gateway/log/event-log.ts";
import { toOcsf } from "../../src/gateway/log/ocsf.ts";
import { type RecordedEntry, eachRecordedEntry } from "../../src/gateway/log/run-history.ts";
import { verifyLog, type Verified } from "../../src/gateway/log/verify.ts";
import type { EventLog, Head, LogKeys, Store } from "../../src/gateway/ports/store.ts";
import { callEntries, contract, lattice, option, temporaryFolder, unwrap } from "../kit/gateway/log-records.ts";

type Cell = string | number | null | { readonly base64: string };
type Table = readonly Readonly<Record<string, Cell>>[];

/**
 * Every kind of event, decision and note, in each way to keep a payload, written by the release before format 2; and, apart
 * from what that wrote, the events that its runs consist of in the kinds of today.
 */
type Fixture = {
  readonly heads: readonly Head[];
  readonly expected: Readonly<Record<string, readonly RunEvent[]>>;
  readonly ocsf: object;
  readonly keys: Readonly<Record<string, string>>;
  readonly tables: Readonly<Record<string, Table>>;
};

const tables = ["writers", "records", "checkpoints", "documents", "open_calls"] as const;
const wallMs = Date.UTC(2026, 0, 15, 13);
let folder: ReturnType<typeof temporaryFolder>;
let keys: LogKeys;
let fixture: Fixture;

const path = (): string => join(folder.path, "log.db");
const bytes = (base64: string): Buffer => Buffer.from(base64, "base64");

beforeEach(() => {
  folder = temporaryFolder();
  const file = readFileSync(new URL("log-format-1.json", import.meta.url), "utf8");
  // A fixture of ours; numbers of arguments keep their lexeme as in the log.
  const read = JSON.parse(file) as Omit<Fixture, "tables"> & Record<(typeof tables)[number], Table>;
  fixture = { ...read, tables: Object.fromEntries(tables.map((name) => [name, read[name]])) };
  mkdirSync(join(folder.path, "keys"), { mode: 0o700 });
  for (const [name, text] of Object.entries(fixture.keys)) {
    writeFileSync(join(folder.path, "keys", name), bytes(text), { mode: 0o600 });
  }
  keys = unwrap(openKeys(join(folder.path, "keys")));
  const database = new DatabaseSync(path());
  database.exec(schema);
  for (const [name, rows] of Object.entries(fixture.tables)) {
    for (const row of rows) {
      const values = Object.values(row).map((cell) =>
        typeof cell === "object" && cell !== null ? bytes(cell.base64) : cell,
      );
      const columns = Object.keys(row).join(", ");
      database.prepare(`INSERT INTO ${name} (${columns}) VALUES (${values.map(() => "?").join(", ")})`).run(...values);
    }
  }
  database.close();
});
afterEach(() => folder.remove());

function storeIn(mode: "own" | "read"): Store {
  return unwrap(openSqliteStore({ path: path(), durability: "normal", wallMs: () => wallMs, bootId: "boot", mode }));
}

async function openLog(): Promise<EventLog> {
  const chain = "f".repeat(32);
  return unwrap(await openEventLog({ store: storeIn("own"), keys, wallMs: () => wallMs, chain }, 0));
}

async function verified(outside: readonly Head[] = []): Promise<Verified> {
  const store = storeIn("read");
  const found = unwrap(await verifyLog(store, keys, { outside }));
  await store.close(false);
  return found;
}

/** The events as JSON, with the option that all calls of the fixture have in common. */
function plain(events: readonly RunEvent[]): readonly unknown[] {
  return events.map((event) => {
    if (event.kind !== "dispatched") return JSON.parse(JSON.stringify(event)) as unknown;
    const { option: judged, ...rest } = event;
    expect(judged).toEqual(option);
    return JSON.parse(JSON.stringify(rest)) as unknown;
  });
}

/** What is left of an event where no payload was kept: labels and digests. */
function withoutPayload(event: RunEvent): unknown {
  if (event.kind === "dispatched") {
    const { forecast: _forecast, ...rest } = event;
    return { ...rest, arguments: {} };
  }
  if (event.kind !== "released") return event;
  const { value: _value, ...rest } = event;
  const hi = event.fields.reduce((all, { range }) => joinLabels(all, range.hi), event.label.hi);
  return { ...rest, label: { lo: event.label.lo, hi }, fields: [] };
}

describe("a log of format 1", () => {
  it("verifies, and names the heads that its own gateway named", async () => {
    const found = await verified(fixture.heads);
    expect(found).toMatchObject({ valid: true, findings: [] });
    expect(found.writers.map(({ head }) => head)).toEqual(fixture.heads);
    expect(found.writers.map(({ records }) => records)).toEqual([32, 3]);
  });

  it("replays each run in the events of today", async () => {
    const log = await openLog();
    for (const run of ["run-sealed", "run-clear", "run-open"]) {
      const replayed = unwrap(await log.replay(run, lattice));
      expect(plain(replayed.events), run).toEqual(fixture.expected[run]);
      expect(replayed.complete).toBe(true);
      expect(JSON.stringify(replayed.events)).toContain("9007199254740993");
    }
    await log.close(1);
  });

  it("keeps labels and digests where it kept no payload, and leaves instructions out", async () => {
    const log = await openLog();
    const replayed = unwrap(await log.replay("run-digests", lattice));
    const kept = (fixture.expected["run-digests"] ?? []).filter(({ kind }) => kind !== "registered");
    expect(replayed.complete).toBe(false);
    const without = replayed.events.map((event) =>
      event.kind === "dispatched" ? { ...event, option: { ...event.option, arguments: option.arguments } } : event,
    );
    expect(without.map(({ kind }) => kind)).toEqual(kept.map(({ kind }) => kind));
    for (const [index, event] of without.entries()) {
      if (event.kind === "dispatched") expect(event.option.contract).toEqual(contract);
      const { option: _option, ...rest } = { option: undefined, ...event };
      expect(JSON.parse(JSON.stringify(rest))).toEqual(withoutPayload(kept[index] ?? event));
    }
    await log.close(1);
  });

  it.each([
    ["requested without its digest", `{"kind":"requested","digest":"d1"}`, `{"kind":"requested"}`],
    ["requested whose digest is no text", `"requested","digest":"d1"`, `"requested","digest":1`],
    ["requested without its call", `"requested","digest":"d1"`, `"requested","digest":"d1","call":null`],
    ["requested whose server is no text", `"requested","digest":"d1"`, `"requested","digest":"d1","server":{}`],
    ["requested without its tool", `"requested","digest":"d1"`, `"requested","digest":"d1","tool":null`],
    ["requested whose instant is no number", `"requested","digest":"d1"`, `"requested","digest":"d1","at":"2"`],
    ["sent without its call", `{"kind":"sent","at":3}`, `{"kind":"sent","at":3,"call":null}`],
    ["sent whose instant is no number", `{"kind":"sent","at":3}`, `{"kind":"sent","at":"3"}`],
    [
      "dispatched, which it does not have",
      `{"kind":"allowed","at":3,"method":"tools/call","option":{`,
      `{"kind":"dispatched","at":3,"call":"c1","digest":"d1","method":"tools/call","option":{"server":"mail","tool":"send",`,
    ],
  ])("reads as damaged with an event %s", async (_name, was, is) => {
    const database = new DatabaseSync(path());
    const write = database.prepare("UPDATE records SET body = replace(body, ?, ?) WHERE run = 'run-sealed' AND id = ?");
    const third = 4_294_967_299;
    const before = database.prepare("SELECT body FROM records WHERE id = ?").get(third);
    write.run(was, is, third);
    expect(database.prepare("SELECT body FROM records WHERE id = ?").get(third)).not.toEqual(before);
    database.close();
    const log = await openLog();
    const replayed = await log.replay("run-sealed", lattice);
    expect(replayed).toMatchObject({ ok: false, error: expect.stringContaining("record 1/3 holds an event") });
    await log.close(1);
  });

  it("knows what waits and which call is in doubt", async () => {
    const log = await openLog();
    const { waiting } = unwrap(await log.replay("run-sealed", lattice));
    expect(waiting.map(({ what, call, repeated }) => [what, call, repeated])).toEqual([
      ["call", "c6", undefined],
      ["result", "c7", undefined],
    ]);
    expect(await log.waiting("run-clear")).toHaveLength(2);
    expect(log.store.opening.inFlight).toMatchObject([{ run: "run-open", call: "c9", server: "mail", digest: "d9" }]);
    await log.close(1);
  });

  it("gives decisions, answers and notes back with the events that they led to", async () => {
    const store = storeIn("read");
    const entries: RecordedEntry[] = [];
    const query = { run: "run-sealed", others: false, lattice };
    unwrap(await eachRecordedEntry({ store, keys }, query, (entry) => void entries.push(entry)));
    const shown = entries.map(({ kind, call, decision }) => `${kind} ${call ?? "-"} ${decision?.verdict ?? "-"}`);
    expect(shown).toEqual([
      "registered - -",
      "dispatched c1 allow",
      "released c1 allow",
      "refused c2 deny",
      "dispatched c3 confirm",
      "released c3 -",
      "released c4 allow",
      "unknown c5 -",
      "released other-1 -",
      "note - allow",
      "note - -",
      "granted - -",
      "dispatched c8 allow",
      "released c8 -",
    ]);
    expect(entries[1]?.answers).toEqual(
      new Map<string, unknown>([
        ["q 1", { yes: true }],
        ["trace gateway", {}],
      ]),
    );
    expect(entries[3]).toMatchObject({
      events: [{ kind: "refused", digest: "d2" }],
      details: { method: "tools/call" },
    });
    expect(entries[3]?.decision).toMatchObject({
      reasons: [{ code: "SG-FLOW", facts: { sink: "mail.send" } }],
      option,
    });
    await store.close(false);
  });

  it("shows a dispatch as one event with its payload, and exports it", async () => {
    const log = await openLog();
    const views = unwrap(await log.tail(1_000));
    const sent = views.find(({ call }) => call === "c3");
    expect(sent).toMatchObject({
      kind: "dispatched",
      clear: {
        events: [
          { kind: "granted", at: 7 },
          { kind: "dispatched", call: "c3", digest: "d3", at: 8 },
        ],
      },
      payload: { events: [null, { arguments: { to: "ann@example.org" } }] },
    });
    const exported = toOcsf(views[3] ?? views[0]!, "previous", "log");
    expect({ ...exported, unmapped: 0 }).toEqual({ ...fixture.ocsf, unmapped: 0 });
    await log.close(1);
  });

  it("goes on in the format of today, in one log that verifies and in one run that replays", async () => {
    const log = await openLog();
    const fresh = callEntries("run-sealed", "c10", { to: "ann@example.org" });
    unwrap(await log.append(fresh));
    const replayed = unwrap(await log.replay("run-sealed", lattice));
    const before = fixture.expected["run-sealed"] ?? [];
    expect(plain(replayed.events.slice(0, before.length))).toEqual(before);
    expect(replayed.events.slice(before.length)).toEqual(fresh.flatMap(({ events }) => events));
    await log.close(1);
    const found = await verified(fixture.heads);
    expect(found).toMatchObject({ valid: true, findings: [] });
    expect(found.writers).toHaveLength(3);
    // An earlier release could not read what was added, and must not go on in it.
    const database = new DatabaseSync(path(), { readOnly: true });
    expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: 3 });
    database.close();
  });

  it("does not verify once any byte of a body, a payload or a fingerprint has changed", async () => {
    for (const column of ["body", "payload", "fingerprint"]) {
      const database = new DatabaseSync(path());
      const rows = database.prepare(`SELECT id, ${column} AS was FROM records WHERE ${column} IS NOT NULL`).all();
      for (const { id, was } of rows.filter((_row, index) => index % 5 === 2)) {
        const raw = typeof was === "string" ? Buffer.from(was) : Buffer.from(was as Uint8Array);
        const place = raw.length >> 1;
        raw[place] = (raw[place] ?? 0) ^ 1;
        const write = database.prepare(`UPDATE records SET ${column} = ? WHERE id = ?`);
        write.run(typeof was === "string" ? raw.toString() : raw, id ?? null);
        expect((await verified(fixture.heads)).valid, `${column} of ${Number(id)}`).toBe(false);
        write.run(was ?? null, id ?? null);
      }
      database.close();
    }
    expect((await verified(fixture.heads)).valid).toBe(true);
  });
});
