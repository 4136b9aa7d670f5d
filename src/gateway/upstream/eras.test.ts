import { describe, expect, it } from "vitest";
import { fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { type Line, play, Stage } from "../../../test/kit/gateway/playbook.ts";

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};
const discover = { id: "d", method: "server/discover", params: { _meta } };
const tools = [{ name: "read_file", inputSchema: { type: "object" } }];
const initialized = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: { listChanged: true }, logging: {} },
  serverInfo: { name: "old", version: "1" },
};
const any = expect.anything();
const own = expect.stringMatching(/^sluicegate/);

/** A modern client meets a legacy server: `server/discover` is refused, the gateway shakes hands itself. */
const handshake: Line[] = [
  { client: ">>", message: discover },
  { server: "<<", message: discover },
  { server: ">>", message: { id: "d", error: { code: -32601, message: "Method not found" } } },
  {
    server: "<<",
    message: {
      id: "sluicegate-era:1",
      method: "initialize",
      params: expect.objectContaining({ protocolVersion: "2025-11-25" }),
    },
  },
  { server: ">>", message: { id: "sluicegate-era:1", result: initialized } },
  { server: "<<", message: { method: "notifications/initialized" } },
  {
    client: "<<",
    message: {
      id: "d",
      result: expect.objectContaining({ resultType: "complete", supportedVersions: ["2026-07-28"] }),
    },
  },
  { client: ">>", message: { id: 1, method: "tools/list", params: { _meta } } },
  { server: "<<", message: { id: 1, method: "tools/list" } },
  { server: ">>", message: { id: 1, result: { tools } } },
  { client: "<<", message: { id: 1, result: { resultType: "complete", tools, ttlMs: 0, cacheScope: "private" } } },
];
const modernCall = (id: number, more = {}) => ({
  id,
  method: "tools/call",
  params: { _meta, name: "read_file", arguments: { path: "/a" }, ...more },
});

