/** A run of the real engine as long as a test wants it: calls that a gateway recorded, again and again. */
import { join } from "node:path";
import { openKeys } from "../../../src/adapters/keys/sealing.ts";
import { openMemoryStore } from "../../../src/adapters/store/memory.ts";
import type { RunEvent } from "../../../src/core/event.ts";
import { openEventLog } from "../../../src/gateway/log/event-log.ts";
import type { LoadedPolicy } from "../../../src/gateway/ports/policy.ts";
import type { EventLog, LogEntry, RunRow, Store } from "../../../src/gateway/ports/store.ts";
import { temporaryFolder, unwrap } from "./log-records.ts";
import { Conversation, policyOf } from "./real-policy.ts";

export const longPolicyText = `
flow: {mode: provenance}
lattice: {confidentiality: [public, private], groups: [me, anyone], clearance: {anyone: public}}
stores: {notes: {}}
labels:
  files.read_text: {effects: [read.local], output: {confidentiality: private, trust: untrusted}}
  files.list: {effects: [read.local], output: {confidentiality: public, trust: trusted}}
  files.write: {effects: [write.local], writes: [notes]}
  post.send: {effects: [write.external.send], args: {to: {role: recipient}, text: {role: content}}}
rules:
  - {id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}
  - {id: TEN, tier: block, atMost: {of: files.list, count: 10000}, why: "many lists"}
`;

export type LongRun = {
  readonly key: string;
  readonly policy: LoadedPolicy;
  readonly log: EventLog;
  readonly store: Store;
  /** Appends the entries of so many further calls, each one of those that were recorded. */
  readonly calls: (which: readonly number[]) => Promise<void>;
  readonly close: () => Promise<void>;
};

type Recorded = {
  readonly begun: readonly LogEntry[];
  readonly calls: readonly (readonly LogEntry[])[];
  readonly policy: LoadedPolicy;
};

/** What one conversation left on record: how its run began, and the entries of each of its calls. */
export async function recorded(policyText: string): Promise<Recorded> {
  const servers = { files: ["read_text", "list", "write"], post: ["send"] };
  let answers = 0;
  const answer = (): { content: { type: string; text: string }[] } => {
    answers += 1;
    return {
      content: [{ type: "text", text: `entry ${answers} of the ledger, gravel ${(answers * 7919) % 100_003}` }],
    };
  };
  const conversation = new Conversation(policyText, servers, { answer });
  for (let time = 0; time < 2; time += 1) {
    await conversation.call("files.read_text", { path: `/notes/${time}.txt` });
    await conversation.call("files.list", {});
    await conversation.call("files.write", { path: `/notes/${time}.txt`, text: "hello" });
    await conversation.call("post.send", { to: "ann@example.org", text: "hello" });
  }
  const { entries } = conversation.stage.log;
  const callOf = (entry: LogEntry): string | undefined =>
    entry.events.flatMap((event) => ("call" in event && event.call !== undefined ? [event.call] : []))[0];
  const byCall = Map.groupBy(
    entries.filter((entry) => callOf(entry) !== undefined),
    callOf,
  );
  const calls = [...byCall.values()].filter((all) =>
    all.some(({ events }) => events.some(({ kind }) => kind === "dispatched")),
  );
  const begun = entries.filter(({ events }) => events.some(({ kind }) => kind === "begun"));
  const [first] = entries;
  if (first === undefined || calls.length === 0) throw new Error("the conversation recorded no call");
  return { begun, calls, policy: policyOf(policyText) };
}

/** Where the log of a long run lies, and the release that writes it. */
export type LongRunPlace = { readonly home: string; readonly store: Store; readonly release: string };

/** An open run in a real log, in memory unless a place is given. */
export async function longRun({ begun, calls, policy }: Recorded, place?: LongRunPlace): Promise<LongRun> {
  const folder = place === undefined ? temporaryFolder() : { path: place.home, remove: () => undefined };
  const { store, release } = place ?? { store: openMemoryStore(), release: "1" };
  const keys = unwrap(openKeys(join(folder.path, "keys")));
  const log = unwrap(await openEventLog({ store, keys, wallMs: Date.now, chain: "c".repeat(32), release }, 0));
  const key = begun[0]?.run ?? "";
  const row: RunRow = {
    key,
    principal: "os:1000",
    policyDigest: policy.digest,
    begunWallMs: 1,
    idleExpiresWallMs: 2,
    top: false,
    resume: {},
  };
  for (const entry of begun) unwrap(await log.append([entry], { runs: [row] }));
  let count = 0;
  return {
    key,
    policy,
    log,
    store,
    calls: async (which) => {
      for (const index of which) {
        count += 1;
        const call = `call-${count}`;
        const again = (event: RunEvent): RunEvent =>
          "call" in event && event.call !== undefined ? { ...event, call } : event;
        for (const entry of calls[index % calls.length] ?? []) {
          unwrap(await log.append([{ ...entry, events: entry.events.map(again) }]));
        }
      }
    },
    close: async () => {
      await log.close(9);
      folder.remove();
    },
  };
}
