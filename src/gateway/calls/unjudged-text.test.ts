// Text of a client beside the arguments that are judged: it is refused or dropped, for trusted servers as well.
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import { type FakeMechanism, fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { plain, Stage } from "../../../test/kit/gateway/playbook.ts";
import { encodeMessage } from "../../wire/encode.ts";
import { cleanMessage } from "../upstream/meta.ts";

const salary = "the salary of Ada is 90000";
const listing = { tools: [{ name: "read_file" }] };

/** What the server got and the client was answered, when the client says this after a list, or without one. */
async function said(
  message: JsonObject,
  { listed = true, answers = true, policy = fakePolicy(), stage = new Stage({ policy }) } = {},
) {
  const got: JsonObject[] = [];
  const turn = async (): Promise<void> => {
    for (let count = 0; count < 4; count += 1) {
      await stage.settle();
      for (const one of stage.servers.flatMap((server) => server.got.splice(0)).map(plain)) {
        got.push(one);
        const { id, method } = one;
        if (id === undefined) continue;
        const error = { code: -32603, message: "not now" };
        const list = method === "tools/list";
        if (list && !answers) stage.server.say({ id, error });
        else stage.server.say({ id, result: list ? listing : { content: [] } });
      }
    }
  };
  if (listed) {
    stage.client.say({ id: 1, method: "tools/list" });
    await turn();
    stage.client.got.length = 0;
    got.length = 0;
  }
  stage.client.say(message);
  await turn();
  return { got, text: JSON.stringify(got), answer: stage.client.got.map(plain).at(-1), stage };
}

const call = (more: JsonObject): JsonObject => ({
  id: 7,
  method: "tools/call",
  params: { name: "read_file", arguments: {}, ...more },
});

describe("a tool that its server does not list", () => {
  it("is refused on record, and nothing reaches the server", async () => {
    const { got, answer, stage } = await said(call({ name: salary }));
    expect(got).toEqual([]);
    expect(answer).toMatchObject({ id: 7, error: { code: -32602 } });
    expect(stage.log.events().at(-1)).toMatchObject({ kind: "refused", codes: ["SG-UNLISTED"] });
  });

  it("is refused where the client has not listed: the gateway asks for the list itself", async () => {
    const { got, answer } = await said(call({ name: salary }), { listed: false });
    expect(got.map(({ method }) => method)).toEqual(["tools/list"]);
    expect(answer).toMatchObject({ error: { code: -32602 } });
    const fine = await said(call({}), { listed: false });
    expect(fine.got.map(({ method }) => method)).toEqual(["tools/list", "tools/call"]);
  });

  it("is refused where the list cannot be had, with the reason", async () => {
    const { got, answer } = await said(call({}), { listed: false, answers: false });
    expect(got.map(({ method }) => method)).toEqual(["tools/list", "tools/list"]);
    expect(answer).toMatchObject({ error: { code: -32603, message: expect.stringContaining("not now") } });
  });

  it("is passed on where the policy only observes", async () => {
    const stage = new Stage({ policy: fakePolicy([], { settings: { mode: "observe" } }) });
    stage.client.say(call({ name: "hidden" }));
    await stage.settle();
    stage.server.say({ id: stage.server.got.splice(0).map(plain)[0]?.["id"] ?? 0, result: listing });
    await stage.settle();
    expect(stage.server.got.map(plain)).toMatchObject([{ method: "tools/call", params: { name: "hidden" } }]);
  });
});

describe("text beside the arguments", () => {
  it.each<[string, JsonObject]>([
    ["an unknown member", call({ note: salary })],
    ["an unknown member of `_meta`", call({ _meta: { note: salary } })],
    ["a name in `_meta`", call({ _meta: { [salary]: 1 } })],
    ["a progress token", call({ _meta: { progressToken: salary } })],
    ["the note of a task", call({ task: { ttl: 1, note: salary, [salary]: 2 } })],
    ["what a client says of itself", call({ _meta: { "io.modelcontextprotocol/clientInfo": { about: salary } } })],
    ["a related task", call({ _meta: { "io.modelcontextprotocol/related-task": { taskId: "t", note: salary } } })],
    ["an id", { ...call({}), id: salary }],
    ["a cursor", { id: 7, method: "tools/list", params: { cursor: salary } }],
    ["a cursor of tasks", { id: 7, method: "tasks/list", params: { cursor: salary } }],
    ["a member of a list", { id: 7, method: "tools/list", params: { note: salary } }],
    ["a ping", { id: 7, method: "ping", params: { note: salary } }],
    ["a level", { id: 7, method: "logging/setLevel", params: { level: salary } }],
    ["a notification of the protocol", { method: "notifications/initialized", params: { note: salary } }],
    ["a change of roots", { method: "notifications/roots/list_changed", params: { note: salary } }],
  ])("%s reaches no server", async (_what, message) => {
    const { text } = await said(message);
    expect(text).not.toContain("salary");
  });

  it("a member beside the params is refused as no message of the protocol", async () => {
    await expect(said({ ...call({}), note: salary })).rejects.toThrow("bad message");
    await expect(said({ ...call({}), [salary]: 1 })).rejects.toThrow("bad message");
  });

  it("a state that no server gave is judged as data for the server", async () => {
    const refuses = {
      consider: ({ moment }: { moment: { kind: string; method?: string } }) => {
        const sends = moment.kind === "call" && moment.method === "elicitation/create";
        return { kind: "settled", verdict: sends ? "deny" : "allow", reasons: [], obligations: [] } as const;
      },
    };
    const { text, answer } = await said(call({ requestState: salary }), { policy: fakePolicy([refuses as never]) });
    expect(text).not.toContain("salary");
    expect(answer).toMatchObject({ result: { isError: true } });
  });

  it("an id that is replaced comes back as it was, with progress and the end of the call", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    stage.client.say({ id: 1, method: "tools/list" });
    await stage.settle();
    stage.server.say({ id: 1, result: listing });
    await stage.settle();
    stage.server.got.length = stage.client.got.length = 0;
    stage.client.say({ ...call({ _meta: { progressToken: salary } }), id: salary });
    await stage.settle();
    const id = stage.server.got.map(plain)[0]?.["id"] ?? 0;
    expect(stage.server.got.map(plain)).toMatchObject([{ id, params: { _meta: { progressToken: id } } }]);
    stage.server.say({ method: "notifications/progress", params: { progressToken: id, progress: 1 } });
    stage.server.say({ id, result: { content: [] } });
    await stage.settle();
    expect(stage.client.got.map(plain)).toMatchObject([
      { method: "notifications/progress", params: { progressToken: salary, progress: 1 } },
      { id: salary, result: { content: [] } },
    ]);
  });

  it("a cancelled call is cancelled by the id that the server knows", async () => {
    const { got, stage } = await said({ id: 7, method: "ping" });
    expect(got).toHaveLength(1);
    stage.client.say({ ...call({}), id: salary });
    await stage.settle();
    const id = stage.server.got.splice(0).map(plain)[0]?.["id"];
    stage.client.say({ method: "notifications/cancelled", params: { requestId: salary } });
    await stage.settle();
    expect(stage.server.got.map(plain)).toMatchObject([
      { method: "notifications/cancelled", params: { requestId: id } },
    ]);
  });

  it("what the protocol needs passes, and short ids as they are", async () => {
    const mac = (text: string): string => text;
    const _meta = { progressToken: "p1", "io.modelcontextprotocol/logLevel": "debug" };
    const request = { kind: "request", id: "r1", method: "tools/call", params: { name: "x", _meta, task: { ttl: 1 } } };
    expect(cleanMessage(request as never, mac)).toBe(request);
    const { got } = await said({ ...call({ _meta: { progressToken: "p1" } }), id: "r1" });
    expect(got).toMatchObject([{ id: "r1", params: { _meta: { progressToken: "p1" } } }]);
  });
});

