/** Text of a server beside its answers: it has the label of what it can come from, whatever else is in flight. */
import { describe, expect, it } from "vitest";
import { FakeProjection, traceOf } from "../../../test/kit/isolation/fake-projection.ts";
import { anyOrder } from "../../../test/kit/isolation/isolation-order.ts";
import { type FakeMechanism, fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { type FakeClient, plain, Stage } from "../../../test/kit/gateway/playbook.ts";
import { traceFrom } from "../../core/isolation/effect-record.ts";
import { traceKey, traceQuestion } from "../../core/isolation/effect-trace.ts";
import type { JsonObject } from "../../core/json.ts";
import { settled } from "../../core/opinion.ts";

const names = ["read_secret", "read_file"];
const tools = names.map((name) => ({ name, inputSchema: { type: "object" } }));

/** A stage whose client knows the tools. */
async function opened(): Promise<Stage> {
  const stage = new Stage({ policy: fakePolicy() });
  await said(stage, { id: "l", method: "tools/list" });
  await told(stage, { id: "l", result: { tools } });
  return stage;
}

async function said(stage: Stage, message: JsonObject, client: FakeClient = stage.client): Promise<void> {
  client.say(message);
  await stage.settle();
}

async function told(stage: Stage, message: JsonObject): Promise<void> {
  stage.server.say(message);
  await stage.settle();
}

function call(id: number, name: string, more: JsonObject = {}): JsonObject {
  return { id, method: "tools/call", params: { name, arguments: {}, ...more } };
}

/** Under which tool or method the last release is on record. */
function lastRelease(stage: Stage): string | undefined {
  return stage.log.events().findLast((event) => event.kind === "released")?.tool;
}

describe("a task", () => {
  /** A task of `read_secret` goes on while `read_file` is in flight. */
  async function working(): Promise<Stage> {
    const stage = await opened();
    await said(stage, call(1, "read_secret", { task: { ttl: 5 } }));
    await told(stage, { id: 1, result: { task: { taskId: "t1", status: "working" } } });
    await said(stage, call(2, "read_file"));
    stage.client.got.splice(0);
    return stage;
  }

  it("gives its label to what is said of it, and not the call that happens to be in flight", async () => {
    const stage = await working();
    const params = { taskId: "t1", status: "working", statusMessage: "salaries: 5, 7" };
    await told(stage, { method: "notifications/tasks/status", params });
    expect(lastRelease(stage)).toBe("read_secret");
    const _meta = { "io.modelcontextprotocol/related-task": { taskId: "t1" } };
    await told(stage, { method: "notifications/message", params: { level: "info", data: "salaries: 5, 7", _meta } });
    expect(lastRelease(stage)).toBe("read_secret");
    await told(stage, { id: 7, method: "elicitation/create", params: { message: "salaries: 5, 7", _meta } });
    expect(lastRelease(stage)).toBe("read_secret");
    expect(stage.client.got).toHaveLength(3);
  });

  it("that nobody knows lends no label at all", async () => {
    const stage = await working();
    await told(stage, { method: "notifications/tasks/status", params: { taskId: "t9", statusMessage: "5, 7" } });
    expect(lastRelease(stage)).toBe("notifications/tasks/status");
  });

  it("of another run is not spoken of", async () => {
    const stage = await working();
    const other = stage.connect({ process: { pid: 8, startedAt: "1" } });
    await said(stage, { id: "p", method: "ping" }, other);
    await told(stage, { method: "notifications/tasks/status", params: { taskId: "t1", statusMessage: "5, 7" } });
    expect(other.got.map(plain)).toEqual([]);
  });
});

describe("text that names nothing, in a run whose server works on more than one call", () => {
  const log = { method: "notifications/message", params: { level: "info", data: "salaries: 5, 7" } };

  it("is not that of the one call in flight while a task goes on beside it", async () => {
    const stage = await opened();
    await said(stage, call(1, "read_secret", { task: { ttl: 5 } }));
    await told(stage, { id: 1, result: { task: { taskId: "t1", status: "working" } } });
    await said(stage, call(2, "read_file"));
    await told(stage, log);
    expect(lastRelease(stage)).toBe("notifications/message");
    await said(stage, { id: 3, method: "tasks/result", params: { taskId: "t1" } });
    await told(stage, { id: 3, result: { content: [] } });
    await told(stage, log);
    expect(lastRelease(stage)).toBe("read_file");
  });

  it("is not that of a call whose client has a connection of its own, while another client's is in flight", async () => {
    const stage = new Stage({ policy: fakePolicy(), facts: { transport: "http", process: undefined } as never });
    const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
    const started = async (name: string): Promise<FakeClient> => {
      const client = stage.connect();
      await said(stage, call(1, name, { _meta }), client);
      const asked = stage.servers[0]?.got.splice(0).map(plain) ?? [];
      for (const { id, method } of asked) {
        if (method === "server/discover") await told(stage, { id: id ?? null, result: { resultType: "complete" } });
        if (method === "tools/list") await told(stage, { id: id ?? null, result: { resultType: "complete", tools } });
      }
      return client;
    };
    await started("read_file");
    await started("read_file");
    await told(stage, log);
    expect(stage.servers).toHaveLength(1);
    const released = stage.log.events().filter((event) => event.kind === "released");
    expect(released.map(({ tool }) => tool)).toEqual(["notifications/message", "notifications/message"]);
  });
});

/** Isolates every call, and rejects whatever is said by a call that did anything. */
const isolating: FakeMechanism = {
  consider: ({ moment }, _run, _memory, answers) => {
    if (moment.kind === "call") return settled([], [{ kind: "isolate", scope: "S" }]);
    const id = moment.kind === "release" ? (moment.call ?? moment.during) : undefined;
    if (id === undefined) return settled([]);
    const answer = answers.get(traceKey("files", id));
    if (answer === undefined) return { kind: "needs", questions: [traceQuestion("fake-0", "files", id)] };
    const trace = answer.kind === "known" ? traceFrom(answer.value) : undefined;
    if (trace?.events.length === 0) return settled([]);
    return settled([{ mechanism: "fake", code: "SG-TEST", verdict: "deny", facts: {} }]);
  },
};

describe("a task in a projection", () => {
  const related = { "io.modelcontextprotocol/related-task": { taskId: "t1" } };
  it.each<[string, JsonObject]>([
    ["state", { method: "notifications/tasks/status", params: { taskId: "t1", statusMessage: "salaries" } }],
    ["question", { id: 7, method: "elicitation/create", params: { message: "salaries", _meta: related } }],
  ])("has the %s that its server sends judged by what it did so far", async (_what, message) => {
    const projection = new FakeProjection();
    const stage = new Stage({ policy: fakePolicy([isolating], { isolation: anyOrder }), projection });
    await said(stage, { id: "l", method: "tools/list" });
    await told(stage, { id: "l", result: { tools } });
    await said(stage, call(1, "read_file", { task: { ttl: 5 } }));
    await told(stage, { id: 1, result: { task: { taskId: "t1", status: "working" } } });
    expect(JSON.stringify(stage.client.got.splice(0).map(plain))).toContain("working");
    projection.traces = () => traceOf([{ action: "net-listen" }]);
    await told(stage, message);
    expect(JSON.stringify(stage.client.got.map(plain))).not.toContain("salaries");
  });
});

it("a form for a secret inside the state of a task is not shown", async () => {
  const stage = new Stage({ policy: fakePolicy([], { questions: "named" }) });
  await said(stage, { id: "l", method: "tools/list" });
  await told(stage, { id: "l", result: { tools } });
  await said(stage, call(1, "read_file", { task: { ttl: 5 } }));
  await told(stage, { id: 1, result: { task: { taskId: "t1", status: "working" } } });
  stage.client.got.splice(0);
  const requestedSchema = { type: "object", properties: { password: { type: "string", title: "Password" } } };
  const q = { method: "elicitation/create", params: { message: "Your password?", requestedSchema } };
  const params = { taskId: "t1", status: "input_required", inputRequests: { q } };
  await told(stage, { method: "notifications/tasks", params });
  expect(stage.client.got.map(plain)).toEqual([]);
});
