import { describe, expect, it } from "vitest";
import { encodeMessage } from "../../wire/encode.ts";
import { fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { type Line, play, Stage } from "../../../test/kit/gateway/playbook.ts";

const initialize = {
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: { sampling: {}, elicitation: {} },
    clientInfo: { name: "c", version: "1" },
  },
};
const initialized = {
  id: 1,
  result: {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "s", version: "1" },
    instructions: "Be kind.",
  },
};
const tools = [{ name: "read_file", inputSchema: { type: "object" } }];
const listRequest = { id: 2, method: "tools/list" };
const listed = { id: 2, result: { tools } };
const call = { id: 3, method: "tools/call", params: { name: "read_file", arguments: { path: "/a" } } };
const result = { id: 3, result: { content: [{ type: "text", text: "hello" }] } };

/** Request and answer that pass unchanged. */
function through(request: Record<string, unknown>, answer: Record<string, unknown>): Line[] {
  return [
    { client: ">>", message: request as never },
    { server: "<<", message: request },
    { server: ">>", message: answer as never },
    { client: "<<", message: answer },
  ];
}

export const opening: Line[] = [...through(initialize, initialized), ...through(listRequest, listed)];

describe("with an allow-all policy", () => {
  it("handshake, list and call pass unchanged, and the log has every step in order", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    await play(stage, [
      ...through(initialize, initialized),
      { client: ">>", message: { method: "notifications/initialized" } },
      { server: "<<", message: { method: "notifications/initialized" } },
      ...through(listRequest, listed),
      ...through(call, result),
    ]);
    expect(stage.log.kinds()).toEqual(["begun", "dispatched", "succeeded", "released"]);
  });

  it("results keep their original bytes", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    await play(stage, opening);
    stage.client.say(call);
    await stage.settle();
    stage.server.say('{"result":{"content":[{"text":"a","type":"text"}],"n":1.50},"jsonrpc":"2.0","id":3}');
    await stage.settle();
    const [answer] = stage.client.got;
    if (answer === undefined) throw new Error("no answer");
    expect(new TextDecoder().decode(encodeMessage(answer))).toContain('"n":1.50');
  });

  it("each method of a client passes in both directions", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    await play(stage, [
      ...opening,
      ...through(
        { id: 4, method: "resources/list" },
        { id: 4, result: { resources: [{ uri: "file:///a", name: "a" }] } },
      ),
      ...through(
        { id: 5, method: "resources/templates/list" },
        { id: 5, result: { resourceTemplates: [{ uriTemplate: "file:///{x}", name: "t" }] } },
      ),
      ...through({ id: 6, method: "prompts/list" }, { id: 6, result: { prompts: [{ name: "p" }] } }),
      ...through(
        { id: 7, method: "resources/read", params: { uri: "file:///a" } },
        { id: 7, result: { contents: [{ uri: "file:///a", text: "x" }] } },
      ),
      ...through({ id: 8, method: "prompts/get", params: { name: "p" } }, { id: 8, result: { messages: [] } }),
      ...through(
        {
          id: 9,
          method: "completion/complete",
          params: { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "v" } },
        },
        { id: 9, result: { completion: { values: ["v1"] } } },
      ),
      ...through({ id: 10, method: "resources/subscribe", params: { uri: "file:///a" } }, { id: 10, result: {} }),
      ...through({ id: 11, method: "logging/setLevel", params: { level: "debug" } }, { id: 11, result: {} }),
      ...through({ id: 12, method: "ping" }, { id: 12, result: {} }),
      ...through({ id: 13, method: "vendor/thing", params: { a: 1 } }, { id: 13, result: { b: 2 } }),
      // What the server does not list is answered in its place, in the words of the protocol.
      { client: ">>", message: { id: 14, method: "tools/call", params: { name: "nope", arguments: {} } } },
      { client: "<<", message: { id: 14, error: { code: -32602, message: "Unknown tool: nope" } } },
      ...through({ id: 15, method: "resources/unsubscribe", params: { uri: "file:///a" } }, { id: 15, result: {} }),
    ]);
  });

  it("what a server sends on its own passes: progress, log text, questions, changes", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    const withToken = { ...call, params: { ...call.params, _meta: { progressToken: 77 } } };
    const down = (message: Record<string, unknown>): Line[] => [
      { server: ">>", message: message as never },
      { client: "<<", message },
    ];
    const up = (message: Record<string, unknown>): Line[] => [
      { client: ">>", message: message as never },
      { server: "<<", message },
    ];
    await play(stage, [
      ...opening,
      ...through({ id: 8, method: "resources/subscribe", params: { uri: "file:///a" } }, { id: 8, result: {} }),
      ...up(withToken),
      ...down({ method: "notifications/progress", params: { progressToken: 77, progress: 1, total: 2 } }),
      ...down({ method: "notifications/progress", params: { progressToken: 77, progress: 2, message: "half" } }),
      ...down({ method: "notifications/message", params: { level: "info", data: "text" } }),
      ...down({
        id: "e1",
        method: "elicitation/create",
        params: { message: "name?", requestedSchema: { type: "object" } },
      }),
      ...up({ id: "e1", result: { action: "accept", content: { name: "bob" } } }),
      ...down({ id: 0, method: "sampling/createMessage", params: { messages: [], maxTokens: 5 } }),
      ...up({ id: 0, result: { role: "assistant", model: "m", content: { type: "text", text: "t" } } }),
      ...down({ id: 1, method: "roots/list" }),
      ...up({ id: 1, result: { roots: [{ uri: "file:///home" }] } }),
      ...down({ id: 2, method: "ping" }),
      ...up({ id: 2, result: {} }),
      ...down({ method: "notifications/tools/list_changed" }),
      ...down({ method: "notifications/resources/updated", params: { uri: "file:///a" } }),
      ...down(result),
    ]);
    expect(stage.log.events().find((event) => event.kind === "registered")).toMatchObject({
      text: { source: "operator", value: ["file:///home"] },
    });
  });
});