describe("a legacy server behind a modern client", () => {
  it("the gateway holds the session; calls and results are translated", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    await play(stage, [
      ...handshake,
      { client: ">>", message: modernCall(2) },
      {
        server: "<<",
        message: { id: 2, method: "tools/call", params: { name: "read_file", arguments: { path: "/a" } } },
      },
      { server: ">>", message: { id: 2, result: { content: [] } } },
      { client: "<<", message: { id: 2, result: { resultType: "complete", content: [] } } },
    ]);
  });

  it("its questions end the request with `input_required`; the repeated request answers them and gets the result", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    const question = {
      id: 9,
      method: "elicitation/create",
      params: { message: "name?", requestedSchema: { type: "object" } },
    };
    await play(stage, [
      ...handshake,
      { client: ">>", message: modernCall(2) },
      {
        server: "<<",
        message: { id: 2, method: "tools/call", params: { name: "read_file", arguments: { path: "/a" } } },
      },
      { server: ">>", message: question },
      {
        client: "<<",
        message: {
          id: 2,
          result: {
            resultType: "input_required",
            inputRequests: { "question-9": { method: "elicitation/create", params: question.params } },
            requestState: "sluicegate-era:2",
          },
        },
      },
      {
        client: ">>",
        message: modernCall(3, {
          requestState: "sluicegate-era:2",
          inputResponses: { "question-9": { action: "accept", content: { name: "bob" } } },
        }),
      },
      { server: "<<", message: { id: 9, result: { action: "accept", content: { name: "bob" } } } },
      { server: ">>", message: { id: 2, result: { content: [{ type: "text", text: "bob" }] } } },
      {
        client: "<<",
        message: { id: 3, result: { resultType: "complete", content: [{ type: "text", text: "bob" }] } },
      },
    ]);
    // One call on record, and the answer as a send of its own.
    expect(stage.log.events().filter(({ kind }) => kind === "dispatched")).toHaveLength(2);
    expect(stage.log.events().filter(({ kind }) => kind === "succeeded")).toHaveLength(1);
  });

  it("no answer goes to another question than its own, though ids look alike or come twice", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    const ask = (id: number | string, message: string) => {
      const params = { message, requestedSchema: { type: "object" } };
      return { id, method: "elicitation/create", params };
    };
    const shown = (key: string, { method, params }: ReturnType<typeof ask>, requestState: string) => ({
      result: { resultType: "input_required", inputRequests: { [key]: { method, params } }, requestState },
    });
    const accept = (name: string) => ({ action: "accept", content: { name } });
    await play(stage, [
      ...handshake,
      { client: ">>", message: modernCall(2) },
      { server: "<<", message: { id: 2, method: "tools/call", params: any } },
      { server: ">>", message: ask(1, "name?") },
      { client: "<<", message: { id: 2, ...shown("question-1", ask(1, "name?"), "sluicegate-era:2") } },
      { server: ">>", message: ask("1", "town?") },
      { server: ">>", message: ask(1, "again?") },
      { server: "<<", message: { id: 1, error: { code: -32600, message: "A question has this id already." } } },
      {
        client: ">>",
        message: modernCall(3, { requestState: "sluicegate-era:2", inputResponses: { "question-1": accept("bob") } }),
      },
      { server: "<<", message: { id: 1, result: accept("bob") } },
      { client: "<<", message: { id: 3, ...shown('question-"1"', ask("1", "town?"), "sluicegate-era:3") } },
      {
        client: ">>",
        message: modernCall(4, { requestState: "sluicegate-era:3", inputResponses: { 'question-"1"': accept("ulm") } }),
      },
      { server: "<<", message: { id: "1", result: accept("ulm") } },
    ]);
  });

  it("the state of one call's question brings no other call that one's result", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    const question = { id: 9, method: "elicitation/create", params: { message: "name?", requestedSchema: {} } };
    const retry = { requestState: "sluicegate-era:2", inputResponses: { "question-9": { action: "accept" } } };
    await play(stage, [
      ...handshake,
      { client: ">>", message: modernCall(2) },
      { server: "<<", message: { id: 2, method: "tools/call", params: any } },
      { server: ">>", message: question },
      { client: "<<", message: { id: 2, result: any } },
      { client: ">>", message: modernCall(3, { ...retry, arguments: { path: "/public" } }) },
      { client: "<<", message: { id: 3, error: { code: -32600, message: expect.stringContaining("no longer open") } } },
      { client: ">>", message: modernCall(4, retry) },
      { server: "<<", message: { id: 9, result: { action: "accept" } } },
    ]);
  });

  it("changes go to the stream that asked for them", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    const notifications = { toolsListChanged: true };
    const stamped = { "io.modelcontextprotocol/subscriptionId": 5 };
    await play(stage, [
      ...handshake,
      { client: ">>", message: { id: 5, method: "subscriptions/listen", params: { _meta, notifications } } },
      {
        client: "<<",
        message: { method: "notifications/subscriptions/acknowledged", params: { notifications, _meta: stamped } },
      },
      { server: ">>", message: { method: "notifications/tools/list_changed" } },
      { client: "<<", message: { method: "notifications/tools/list_changed", params: { _meta: stamped } } },
    ]);
  });
});