/** Whether data with this text may go: what a policy with a bound for servers says. */
const bounded: FakeMechanism = {
  consider: ({ moment }) => {
    const stopped = moment.kind === "call" && JSON.stringify(moment.arguments).includes("salary");
    return { kind: "settled", verdict: stopped ? "deny" : "allow", reasons: [], obligations: [] };
  },
};

describe("A4: what a client says of itself", () => {
  const initialize = (more: JsonObject): JsonObject => ({
    id: 8,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "editor", version: "1" },
      ...more,
    },
  });

  /** What the server of a run gets, after the run has read something secret (or nothing). */
  async function told(message: JsonObject, { secret = true, stage = stageOf() } = {}): Promise<string> {
    const got: string[] = [];
    const serve = async (): Promise<void> => {
      for (let turn = 0; turn < 4; turn += 1) {
        await stage.settle();
        for (const one of stage.servers.flatMap((server) => server.got.splice(0)).map(plain)) {
          got.push(JSON.stringify(one));
          if (one["id"] === undefined) continue;
          const tools = [{ name: "read_secret" }];
          stage.server.say({ id: one["id"], result: one["method"] === "tools/list" ? { tools } : { content: [] } });
        }
      }
    };
    if (secret) {
      stage.client.say({ id: 1, method: "tools/call", params: { name: "read_secret", arguments: {} } });
      await serve();
    }
    got.length = 0;
    stage.client.say(message);
    await serve();
    return got.join("\n");
  }

  const stageOf = (): Stage => new Stage({ policy: fakePolicy([bounded]) });
  const modern = (more: JsonObject): JsonObject => ({
    id: 9,
    method: "tools/list",
    params: {
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { name: "editor", version: "1" },
        ...more,
      },
    },
  });

  it.each<[string, JsonObject]>([
    ["name", initialize({ clientInfo: { name: salary, version: "1" } })],
    ["title", initialize({ clientInfo: { name: "editor", title: salary, version: "1" } })],
    ["version", initialize({ clientInfo: { name: "editor", version: salary } })],
    ["capability", initialize({ capabilities: { [salary]: {} } })],
    ["experimental capability", initialize({ capabilities: { experimental: { [salary]: {} } } })],
    ["setting of an extension", initialize({ capabilities: { extensions: { "a/b": { note: salary } } } })],
    ["text in a capability of the protocol", initialize({ capabilities: { roots: { listChanged: salary } } })],
    ["capability that is a text", initialize({ capabilities: { elicitation: salary } })],
    ["list in place of a capability", initialize({ capabilities: { sampling: [salary] } })],
    ["name with each request", modern({ "io.modelcontextprotocol/clientInfo": { name: salary, version: "1" } })],
    [
      "capability with each request",
      modern({ "io.modelcontextprotocol/clientCapabilities": { tasks: { [salary]: 1 } } }),
    ],
  ])("a %s is judged as data once the run holds any", async (_what, message) => {
    const got = await told(message);
    expect(got).toContain('"method"');
    expect(got).not.toContain("salary");
    const stage = stageOf();
    expect(await told(message, { secret: false, stage })).toContain("salary");
  });

  it("capabilities of the protocol pass as they are, and words that may go", async () => {
    const capabilities = {
      roots: { listChanged: true },
      sampling: { tools: {} },
      elicitation: { form: {}, url: {} },
      experimental: {},
      extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
    };
    const got = await told(initialize({ capabilities }));
    expect(JSON.parse(got)).toMatchObject({ params: { capabilities, clientInfo: { name: "editor" } } });
  });

  it("what may not go is replaced, and the rest stays", async () => {
    const capabilities = { roots: { listChanged: true }, experimental: { [salary]: {} } };
    const got = await told(initialize({ capabilities, clientInfo: { name: salary, version: "1" } }));
    expect(JSON.parse(got)).toMatchObject({
      params: {
        protocolVersion: "2025-11-25",
        capabilities: { roots: { listChanged: true } },
        clientInfo: { name: "client", version: "0" },
      },
    });
  });

  it("what a server was told before the run held anything is not judged again", async () => {
    const stage = stageOf();
    const message = initialize({ clientInfo: { name: "salary-app", version: "1" } });
    expect(await told(message, { secret: false, stage })).toContain("salary-app");
    expect(await told({ ...message, id: 10 }, { stage })).toContain("salary-app");
    const other = initialize({ clientInfo: { name: "salary-app 90000", version: "1" } });
    expect(await told({ ...other, id: 11 }, { secret: false, stage })).not.toContain("salary");
  });
});

