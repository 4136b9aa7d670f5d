import { describe, expect, it } from "vitest";
import { stageWith, refusal } from "../../../test/kit/gateway/consent-scene.ts";
import { defaultSettings, fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { type FakeClient, type FakeServer, plain, Stage } from "../../../test/kit/gateway/playbook.ts";
import { type JsonObject, isObject, member } from "../../core/json.ts";

const http = { transport: "http", process: undefined } as never;
const metaOf = (clientCapabilities: JsonObject | undefined) => ({
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  ...(clientCapabilities === undefined ? {} : { "io.modelcontextprotocol/clientCapabilities": clientCapabilities }),
});
const request = (id: string, capabilities: JsonObject | undefined, more: JsonObject = {}) => ({
  id,
  method: "tools/call",
  params: { _meta: metaOf(capabilities), name: "read_file", arguments: { path: id }, ...more },
});
const question = { method: "elicitation/create", params: { message: "name?", requestedSchema: { type: "object" } } };

/** What a legacy server was told at its handshake; it answers that and lists, and leaves every call open. */
class Legacy {
  capabilities: unknown;
  readonly calls: JsonObject[] = [];
  readonly answers: JsonObject[] = [];
  readonly #server: FakeServer;

  constructor(server: FakeServer) {
    this.#server = server;
  }

  serve(): void {
    for (const message of this.#server.got.splice(0).map(plain)) {
      const { id = null, method } = message;
      if (method === undefined) this.answers.push(message);
      else if (method === "server/discover") this.#server.say({ id, error: { code: -32601, message: "no" } });
      else if (method === "initialize") {
        this.capabilities = member(message["params"], "capabilities");
        const serverInfo = { name: "old", version: "1" };
        this.#server.say({ id, result: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo } });
      } else if (method === "tools/list") {
        this.#server.say({ id, result: { tools: [{ name: "read_file" }, { name: "send_mail" }] } });
      } else if (method === "tools/call") this.calls.push(message);
    }
  }

  ask(id: number, more: JsonObject = question): void {
    this.#server.say({ id, ...more });
  }

  finish(): void {
    for (const { id = null } of this.calls.splice(0)) this.#server.say({ id, result: { content: [] } });
  }
}

class Scene {
  readonly #legacy = new Map<FakeServer, Legacy>();
  readonly stage: Stage;

  constructor(stage: Stage) {
    this.stage = stage;
  }

  get servers(): readonly Legacy[] {
    return this.stage.servers.map((server) => {
      const known = this.#legacy.get(server) ?? new Legacy(server);
      this.#legacy.set(server, known);
      return known;
    });
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 8; turn += 1) {
      await this.stage.settle();
      for (const server of this.servers) server.serve();
    }
    await this.stage.settle();
  }

  async post(message: JsonObject): Promise<FakeClient> {
    const client = this.stage.connect();
    client.say(message);
    await this.settle();
    return client;
  }
}

const results = (client: FakeClient): readonly JsonObject[] => client.got.splice(0).map(plain);
const asked = expect.objectContaining({ result: expect.objectContaining({ resultType: "input_required" }) });

describe("modern clients of one principal", () => {
  const scenes = (): Scene => new Scene(new Stage({ policy: fakePolicy(), facts: http }));

  it("a client that takes forms is asked, although the one before it took none", async () => {
    const scene = scenes();
    const plainClient = await scene.post(request("a", {}));
    const able = await scene.post(request("b", { elicitation: {} }));
    const [first, second] = scene.servers;
    expect(first?.capabilities).toEqual({});
    expect(second?.capabilities).toEqual({ elicitation: {} });
    second?.ask(9);
    await scene.settle();
    expect(results(able)).toEqual([asked]);
    expect(results(plainClient)).toEqual([]);
  });

  it("a client that takes no forms is not asked because the one before it did", async () => {
    const scene = scenes();
    await scene.post(request("a", { elicitation: {}, roots: {}, sampling: {} }));
    scene.servers[0]?.finish();
    await scene.post(request("b", {}));
    expect(scene.servers[1]?.capabilities).toEqual({});
  });

  it("clients that can be asked the same share one server, whatever else they declare", async () => {
    const scene = scenes();
    await scene.post(request("a", { elicitation: {} }));
    await scene.post(request("b", { elicitation: { form: {} }, experimental: { x: {} } }));
    expect(scene.servers).toHaveLength(1);
  });

  it("an answer to a question of another connection does not repeat the call there", async () => {
    const scene = scenes();
    const able = await scene.post(request("a", { elicitation: {} }));
    await scene.post(request("x", {}));
    scene.servers[0]?.ask(9);
    await scene.settle();
    const [shown] = results(able);
    const requestState = member(shown?.["result"], "requestState") ?? "";
    const inputResponses = { "question-9": { action: "accept", content: {} } };
    const again = request("a", {}, { requestState, inputResponses });
    const other = await scene.post({ ...again, id: "again" });
    const [refused] = results(other);
    expect(member(refused?.["error"], "message")).toContain("no longer open");
    expect(scene.servers[1]?.calls.map(({ params }) => member(params, "arguments"))).toEqual([{ path: "x" }]);
  });
});