describe("a modern server behind a legacy client", () => {
  const start: Line[] = [
    {
      client: ">>",
      message: {
        id: 0,
        method: "initialize",
        params: {
          protocolVersion: "2025-11-25",
          capabilities: { elicitation: {} },
          clientInfo: { name: "c", version: "1" },
        },
      },
    },
    { server: "<<", message: expect.objectContaining({ method: "initialize" }) },
    { server: ">>", message: { id: 0, error: { code: -32022, message: "Unsupported protocol version" } } },
    { server: "<<", message: { id: "sluicegate-era:1", method: "server/discover", params: { _meta: any } } },
    {
      server: ">>",
      message: {
        id: "sluicegate-era:1",
        result: { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
      },
    },
    {
      client: "<<",
      message: {
        id: 0,
        result: expect.objectContaining({ protocolVersion: "2025-11-25", capabilities: { tools: {} } }),
      },
    },
    { client: ">>", message: { method: "notifications/initialized" } },
    { client: ">>", message: { id: 1, method: "tools/list" } },
    { server: "<<", message: { id: 1, method: "tools/list", params: { _meta: any } } },
    { server: ">>", message: { id: 1, result: { resultType: "complete", tools, ttlMs: 5, cacheScope: "public" } } },
    { client: "<<", message: { id: 1, result: { tools } } },
  ];
  const call = { id: 2, method: "tools/call", params: { name: "read_file", arguments: {} } };

  it("questions inside a result are requests to the client, and their answers repeat the call", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    const params = { message: "name?", requestedSchema: { type: "object" } };
    await play(stage, [
      ...start,
      { client: ">>", message: call },
      {
        server: "<<",
        message: { id: 2, method: "tools/call", params: { name: "read_file", arguments: {}, _meta: any } },
      },
      {
        server: ">>",
        message: {
          id: 2,
          result: {
            resultType: "input_required",
            inputRequests: { q: { method: "elicitation/create", params } },
            requestState: "s",
          },
        },
      },
      { client: "<<", message: { id: own, method: "elicitation/create", params } },
      { client: ">>", message: { id: "sluicegate-era:2", result: { action: "accept", content: { name: "bob" } } } },
      {
        server: "<<",
        message: {
          id: own,
          method: "tools/call",
          params: expect.objectContaining({
            requestState: "s",
            inputResponses: { q: { action: "accept", content: { name: "bob" } } },
          }),
        },
      },
      { server: ">>", message: { id: "sluicegate-era:4", result: { resultType: "complete", content: [] } } },
      { client: "<<", message: { id: 2, result: { content: [] } } },
    ]);
  });

  it("ping, log level and subscriptions are the gateway's", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    await play(stage, [
      ...start,
      { client: ">>", message: { id: 3, method: "ping" } },
      { client: "<<", message: { id: 3, result: {} } },
      { client: ">>", message: { id: 4, method: "logging/setLevel", params: { level: "info" } } },
      { client: "<<", message: { id: 4, result: {} } },
      { client: ">>", message: { id: 5, method: "resources/subscribe", params: { uri: "file:///a" } } },
      {
        server: "<<",
        message: {
          id: own,
          method: "subscriptions/listen",
          params: { _meta: any, notifications: { resourceSubscriptions: ["file:///a"] } },
        },
      },
      { client: "<<", message: { id: 5, result: {} } },
      {
        server: ">>",
        message: {
          method: "notifications/resources/updated",
          params: { uri: "file:///a", _meta: { "io.modelcontextprotocol/subscriptionId": "sluicegate-era:2" } },
        },
      },
      { client: "<<", message: { method: "notifications/resources/updated", params: { uri: "file:///a" } } },
    ]);
  });
});

describe("modern clients over HTTP", () => {
  it("share one connection: ids and progress tokens are ours below, and the clients' own above", async () => {
    const stage = new Stage({ policy: fakePolicy(), facts: { transport: "http", process: undefined } as never });
    await play(stage, [
      { client: ">>", message: discover },
      { server: "<<", message: { ...discover, id: 1 } },
      {
        server: ">>",
        message: { id: 1, result: { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} } },
      },
      { client: "<<", message: any },
    ]);
    const second = stage.connect();
    const progress = { ..._meta, progressToken: "mine" };
    const call = { id: "d", method: "tools/call", params: { _meta: progress, name: "read_file", arguments: {} } };
    await play(
      stage,
      [
        { client: ">>", message: { id: 1, method: "tools/list", params: { _meta } } },
        { server: "<<", message: { id: 2, method: "tools/list", params: { _meta } } },
        { server: ">>", message: { id: 2, result: { resultType: "complete", tools } } },
        { client: "<<", message: { id: 1, result: { resultType: "complete", tools } } },
        { client: ">>", message: call },
        {
          server: "<<",
          message: { ...call, id: 3, params: { ...call.params, _meta: { ..._meta, progressToken: 3 } } },
        },
        { server: ">>", message: { method: "notifications/progress", params: { progressToken: 3, progress: 1 } } },
        { client: "<<", message: { method: "notifications/progress", params: { progressToken: "mine", progress: 1 } } },
        { server: ">>", message: { id: 3, result: { resultType: "complete", content: [] } } },
        { client: "<<", message: { id: "d", result: { resultType: "complete", content: [] } } },
      ],
      second,
    );
    expect(stage.servers).toHaveLength(1);
  });
});
