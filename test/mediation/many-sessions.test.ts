// B12: what a call of one session costs does not depend on how many sessions there are, and ended ones cost nothing.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Composition, compose } from "../../src/app/gateway/composition.ts";
import { decideAgain } from "../../src/app/replay/run-report.ts";
import { type Json, type JsonObject, member } from "../../src/core/json.ts";
import type { StoredRecord } from "../../src/gateway/ports/store.ts";
import type { ClientHandler, Connector } from "../../src/gateway/ports/transport.ts";
import { openKeys } from "../../src/adapters/keys/sealing.ts";
import { logPlaces } from "../../src/app/state/log-files.ts";
import { temporaryFolder, unwrap } from "../kit/gateway/log-records.ts";
import { policyOf } from "../kit/gateway/real-policy.ts";
import { writeFileSync } from "node:fs";

const principal = "os:1000";
const policyText = `extends: [default]
labels:
  fixture.read_text: { effects: [read.local], output: { confidentiality: public, trust: trusted } }
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

async function recordsOf({ gateway, log }: Composition): Promise<readonly StoredRecord[]> {
  await gateway.runs.flushDeferred();
  return unwrap(await log.store.records({ order: "oldest", limit: 1_000_000 }));
}

const sessionsOf = (composition: Composition, count: number): Promise<readonly Session[]> =>
  Promise.all([...Array(count).keys()].map((one) => new Session(composition, `s${one}`).open()));

describe("B12: sessions over HTTP", () => {
  it("add two records with a read, and three at most with any call, however many there are, and replay alike", async () => {
    const { path, remove } = temporaryFolder();
    const composition = await composed(path);
    const sessions = await sessionsOf(composition, 100);
    const added = async (act: () => Promise<unknown>): Promise<number> => {
      const before = (await recordsOf(composition)).length;
      await act();
      return (await recordsOf(composition)).length - before;
    };
    const each = (tool: string) => () => Promise.all(sessions.map((session) => session.call(tool)));
    expect(await added(each("read_text"))).toBeLessThanOrEqual(3 * 100);
    expect(await added(each("put_text"))).toBeLessThanOrEqual(3 * 100);
    const [first] = sessions;
    expect(await added(async () => first?.call("read_text"))).toBe(2);
    const policy = policyOf(policyText);
    const keys = unwrap(openKeys(logPlaces(path).keys));
    for (const { key } of sessions.slice(0, 3)) {
      const again = await decideAgain({ store: composition.log.store, keys }, { run: key, policy, workspace: ["/"] });
      expect(unwrap(again).moments.filter(({ differs }) => differs)).toEqual([]);
    }
    await composition.close();
    remove();
  }, 60_000);

  it("leave nothing in memory and no open row when they are over, and one stream for later ones", async () => {
    const { path, remove } = temporaryFolder();
    const composition = await composed(path);
    const { runs } = composition.gateway;
    for (const session of await sessionsOf(composition, 30)) {
      await session.call("read_text");
      session.over();
    }
    await expect.poll(() => [...runs.all()].length).toBe(0);
    await composition.log.checkpoint(0);
    const open = unwrap(await composition.log.store.openRuns());
    expect(open.map(({ key }) => key.slice(0, 7))).toEqual(["stream:"]);
    expect(runs.waitingStreams()).toHaveLength(1);
    expect(composition.gateway.state.inDoubt.size("")).toBe(0);
    await composition.close();
    remove();
  }, 60_000);
});