describe("A4: an answer of the client to a server", () => {
  /** What the server gets when the client answers its question so. */
  async function answered(method: string, answer: JsonObject | string): Promise<string> {
    const stage = new Stage({ policy: fakePolicy() });
    await said({ id: 1, method: "ping" }, { stage });
    stage.server.say({ id: 5, method, params: { message: "m", requestedSchema: { type: "object", properties: {} } } });
    await stage.settle();
    stage.client.say(answer);
    await stage.settle();
    const [got] = stage.server.got;
    if (got === undefined) throw new Error("no answer");
    return new TextDecoder().decode(encodeMessage(got));
  }

  it("to a ping carries nothing", async () => {
    expect(JSON.parse(await answered("ping", { id: 5, result: { note: salary } }))).toMatchObject({ result: {} });
    const refused = { id: 5, error: { code: -32601, message: salary, data: salary } };
    expect(await answered("ping", { id: 5, result: { note: salary } })).not.toContain("salary");
    expect(await answered("ping", refused)).not.toContain("salary");
  });

  it("is written anew, so that no white space of it goes on", async () => {
    const spaced = '{"jsonrpc":"2.0",  "id":5,\n\t "result": {"action" : "decline"  } }'.replace("\n", " ");
    expect(await answered("elicitation/create", spaced)).toBe('{"jsonrpc":"2.0","id":5,"result":{"action":"decline"}}');
    const refused = '{"jsonrpc":"2.0",  "id":5, "error": {"code": -32601 , "message" : "no"}  }';
    expect(await answered("elicitation/create", refused)).toMatch(/^\S+$/);
  });
});

