// B14: a session that opens after a restart reads a long stream from its snapshot on, and is what all records give.
import { chmodSync, cpSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { logPlaces } from "../../src/app/state/log-files.ts";
import { settlesOn } from "../../src/core/mechanism.ts";
import { lastSnapshotEventsMin } from "../../src/gateway/ports/limits.ts";
import { Session, composed, sessionsPolicy } from "../kit/gateway/local-sessions.ts";
import { temporaryFolder } from "../kit/gateway/log-records.ts";

const policyText = sessionsPolicy("{ confidentiality: sensitive, trust: untrusted }");

/** A state folder in which two sessions share a stream of more than a snapshot's worth of events. */
async function longStream(): Promise<string> {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  const composition = await composed(path, policyText);
  const [one, two] = [await new Session(composition, "one").open(), await new Session(composition, "two").open()];
  await two.call("put_text");
  for (let count = 0; count < lastSnapshotEventsMin / 3 + 20; count += 1) await one.call("read_text");
  await two.call("read_text");
  await composition.close();
  return path;
}

type Opened = { readonly said: unknown; readonly read: number };

/** What a new session begins with, and how many records of the stream were read for that. */
async function opened(home: string, id: string): Promise<Opened> {
  const composition = await composed(home, policyText);
  const { store } = composition.log;
  const records = store.records.bind(store);
  let read = 0;
  Object.assign(store, {
    records: async (query: Parameters<typeof records>[0]) => {
      const found = await records(query);
      if (query.run?.startsWith("stream:") === true && query.limit > 1 && found.ok) read += found.value.length;
      return found;
    },
  });
  const session = await new Session(composition, id).open();
  const live = composition.gateway.runs.find(session.key);
  if (live === undefined) throw new Error("no run");
  while (settlesOn(live.policy.engine, live.state));
  const { state, sources } = live;
  const { index, sent } = state.memories.get("flow") as { index: { readonly pending: object }; sent: object };
  expect(index.pending).toEqual([]);
  const { inFlight, ...q } = state.q as unknown as { inFlight: Iterable<unknown> };
  const said = [q, [...inFlight], { ...index, pending: [], shared: false }, sent, [...sources.values()]];
  await session.call("put_text");
  session.over();
  await composition.close();
  return { said, read };
}

function changed(home: string, statement: string): void {
  const database = new DatabaseSync(logPlaces(home).database);
  database.exec(statement);
  database.close();
}

/** A state folder as it is, and with the snapshot of the stream gone, forged or of another run. */
function copiesOf(home: string): readonly string[] {
  return [
    undefined,
    "UPDATE snapshots SET sealed = zeroblob(length(sealed)) WHERE run LIKE 'stream:%'",
    "UPDATE snapshots SET sealed = (SELECT sealed FROM snapshots WHERE run NOT LIKE 'stream:%' LIMIT 1) WHERE run LIKE 'stream:%'",
    "UPDATE snapshots SET record = record - 1 WHERE run LIKE 'stream:%'",
    "DELETE FROM snapshots",
  ].map((statement) => {
    const { path, remove } = temporaryFolder();
    onTestFinished(remove);
    cpSync(home, path, { recursive: true });
    chmodSync(logPlaces(path).keys, 0o700);
    if (statement !== undefined) changed(path, statement);
    return path;
  });
}

/** A gateway on the log in which sessions make calls, the first one after the last one; they are open when it stops. */
async function goOn(home: string, calls: readonly (readonly [id: string, tool: string])[]): Promise<void> {
  const composition = await composed(home, policyText);
  const sessions = new Map<string, Session>();
  for (const [id, tool] of calls) {
    const session = sessions.get(id) ?? (await new Session(composition, id).open());
    sessions.set(id, session);
    await session.call(tool);
  }
  await composition.close();
}

/** A gateway that stops on a busy machine may give a snapshot up: then more is read. */
const busy = { timeout: 60_000, retry: 3 };

describe("B14: a session that opens after a restart, beside a long stream", () => {
  it(
    "reads little of it, and is what all records give, also where the snapshot is gone, forged or of another run",
    busy,
    async () => {
      const copies = copiesOf(await longStream());
      const [short, ...whole] = await Promise.all(copies.map((copy) => opened(copy, "new")));
      for (const one of whole) {
        expect(one.read).toBeGreaterThan((short?.read ?? 0) + 100);
        expect(one.said).toEqual(short?.said);
      }
    },
  );

  it("goes on after the next restart from the snapshot of the stream that it began with", busy, async () => {
    const home = await longStream();
    await goOn(home, [
      ["late", "put_text"],
      ["one", "read_text"],
      ["late", "read_text"],
      ["two", "put_text"],
    ]);
    const [short, ...whole] = await Promise.all(copiesOf(home).map((copy) => opened(copy, "late")));
    for (const one of whole) {
      expect(one.read).toBeGreaterThan((short?.read ?? 0) + 100);
      expect(one.said).toEqual(short?.said);
    }
  });

  it("reads the stream where its snapshot has what the session began without", async () => {
    const home = await longStream();
    await goOn(home, [
      ["late", "read_text"],
      ...Array.from({ length: lastSnapshotEventsMin / 3 + 20 }, () => ["one", "read_text"] as const),
    ]);
    const [short, ...whole] = await Promise.all(copiesOf(home).map((copy) => opened(copy, "late")));
    for (const one of whole) expect(one.said).toEqual(short?.said);
  }, 60_000);

  it("reads all records of a session whose key began another run before", async () => {
    const home = await longStream();
    await goOn(home, [["late", "put_text"]]);
    await opened(home, "late");
    await goOn(home, [["late", "read_text"]]);
    const [short, ...whole] = await Promise.all(copiesOf(home).map((copy) => opened(copy, "late")));
    for (const one of whole) expect(one.said).toEqual(short?.said);
  }, 60_000);
});
