import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import { fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { type Line, plain, play, Stage } from "../../../test/kit/gateway/playbook.ts";
import { policyOf } from "../../../test/kit/gateway/real-policy.ts";

const ping: Line[] = [
  { client: ">>", message: { id: "p", method: "ping" } },
  { server: "<<", message: { id: "p", method: "ping" } },
  { server: ">>", message: { id: "p", result: {} } },
  { client: "<<", message: { id: "p", result: {} } },
];
const form = (message: string, properties: JsonObject = { value: { type: "string" } }) => ({
  message,
  requestedSchema: { type: "object", properties },
});
const keyForm = form("Please enter your API key");
const ask = (params: JsonObject, id = 5) => ({ id, method: "elicitation/create", params });
const named = (params: JsonObject & { readonly message: string }, server = "files") => ({
  ...params,
  message: `The server \`${server}\` asks:\n${params.message}`,
});
const refused = (id: number) => expect.objectContaining({ id, error: expect.objectContaining({ code: -32010 }) });
const stageFor = (mode: "enforce" | "observe" = "enforce") =>
  new Stage({ policy: fakePolicy([], { questions: "named", settings: { mode } }) });

describe("a question of a server", () => {
  it("is shown with the server's name, and its answer goes back", async () => {
    await play(stageFor(), [
      ...ping,
      { server: ">>", message: ask(form("Sluicegate asks: go on?")) },
      { client: "<<", message: ask(named(form("Sluicegate asks: go on?"))) },
      { client: ">>", message: { id: 5, result: { action: "accept", content: { value: "yes" } } } },
      { server: "<<", message: { id: 5, result: { action: "accept", content: { value: "yes" } } } },
    ]);
  });

  it("by URL is shown with the server's name too, and may speak of keys", async () => {
    const params = { mode: "url", elicitationId: "e", url: "https://x.com/key", message: "Enter your API key there" };
    await play(stageFor(), [
      ...ping,
      { server: ">>", message: ask(params) },
      { client: "<<", message: ask(named(params)) },
    ]);
  });

  it("that wants a secret in a form is refused, told to people and put on record", async () => {
    const stage = stageFor();
    await play(stage, [
      ...ping,
      { server: ">>", message: ask(keyForm) },
      { server: "<<", message: refused(5) },
      { server: ">>", message: ask(form("One thing more", { github_token: { type: "string" } }), 6) },
      { server: "<<", message: refused(6) },
    ]);
    expect(stage.notices[0]).toBe("`files` asked for a secret in a form (api_key_request), which was refused.");
    const released = stage.log.events().filter(({ kind }) => kind === "released");
    expect(released).toMatchObject([
      { how: "reject", server: "files", codes: ["SG-API-KEY-REQUEST"] },
      { how: "reject", codes: ["SG-API-KEY-REQUEST"] },
    ]);
  });

  it("in observe mode passes as it is, and people are told what would have been", async () => {
    const stage = stageFor("observe");
    await play(stage, [...ping, { server: ">>", message: ask(keyForm) }, { client: "<<", message: ask(keyForm) }]);
    expect(stage.notices).toEqual([
      "`files` asked for a secret in a form (api_key_request), which would have been refused.",
    ]);
  });

  it("passes byte for byte where a rule lets the server's questions pass", async () => {
    const stage = new Stage({ policy: fakePolicy() });
    await play(stage, ping);
    const bytes =
      '{"params":{"message":"your API key?","n":1.50,"requestedSchema":{"type":"object"}},"method":"elicitation/create","id":5,"jsonrpc":"2.0"}';
    stage.server.say(bytes);
    await stage.settle();
    expect(stage.client.got).toHaveLength(1);
    expect(stage.client.got[0]?.raw).toBeDefined();
    expect(stage.notices).toEqual([]);
  });
});

describe("whose questions pass as they are", () => {
  it("those of servers that a rule of the policy lets ask", () => {
    const rules = (tool: string) => `rules: [{id: R, tier: allow, why: w, when: {tool: "${tool}"}}]`;
    const passes = (text: string) => policyOf(text).permitsQuestions("files");
    expect([passes(""), passes(rules("*")), passes(rules("files.elicitation/create"))]).toEqual([false, true, true]);
  });
});

describe("questions inside a result", () => {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
  };
  const listing = { id: "l", method: "tools/list", params: { _meta } };
  const tools = {
    id: "l",
    result: { resultType: "complete", tools: [{ name: "t", inputSchema: { type: "object" } }] },
  };
  const call = { id: 1, method: "tools/call", params: { _meta, name: "t", arguments: {} } };
  const asking = (inputRequests: JsonObject) => ({
    id: 1,
    result: { resultType: "input_required", requestState: "s", inputRequests },
  });
  const discover = { id: "d", method: "server/discover", params: { _meta } };
  const discovered = {
    id: "d",
    result: { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} },
  };
  const opening: Line[] = [
    { client: ">>", message: discover },
    { server: "<<", message: discover },
    { server: ">>", message: discovered },
    { client: "<<", message: discovered },
    { client: ">>", message: listing },
    { server: "<<", message: listing },
    { server: ">>", message: tools },
    { client: "<<", message: expect.objectContaining({ id: "l" }) },
    { client: ">>", message: call },
    { server: "<<", message: call },
  ];
  const roots = { method: "roots/list" };

  it("are shown with the server's name; others stay as they are", async () => {
    const who = (params: JsonObject) => ({ who: { method: "elicitation/create", params }, roots });
    await play(stageFor(), [
      ...opening,
      { server: ">>", message: asking(who(form("Who?"))) },
      { client: "<<", message: asking(who(named(form("Who?")))) },
    ]);
  });

  it("end the call where one of them wants a secret", async () => {
    const stage = stageFor();
    await play(stage, [
      ...opening,
      { server: ">>", message: asking({ roots, key: { method: "elicitation/create", params: keyForm } }) },
      {
        client: "<<",
        message: expect.objectContaining({
          result: expect.objectContaining({
            isError: true,
            content: [{ type: "text", text: expect.stringContaining("asked for a secret") }],
          }),
        }),
      },
    ]);
    expect(stage.log.events().at(-1)).toMatchObject({ kind: "unknown" });
  });
});