describe("A4: the name of a method that no revision has", () => {
  it.each<[string, JsonObject]>([
    ["request", { id: 7, method: `vendor/${salary}`, params: { a: 1 } }],
    ["request without params", { id: 7, method: salary }],
    ["notification", { method: `notifications/${salary}` }],
    ["name that hides the name", { id: 7, method: salary, params: { $method: "x", $$method: "y" } }],
  ])("of a %s is judged with its params", async (_what, message) => {
    const { text } = await said(message, { policy: fakePolicy([bounded]) });
    expect(text).not.toContain("salary");
  });

  it("passes where the policy permits it, unchanged", async () => {
    const { got } = await said({ id: 7, method: "vendor/thing", params: { a: 1 } });
    expect(got).toMatchObject([{ method: "vendor/thing", params: { a: 1 } }]);
  });
});

describe("A4: a call of a must-rule", () => {
  it("is not sent where its server does not list the tool", async () => {
    const order = { kind: "perform", rule: "R1", server: "files", tool: salary, arguments: {} } as const;
    const needing: FakeMechanism = {
      consider: ({ moment }) => ({
        kind: "settled",
        verdict: "allow",
        reasons: [],
        obligations: moment.kind === "call" && moment.contract.tool === "read_file" ? [order] : [],
      }),
    };
    const { text, answer } = await said(call({}), { policy: fakePolicy([needing]) });
    expect(text).not.toContain("salary");
    expect(JSON.stringify(answer)).toContain("its server does not list it");
  });
});
