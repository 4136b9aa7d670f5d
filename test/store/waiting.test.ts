/** What waits when a gateway dies, read back from the real log: whole, once, and in every way to keep a payload. */
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openKeys } from "../../src/adapters/keys/sealing.ts";
import { openSqliteStore } from "../../src/adapters/store/sqlite.ts";
import type { RunEvent } from "../../src/core/event.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { openEventLog } from "../../src/gateway/log/event-log.ts";
import type { PayloadMode } from "../../src/gateway/ports/log-context.ts";
import type { EventLog, LogEntry, LogKeys, Waiting } from "../../src/gateway/ports/store.ts";
import { callEntries, lattice, temporaryFolder, unwrap } from "../kit/gateway/log-records.ts";

let folder: ReturnType<typeof temporaryFolder>;
let keys: LogKeys;
beforeEach(() => {
  folder = temporaryFolder();
  keys = unwrap(openKeys(join(folder.path, "keys")));
});
afterEach(() => folder.remove());

async function openLog(): Promise<EventLog> {
  const path = join(folder.path, "log.db");
  const store = unwrap(openSqliteStore({ path, durability: "normal", wallMs: () => 1e12, bootId: "b", mode: "own" }));
  return unwrap(await openEventLog({ store, keys, wallMs: () => 1e12, chain: "c", checkpointRecords: 4 }, 0));
}

type Said = { readonly events?: readonly RunEvent[]; readonly notes?: JsonObject; readonly details?: JsonObject };

function entryOf(said: Said, payload: PayloadMode = "sealed"): LogEntry {
  return {
    run: "run-1",
    at: 1,
    events: [],
    context: { policyDigest: "policy-1", policyText: "{}", lattice, payload },
    ...said,
  };
}

const held = (call: string, digest = `digest-${call}`): Said => ({
  notes: { decision: call, moment: "outbox", held: "mail.send", server: "mail", tool: "send", digest },
  details: { method: "tools/call", arguments: { to: call } },
});
const withheld = (call: string): Said => ({
  notes: { decision: call, moment: "withheld", digest: `digest-${call}` },
  details: { body: "what it brought" },
});
const released = (call: string, how: "pass" | "reject" | "withhold"): RunEvent => ({
  at: 3,
  kind: "released",
  call,
  server: "mail",
  tool: "send",
  how,
  fields: [],
  label: { lo: lattice.bottom, hi: lattice.bottom },
});
const ended = (cause: "closed" | "unsafe"): RunEvent => ({ at: 9, kind: "ended", cause });

/** The call `call` of the fixture as the log has it once it was allowed; `more` says where it came from. */
const allowed = (call: string, more: JsonObject = {}): LogEntry => {
  const [before] = callEntries("run-1", call, { to: call });
  return { ...before, notes: { decision: call, ...more } };
};

async function waitingAfter(entries: readonly LogEntry[]): Promise<readonly Waiting[]> {
  const log = await openLog();
  // One by one and together: a record of several entries tells no other story.
  for (const entry of entries.slice(0, 1)) unwrap(await log.append([entry]));
  unwrap(await log.append(entries.slice(1)));
  await log.store.close(false);
  const again = await openLog();
  const { waiting } = unwrap(await again.replay("run-1", lattice));
  expect(await again.waiting("run-1"), "no labels are needed for it").toEqual(waiting);
  await again.close(1);
  return waiting;
}

const told = (waiting: readonly Waiting[]) =>
  waiting.map(({ what, call, lost, repeated, details }) => {
    const state = lost ?? (repeated === true ? "repeated" : details === undefined ? "unreadable" : "whole");
    return `${what} ${call} ${state}`;
  });

it("a held call comes back with all that it takes to make it", async () => {
  expect(await waitingAfter([entryOf(held("a"))])).toEqual([
    {
      what: "call",
      call: "a",
      digest: "digest-a",
      policyDigest: "policy-1",
      notes: held("a").notes,
      details: { method: "tools/call", arguments: { to: "a" } },
    },
  ]);
});

it.each([
  ["kept in the clear", [entryOf(held("a"), "clear")], ["call a whole"]],
  ["kept as digests only", [entryOf(held("a"), "digests")], ["call a unreadable"]],
  ["sent from the outbox", [entryOf(held("a")), entryOf(held("b")), allowed("x", { outbox: "a" })], ["call b whole"]],
  ["dropped", [entryOf(held("a")), entryOf({ notes: { moment: "outbox", dropped: ["a held"] } })], []],
  ["lost", [entryOf(held("a")), entryOf({ notes: { moment: "outbox", lost: ["a policy"] } })], ["call a policy"]],
  [
    "refused as it was to be sent, and nobody told of it",
    [
      entryOf(held("a")),
      entryOf({
        events: [{ at: 2, kind: "refused", call: "x", server: "mail", tool: "send", digest: "d", codes: [] }],
        notes: { outbox: "a" },
      }),
    ],
    ["call a refused"],
  ],
  ["made again meanwhile", [entryOf(held("a")), entryOf(held("b")), allowed("a")], ["call a repeated", "call b whole"]],
  ["of a run that has ended", [entryOf(held("a")), entryOf({ events: [ended("closed")] })], []],
  ["of a run that was stopped", [entryOf(held("a")), entryOf({ events: [ended("unsafe")] })], ["call a whole"]],
  ["of another run", [{ ...entryOf(held("a")), run: "run-2" }], []],
  ["under a note that is none of ours", [entryOf({ notes: { moment: "outbox", held: "x", dropped: [1] } })], []],
] as const)("a held call %s", async (_, entries, expected) => {
  expect(told(await waitingAfter(entries))).toEqual(expected);
});

const result = [allowed("a"), entryOf({ events: [released("a", "withhold")] }), entryOf(withheld("a"))] as const;

it.each([
  ["waits", [], ["result a whole"]],
  ["was opened", [entryOf({ events: [released("a", "pass")] })], []],
  ["was refused for good", [entryOf({ events: [released("a", "reject")] })], []],
  ["of a call that was made again", [allowed("a")], []],
  ["of a run that was stopped", [entryOf({ events: [ended("unsafe")] })], []],
] as const)("a withheld result that %s", async (_, entries, expected) => {
  expect(told(await waitingAfter([...result, ...entries]))).toEqual(expected);
});