describe("questions beside a result", () => {
  const list = { id: "l", method: "tools/list" };
  const tools = { id: "l", result: { tools: [{ name: "t", inputSchema: { type: "object" } }] } };
  const through = (request: JsonObject, answer: JsonObject, shown: unknown = answer): Line[] => [
    { client: ">>", message: request },
    { server: "<<", message: request },
    { server: ">>", message: answer },
    { client: "<<", message: shown },
  ];

  it("URLs in an error are shown with the server's name", async () => {
    const url = { mode: "url", elicitationId: "e", url: "https://x.com", message: "Sign in" };
    const error = (elicitations: readonly JsonObject[]) => ({
      id: 1,
      error: { code: -32042, message: "URL elicitation required", data: { elicitations: [...elicitations] } },
    });
    const call = { id: 1, method: "tools/call", params: { name: "t", arguments: {} } };
    await play(stageFor(), [...through(list, tools), ...through(call, error([url]), error([named(url)]))]);
  });

  it("of a task are named, and refused where they want a secret", async () => {
    const stage = stageFor();
    const call = { id: 1, method: "tools/call", params: { name: "t", arguments: {}, task: {} } };
    const get = (id: number) => ({ id, method: "tasks/get", params: { taskId: "t1" } });
    const state = (id: number, params: JsonObject) => ({
      id,
      result: {
        taskId: "t1",
        status: "input_required",
        inputRequests: { who: { method: "elicitation/create", params } },
      },
    });
    await play(stage, [
      ...through(list, tools),
      ...through(call, { id: 1, result: { task: { taskId: "t1", status: "working" } } }),
      ...through(get(2), state(2, form("Who?")), state(2, named(form("Who?")))),
      ...through(get(3), state(3, keyForm), refused(3)),
    ]);
    expect(stage.notices).toHaveLength(1);
  });

  it("a name that is long or hides characters is shown as such", async () => {
    const server = `s\u202E${"x".repeat(90)}`;
    const stage = new Stage({
      policy: fakePolicy([], { questions: "named" }),
      servers: [server],
      facts: { server },
    });
    await play(stage, ping);
    stage.server.say(ask(form("Who?")));
    await stage.settle();
    const question = stage.client.got.map(plain).at(-1);
    expect(question).toMatchObject({ params: named(form("Who?"), `s\\u{202e}${"x".repeat(55)}`) });
  });
});
