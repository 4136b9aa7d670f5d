// B14: a session that opens after a restart reads a long stream from its snapshot on, and is what all records give.
import { chmodSync, cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Composition, compose } from "../../src/app/gateway/composition.ts";
import { logPlaces } from "../../src/app/state/log-files.ts";
import { type Json, type JsonObject, member } from "../../src/core/json.ts";
import { settlesOn } from "../../src/core/mechanism.ts";
import { lastSnapshotEventsMin } from "../../src/gateway/ports/limits.ts";
import type { ClientHandler, Connector } from "../../src/gateway/ports/transport.ts";
import { temporaryFolder, unwrap } from "../kit/gateway/log-records.ts";

const principal = "os:1000";
const policyText = `extends: [default]
labels:
  fixture.read_text: { effects: [read.local], output: { confidentiality: sensitive, trust: untrusted } }
  fixture.put_text: { effects: [write.local], output: { confidentiality: public, trust: trusted } }
rules:
  - { id: puts, tier: allow, why: A test., when: { tool: "fixture.put_text" } }
`;

/** A server in this process that answers at once. */
const connector: Connector = {
  connect: (_target, handler) => ({
    send: (message) => {
      if (message.kind !== "request") return;
      const result = answerTo(message.method);
      setImmediate(() => handler.message({ kind: "response", id: message.id, result }));
    },
    abandon: () => undefined,
    negotiated: () => undefined,
    drained: () => undefined,
    pause: () => undefined,
    resume: () => undefined,
    close: async () => undefined,
  }),
};

let answers = 0;

function answerTo(method: string): JsonObject {
  const serverInfo = { name: "fixture", version: "1" };
  if (method === "initialize") return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
  const inputSchema = { type: "object", properties: { bytes: { type: "integer" } } };
  const tools = ["read_text", "put_text"].map((name) => ({ name, description: "A text.", inputSchema }));
  if (method === "tools/list") return { tools };
  answers += 1;
  return { content: [{ type: "text", text: `entry ${answers}` }] };
}

class Session {
  readonly key: string;
  readonly #handler: ClientHandler;
  #count = 0;

  constructor({ gateway }: Composition, sessionId: string) {
    this.key = `${principal}/session:${sessionId}`;
    const facts = { transport: "http", server: "fixture", principal, sessionId, workingDirectory: "/" } as const;
    const connection = { facts, send: () => undefined, drained: () => undefined, close: () => undefined };
    this.#handler = gateway.accept(connection);
  }

  async open(): Promise<this> {
    const clientInfo = { name: "test", version: "1" };
    await this.#ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    this.#handler.message({ kind: "notification", method: "notifications/initialized", params: undefined });
    await this.#ask("tools/list", {});
    return this;
  }

  async call(tool: string): Promise<void> {
    const result = await this.#ask("tools/call", { name: tool, arguments: { bytes: 1 } });
    if (member(result, "isError") === true) throw new Error(JSON.stringify(result));
  }

  over(): void {
    this.#handler.closed("The client ended the session.", true);
  }

  #ask(method: string, params: JsonObject): Promise<Json> {
    const id = (this.#count += 1);
    return new Promise((resolve, reject) => {
      this.#handler.request({
        request: { kind: "request", id, method, params },
        send: () => undefined,
        respond: (answer) =>
          answer.kind === "response" ? resolve(answer.result) : reject(new Error(answer.error.message)),
        onAbandoned: () => undefined,
      });
    });
  }
}

async function composed(home: string): Promise<Composition> {
  const file = join(home, "policy.yaml");
  writeFileSync(file, `version: 1\n${policyText}`);
  const target = { kind: "stdio", command: "none", args: [], env: {}, workingDirectory: "/" } as const;
  const servers = [{ name: "fixture", target: () => target }];
  return unwrap(
    await compose({ home, policies: [file], connector, servers, tagOf: () => undefined, tell: () => undefined }),
  );
}

/** A state folder in which two sessions share a stream of more than a snapshot's worth of events. */
async function longStream(): Promise<string> {
  const { path, remove } = temporaryFolder();
  onTestFinished(remove);
  const composition = await composed(path);
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
  const composition = await composed(home);
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

describe("B14: a session that opens after a restart, beside a long stream", () => {
  it("reads little of it, and is what all records give, also where the snapshot is gone, forged or of another run", async () => {
    const home = await longStream();
    const copies = [
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
    const [short, ...whole] = await Promise.all(copies.map((copy) => opened(copy, "new")));
    for (const one of whole) {
      expect(one.read).toBeGreaterThan((short?.read ?? 0) + 100);
      expect(one.said).toEqual(short?.said);
    }
  }, 60_000);
});
