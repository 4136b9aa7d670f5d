/** Text of a server beside its answers: it has the label of what it can come from, whatever else is in flight. */
import { describe, expect, it } from "vitest";
import { fakePolicy } from "../../test/gateway-kit/fake-policy.ts";
import type { FakeClient } from "../../test/gateway-kit/playbook.ts";
import { plain, Stage } from "../../test/gateway-kit/playbook.ts";
import type { JsonObject } from "../core/json.ts";

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
