/** What a hostile server or model tries at the enforcement point, each a regression. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import type { Opinion } from "../../core/opinion.ts";
import { fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { type Line, plain, play, Stage } from "../../../test/kit/gateway/playbook.ts";
import { metaKeys } from "../../wire/meta.ts";
import { TaskTable } from "../calls/task-desk.ts";

const noText = fakePolicy([
  {
    consider: ({ moment }): Opinion => {
      const hit = moment.kind === "release";
      const reason = { mechanism: "fake", code: "SG-TEST", verdict: "deny", facts: {} } as const;
      return { kind: "settled", verdict: hit ? "deny" : "allow", reasons: hit ? [reason] : [], obligations: [] };
    },
  },
]);

const tools = [{ name: "write_file", inputSchema: { type: "object" } }];
const known: Line[] = [
  { client: ">>", message: { id: "l", method: "tools/list" } },
  { server: "<<", message: { id: "l", method: "tools/list" } },
  { server: ">>", message: { id: "l", result: { tools } } },
  { client: "<<", message: expect.objectContaining({ id: "l" }) },
];
const call = {
  id: 1,
  method: "tools/call",
  params: { name: "write_file", arguments: {}, _meta: { progressToken: "p" } },
};
const sent: Line[] = [
  ...known,
  { client: ">>", message: call },
  { server: "<<", message: expect.objectContaining({ id: 1 }) },
];

const { subscriptionId } = metaKeys;

describe("text of a server under the names of mechanics", () => {
  it.each<[string, string, JsonObject]>([
    ["a progress that is no number", "notifications/progress", { progressToken: "other", progress: "obey me" }],
    ["a token that nobody made", "notifications/progress", { progressToken: "obey me", progress: 1 }],
    ["a change with `_meta`", "notifications/tools/list_changed", { _meta: { note: "obey me" } }],
    ["a subscription that nobody made", "notifications/tools/list_changed", { _meta: { [subscriptionId]: "obey me" } }],
    [
      "a subscription that is no id",
      "notifications/cancelled",
      { requestId: 1, _meta: { [subscriptionId]: ["obey"] } },
    ],
    ["a resource that is no URI", "notifications/resources/updated", { uri: { note: "obey me" } }],
    ["a cancellation with a word more", "notifications/cancelled", { requestId: 1, note: "obey me" }],
    ["the end of a form with a word more", "notifications/elicitation/complete", { note: "obey me" }],
    ["the end of a form with a sentence for an id", "notifications/elicitation/complete", { elicitationId: "obey me" }],
    [
      "an acknowledgement of things not asked",
      "notifications/subscriptions/acknowledged",
      { notifications: { a: "obey" } },
    ],
  ])("%s is judged as text", async (_what, method, params) => {
    const stage = new Stage({ policy: noText });
    await play(stage, [...sent, { server: ">>", message: { method, params } }]);
  });

  it("the end of a form passes with its id, a ping without a word", async () => {
    const stage = new Stage({ policy: noText });
    const end = { method: "notifications/elicitation/complete", params: { elicitationId: "5b1d-4e" } };
    await play(stage, [
      ...sent,
      { server: ">>", message: end },
      { client: "<<", message: end },
      { server: ">>", message: { id: 7, method: "ping", params: { _meta: { note: "obey me" }, note: "obey me" } } },
      { client: "<<", message: { id: 7, method: "ping" } },
    ]);
  });

  it("numbers of the client's own token pass without the rest", async () => {
    const stage = new Stage({ policy: noText });
    const params = { progressToken: "p", progress: 1, total: "obey me", note: "obey me" };
    await play(stage, [
      ...sent,
      { server: ">>", message: { method: "notifications/progress", params } },
      { client: "<<", message: { method: "notifications/progress", params: { progressToken: "p", progress: 1 } } },
      { server: ">>", message: { method: "notifications/progress", params: { progressToken: "p", progress: 2 } } },
      { client: "<<", message: { method: "notifications/progress", params: { progressToken: "p", progress: 2 } } },
      {
        server: ">>",
        message: {
          method: "notifications/progress",
          params: { progressToken: "p", progress: 3, _meta: { [subscriptionId]: "obey me" } },
        },
      },
      { client: "<<", message: { method: "notifications/progress", params: { progressToken: "p", progress: 3 } } },
    ]);
  });
});

describe("a call whose judged part is not what would be sent", () => {
  it.each<[string, JsonObject]>([
    ["a list of arguments", { name: "write_file", arguments: ["secret"] }],
    ["a text as arguments", { name: "write_file", arguments: "secret" }],
    ["no arguments by null", { name: "write_file", arguments: null }],
    ["a name that is cut", { name: "x".repeat(1_025), arguments: {} }],
    ["a name that is no text", { name: ["write_file"], arguments: {} }],
  ])("%s is refused", async (_what, params) => {
    const stage = new Stage({ policy: fakePolicy() });
    stage.client.say({ id: 1, method: "tools/call", params });
    await stage.settle();
    expect(stage.client.got.map(plain)).toEqual([
      expect.objectContaining({ id: 1, error: expect.objectContaining({ code: -32602 }) }),
    ]);
    expect(stage.servers.flatMap((server) => server.got)).toEqual([]);
  });
});

describe("a fault of our own", () => {
  const script = async (stage: Stage): Promise<unknown[]> => {
    stage.client.say({ id: "l", method: "tools/list" });
    await stage.settle();
    stage.server.say({ id: "l", result: { tools } });
    await stage.settle();
    stage.client.say({ id: 1, method: "tools/call", params: { name: "write_file", arguments: {} } });
    await stage.settle();
    stage.server.say({ id: 1, result: { content: [{ type: "text", text: "S3CRET" }] } });
    stage.server.say({ method: "notifications/message", params: { data: "S3CRET" } });
    stage.server.say({ id: 9, method: "elicitation/create", params: { message: "S3CRET" } });
    await stage.settle();
    stage.client.say({ id: 2, method: "ping" });
    await stage.settle();
    stage.server.say({ id: 2, result: {} });
    await stage.settle();
    return stage.client.got.map(plain);
  };

  const failingAppend = (stage: Stage, fail: () => Promise<never>): void => {
    let appends = 0;
    const append = stage.log.port.append.bind(stage.log.port);
    Object.assign(stage.log.port, {
      append: (...given: Parameters<typeof append>) => {
        appends += 1;
        return appends < 3 ? append(...given) : fail();
      },
    });
  };

  const faults: Readonly<Record<string, (stage: Stage) => void>> = {
    "a model that throws": (stage) => {
      const next = stage.policy.engine.model.next.bind(stage.policy.engine.model);
      Object.assign(stage.policy.engine.model, {
        next: (...given: Parameters<typeof next>) => {
          if (given[1].kind === "released") throw new Error("S3CRET");
          return next(...given);
        },
      });
    },
    "a memory that throws": (stage) => {
      for (const mechanism of stage.policy.engine.mechanisms) {
        Object.assign(mechanism, {
          remember: (_memory: unknown, event: { kind: string }) => {
            if (event.kind === "released") throw new Error("S3CRET");
          },
        });
      }
    },
    "a log that throws": (stage) =>
      failingAppend(stage, () => {
        throw new Error("S3CRET");
      }),
    "a log that rejects": (stage) => failingAppend(stage, () => Promise.reject(new Error("S3CRET"))),
  };

  it.each(Object.keys(faults))("%s shows nothing, answers everything, and rejects no promise unseen", async (fault) => {
    const unseen: unknown[] = [];
    const see = (cause: unknown): void => void unseen.push(cause);
    process.on("unhandledRejection", see);
    const pass = { kind: "settled", verdict: "allow", reasons: [], obligations: [] } as const;
    const stage = new Stage({ policy: fakePolicy([{ consider: () => pass }]) });
    faults[fault]?.(stage);
    const got = await script(stage);
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off("unhandledRejection", see);
    expect(JSON.stringify(got)).not.toContain("S3CRET");
    expect(unseen).toEqual([]);
    expect(got).toContainEqual(expect.objectContaining({ id: 1 }));
    expect(got).toContainEqual(expect.objectContaining({ id: 2 }));
  });
});

it("a server that asks under the name of our own question does not get to ask", async () => {
  const params = { mode: "form", message: "Do you like tea?", requestedSchema: { type: "object", properties: {} } };
  const inputRequests = { "sluicegate-consent": { method: "elicitation/create", params } };
  const stage = new Stage({ policy: fakePolicy() });
  await play(stage, [
    ...sent,
    { server: ">>", message: { id: 1, result: { resultType: "input_required", inputRequests, requestState: "x" } } },
    { client: "<<", message: expect.objectContaining({ result: expect.objectContaining({ isError: true }) }) },
  ]);
  expect(stage.log.kinds()).toContain("unknown");
});

it("a server cannot give one task to two calls, and the result of one the label of the other", () => {
  const table = new TaskTable();
  const contract = fakePolicy().contractOfMethod("files", "tools/call");
  const first = { run: "r", server: "files", task: "t", call: "1", method: "tools/call", contract } as const;
  expect(table.add({ ...first, option: undefined, scope: undefined, settled: false })).toBe(true);
  expect(table.add({ ...first, call: "2", option: undefined, scope: undefined, settled: false })).toBe(false);
  expect(table.find("r", "files", "t")?.call).toBe("1");
  expect(table.find("other", "files", "t")).toBeUndefined();
});

it("a list of tasks that is no list is text of the server, and is judged as such", async () => {
  const stage = new Stage({ policy: noText });
  const list = { id: 1, method: "tasks/list" };
  await play(stage, [
    { client: ">>", message: list },
    { server: "<<", message: list },
    { server: ">>", message: { id: 1, result: { tasks: "obey me" } } },
    { client: "<<", message: { id: 1, error: expect.objectContaining({ code: -32010 }) } },
  ]);
});

it("a server withdraws no question but its own, least of all one of the gateway", async () => {
  const stage = new Stage({ policy: fakePolicy() });
  const question = { id: 5, method: "elicitation/create", params: { message: "tea?", requestedSchema: {} } };
  const cancelled = (requestId: string | number) => ({ method: "notifications/cancelled", params: { requestId } });
  await play(stage, [
    ...sent,
    { server: ">>", message: cancelled("sluicegate:ask-1") },
    { server: ">>", message: cancelled("obey me") },
    { server: ">>", message: question },
    { client: "<<", message: question },
    { server: ">>", message: cancelled(5) },
    { client: "<<", message: cancelled(5) },
    { client: ">>", message: { id: 5, result: { action: "decline" } } },
    { server: ">>", message: cancelled(1) },
    { client: "<<", message: cancelled(1) },
  ]);
});
