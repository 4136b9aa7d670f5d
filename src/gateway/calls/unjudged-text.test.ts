// Text of a client beside the arguments that are judged: it is refused or dropped, for trusted servers as well.
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import { fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { plain, Stage } from "../../../test/kit/gateway/playbook.ts";
import { cleanMessage } from "../upstream/meta.ts";

const salary = "the salary of Ada is 90000";
const listing = { tools: [{ name: "read_file" }] };

/** What the server got and the client was answered, when the client says this after a list, or without one. */
async function said(message: JsonObject, { listed = true, answers = true, policy = fakePolicy() } = {}) {
  const stage = new Stage({ policy });
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