describe("one modern client whose requests declare different capabilities", () => {
  it.each([
    ["a form", {}, question],
    ["a form in a browser", { elicitation: {} }, { ...question, params: { mode: "url", url: "https://a.example" } }],
    ["its model", {}, { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } }],
    ["its roots", { elicitation: {} }, { method: "roots/list" }],
  ])("the server is told that it has not %s, for the request that it serves", async (_what, second, wanted) => {
    const scene = new Scene(new Stage({ policy: fakePolicy() }));
    const { client } = scene.stage;
    client.say(request("a", { elicitation: { form: {}, url: {} }, roots: {}, sampling: {} }));
    await scene.settle();
    const [server] = scene.servers;
    server?.finish();
    await scene.settle();
    expect(results(client)).toHaveLength(1);
    client.say(request("b", second));
    await scene.settle();
    server?.ask(9, wanted);
    await scene.settle();
    expect(results(client)).toEqual([]);
    expect(server?.answers).toEqual([{ id: 9, error: expect.objectContaining({ code: -32601 }) }]);
  });

  it("consent is asked by form only where the call itself says that one can be shown", async () => {
    const scene = new Scene(stageWith());
    const { client } = scene.stage;
    client.say(request("a", { elicitation: {} }));
    await scene.settle();
    scene.servers[0]?.finish();
    await scene.settle();
    results(client);
    client.say(request("b", {}, { name: "send_mail" }));
    client.say(request("c", { elicitation: {} }));
    await scene.settle();
    expect(results(client)).toEqual([refusal("sluicegate approve")]);
    // A request without any declaration has none, however the one before was.
    client.say(request("d", undefined, { name: "send_mail" }));
    await scene.settle();
    expect(results(client)).toEqual([refusal("sluicegate approve")]);
  });
});

describe("sampling that the policy refuses", () => {
  it("is told to no server, at the handshake or with a request", async () => {
    const settings = { ...defaultSettings, sampling: "refuse" } as const;
    const scene = new Scene(new Stage({ policy: fakePolicy([], { settings }), facts: http }));
    await scene.post(request("a", { elicitation: {}, sampling: {} }));
    expect(scene.servers[0]?.capabilities).toEqual({ elicitation: {} });
    const modern = new Stage({ policy: fakePolicy([], { settings }), facts: http });
    modern.client.say({ id: "d", method: "server/discover", params: { _meta: metaOf({ sampling: {}, roots: {} }) } });
    await modern.settle();
    const got = modern.server.got.splice(0).map(plain);
    expect(got.map(({ params }) => member(params, "_meta"))).toEqual([metaOf({ roots: {} })]);
    expect(got.every(({ params }) => isObject(params))).toBe(true);
  });
});

describe("a legacy client", () => {
  it("keeps what its handshake declares, although it names a protocol version in its metadata", async () => {
    const stage = stageWith();
    const { client } = stage;
    const params = { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, _meta: metaOf(undefined) };
    client.say({ id: "i", method: "initialize", params });
    await stage.settle();
    stage.server.say({ id: "i", result: { protocolVersion: "2025-11-25", capabilities: {} } });
    await stage.settle();
    client.say({ id: "l", method: "tools/list" });
    await stage.settle();
    stage.server.say({ id: "l", result: { tools: [{ name: "send_mail" }] } });
    await stage.settle();
    results(client);
    client.say({ id: "c", method: "tools/call", params: { name: "send_mail", arguments: {} } });
    await stage.settle();
    expect(results(client)).toMatchObject([{ method: "elicitation/create" }]);
  });
});
