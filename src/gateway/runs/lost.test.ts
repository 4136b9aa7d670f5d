import { describe, expect, it } from "vitest";
import { fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { plain, play, Stage } from "../../../test/kit/gateway/playbook.ts";
import { streamRenewalsMax } from "../ports/limits.ts";

const list = { id: "l", method: "tools/list" };
const tools = [{ name: "send_mail", inputSchema: { type: "object" } }];
const listed = { id: "l", result: { tools } };
const setup = [
  { client: ">>", message: list },
  { server: "<<", message: list },
  { server: ">>", message: listed },
  { client: "<<", message: listed },
] as const;
const call = (id: number) => ({ id, method: "tools/call", params: { name: "send_mail", arguments: {} } });
const sent = (id: number) => [
  { client: ">>", message: call(id) } as const,
  { server: "<<", message: call(id) } as const,
];
const error = (id: number | string, text: string) =>
  ({ client: "<<", message: { id, error: { code: -32603, message: expect.stringContaining(text) } } }) as const;

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

describe("an answer that is lost while the connection goes on", () => {
  it("leaves the outcome unknown; the same call asks first, any other goes on", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    await play(stage, [...setup, ...sent(1)]);
    stage.server.handler.lost?.(1, "Its stream was cut.");
    await play(stage, [
      error(1, "may have happened"),
      { client: ">>", message: call(2) },
      { client: "<<", message: expect.objectContaining({ result: expect.objectContaining({ isError: true }) }) },
      { client: ">>", message: { id: 3, method: "ping" } },
      { server: "<<", message: { id: 3, method: "ping" } },
    ]);
    expect(stage.log.kinds()).toContain("unknown");
    expect(stage.log.kinds()).not.toContain("failed");
  });

  it("ends requests that are no calls, and the gateway's own, with an error", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    await play(stage, [
      ...setup,
      { client: ">>", message: { id: 1, method: "ping" } },
      { server: "<<", message: { id: 1, method: "ping" } },
    ]);
    stage.server.handler.lost?.(1, "Its stream was cut.");
    stage.server.handler.lost?.("nobody", "Its stream was cut.");
    await play(stage, [error(1, "No answer")]);
  });

  it("brings nothing of the server into the run, since the gateway itself says that it is gone", async () => {
    const hello = { id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {} } };
    const stage = new Stage({ policy: fakePolicy() });
    await play(stage, [
      { client: ">>", message: hello },
      { server: "<<", message: expect.objectContaining({ method: "initialize" }) },
    ]);
    stage.server.handler.closed("The server ended with exit code 3.");
    await play(stage, [error(1, "exit code 3")]);
    expect(stage.log.kinds()).not.toContain("released");
  });

  it("finds its way back over a connection that several clients share", async () => {
    const stage = new Stage({ policy: fakePolicy(), facts: { transport: "http", process: undefined } as never });
    const modern = { id: "x", method: "completion/complete", params: { _meta } };
    const discover = { id: "d", method: "server/discover", params: { _meta } };
    await play(stage, [
      { client: ">>", message: discover },
      { server: "<<", message: { ...discover, id: 1 } },
      {
        server: ">>",
        message: { id: 1, result: { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} } },
      },
      { client: "<<", message: expect.anything() },
      { client: ">>", message: modern },
      { server: "<<", message: { ...modern, id: 2 } },
    ]);
    stage.server.handler.lost?.(2, "Its stream was cut.");
    await play(stage, [error("x", "may have happened")]);
  });
});

describe("the result of a task that is lost on its way", () => {
  it("leaves the task as it was: its result can be asked for again", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    const made = { task: { taskId: "t1", status: "working" } };
    const result = (id: number) => ({ id, method: "tasks/result", params: { taskId: "t1" } });
    await play(stage, [
      ...setup,
      ...sent(1),
      { server: ">>", message: { id: 1, result: made } },
      { client: "<<", message: { id: 1, result: made } },
      { client: ">>", message: result(2) },
      { server: "<<", message: result(2) },
    ]);
    stage.server.handler.lost?.(2, "Its stream was cut.");
    await play(stage, [
      error(2, "No answer"),
      { client: ">>", message: result(3) },
      { server: "<<", message: result(3) },
      { server: ">>", message: { id: 3, result: { content: [] } } },
      { client: "<<", message: { id: 3, result: { content: [] } } },
    ]);
    expect(stage.log.kinds()).toContain("succeeded");
    expect(stage.log.kinds()).not.toContain("failed");
  });
});

describe("a call that the client gave up", () => {
  it("is unknown on record, and raises no question when the client makes it again", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    const cancelled = { method: "notifications/cancelled", params: { requestId: 1 } };
    await play(stage, [
      ...setup,
      ...sent(1),
      { client: ">>", message: cancelled },
      { server: "<<", message: cancelled },
      ...sent(2),
    ]);
    expect(stage.log.kinds()).toContain("unknown");
  });

  it("in the same breath is never sent, whatever had to be fetched first", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    stage.client.say(call(1));
    stage.client.say({ method: "notifications/cancelled", params: { requestId: 1 } });
    await stage.settle();
    expect(stage.server.got.map(plain)).toEqual([{ id: "sluicegate:1", method: "tools/list" }]);
    stage.server.got.length = 0;
    stage.server.say({ id: "sluicegate:1", result: { tools } });
    await play(stage, [
      ...sent(2),
      { server: ">>", message: { id: 2, result: {} } },
      { client: "<<", message: { id: 2, result: {} } },
    ]);
    expect(stage.log.kinds().filter((kind) => kind === "dispatched")).toHaveLength(1);
  });
});

describe("a modern server behind a legacy client that cuts the stream of changes", () => {
  const start = async (stage: Stage): Promise<void> => {
    stage.client.say({
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } },
    });
    await stage.settle();
    stage.server.say({ id: 0, error: { code: -32601, message: "Method not found" } });
    await stage.settle();
    const capabilities = { tools: { listChanged: true } };
    stage.server.say({
      id: "sluicegate-era:1",
      result: { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities },
    });
    await stage.settle();
  };
  const listens = (stage: Stage) =>
    stage.server.got.flatMap((one) =>
      one.kind === "request" && one.method === "subscriptions/listen" ? [one.id] : [],
    );

  it("is asked for a new one, so that changes are still heard; not without end", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    await start(stage);
    expect(listens(stage)).toHaveLength(1);
    for (let cut = 0; cut < 2 * streamRenewalsMax; cut += 1) {
      stage.server.handler.lost?.(listens(stage).at(-1) ?? "", "Its stream was cut.");
    }
    expect(listens(stage)).toHaveLength(1 + streamRenewalsMax);
  });
});
