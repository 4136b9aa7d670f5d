// A legacy server that modern clients of one user share asks without saying for which of its calls.
import { describe, expect, it } from "vitest";
import { fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { type FakeClient, plain, Stage } from "../../../test/kit/gateway/playbook.ts";
import type { JsonObject } from "../../core/json.ts";

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};
const tools = [{ name: "read_secret", inputSchema: { type: "object" } }];
const shaken = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };
const question = {
  id: 9,
  method: "elicitation/create",
  params: { message: "Is 4711 the salary?", requestedSchema: { type: "object", properties: {} } },
};

/** Answers what the server is asked beside tool calls, until nothing more comes; gives the calls. */
async function served(stage: Stage, lists = true): Promise<readonly JsonObject[]> {
  const calls: JsonObject[] = [];
  for (let turn = 0; turn < 6; turn += 1) {
    await stage.settle();
    for (const message of stage.server.got.splice(0).map(plain)) {
      const { id = null, method } = message;
      if (method === "server/discover") stage.server.say({ id, error: { code: -32601, message: "no" } });
      else if (method === "initialize") stage.server.say({ id, result: shaken });
      else if (method === "tools/list" && lists) stage.server.say({ id, result: { tools } });
      else if (method !== "notifications/initialized") calls.push(message);
    }
  }
  return calls;
}

/** A client of a run of its own whose call is with the server. */
async function calling(stage: Stage): Promise<{ readonly client: FakeClient; readonly run: string }> {
  const minted = await stage.gateway.beginRun({ principal: "os:1000", urlBase: "" });
  if (!minted.ok) throw new Error(minted.error);
  const { run, token } = minted.value;
  return { client: await callingAs(stage, token), run };
}

async function callingAs(stage: Stage, runToken: string): Promise<FakeClient> {
  const client = stage.connect({ runToken });
  client.say({ id: 1, method: "tools/call", params: { _meta, name: "read_secret", arguments: {} } });
  expect(await served(stage)).toMatchObject([{ method: "tools/call" }]);
  return client;
}

/** Runs share the connection to a remote server; of a local one each has its own process. */
const remote = { kind: "http", url: "http://files.example/mcp", flavour: "auto", headers: {} } as const;
const shared = (): Stage =>
  new Stage({
    policy: fakePolicy(),
    facts: { transport: "http", process: undefined } as never,
    setup: { servers: [{ name: "files", target: () => remote }] },
  });

/** Runs in which the refusal is on record. */
function refusedIn(stage: Stage): readonly string[] {
  return stage.log.entries.flatMap(({ run, events }) =>
    events.some((event) => event.kind === "released" && event.codes?.includes("SG-QUESTION-UNPLACED")) ? [run] : [],
  );
}

describe("a question without a reference", () => {
  it("is put to nobody while calls of two runs are open, and is on record in both", async () => {
    const stage = shared();
    const one = await calling(stage);
    const two = await calling(stage);
    stage.server.say(question);
    await stage.settle();
    expect([one.client, two.client].flatMap(({ got }) => got.map(plain))).toEqual([]);
    const [answer] = stage.server.got.splice(0).map(plain);
    expect(answer).toMatchObject({ id: 9, error: { code: -32010, data: { decision: "SG-QUESTION-UNPLACED" } } });
    expect(JSON.stringify(answer)).toMatch(/"message":"[^"]{1,240}"/);
    expect(refusedIn(stage)).toEqual([one.run, two.run]);
    expect(stage.log.events().filter((event) => event.kind === "released" && event.how === "pass")).toEqual([]);
  });

  it("counts a call that waits for the answer to its question as open", async () => {
    const stage = shared();
    await calling(stage);
    stage.server.say(question);
    await stage.settle();
    const two = await calling(stage);
    stage.server.say({ ...question, id: 10 });
    await stage.settle();
    expect(two.client.got.map(plain)).toEqual([]);
    expect(stage.server.got.map(plain)).toMatchObject([{ id: 10, error: { code: -32010 } }]);
  });

  it("goes to the latest call where all open ones are of one run", async () => {
    const stage = shared();
    const minted = await stage.gateway.beginRun({ principal: "os:1000", urlBase: "" });
    const token = minted.ok ? minted.value.token : "";
    const [one, two] = [await callingAs(stage, token), await callingAs(stage, token)];
    stage.server.say(question);
    await stage.settle();
    expect(one.got.map(plain)).toEqual([]);
    expect(two.got.map(plain)).toMatchObject([{ id: 1, result: { resultType: "input_required" } }]);
    expect(refusedIn(stage)).toEqual([]);
  });

  it("goes to the one run that is left when the call of the other has ended", async () => {
    const stage = shared();
    const one = await calling(stage);
    const two = await calling(stage);
    stage.server.say({ id: 3, result: { content: [] } });
    await stage.settle();
    const ended = [one, two].filter(({ client }) => client.got.splice(0).length > 0);
    expect(ended).toHaveLength(1);
    stage.server.say(question);
    await stage.settle();
    const left = [one, two].find((each) => each !== ended[0]);
    expect(left?.client.got.map(plain)).toMatchObject([{ id: 1, result: { resultType: "input_required" } }]);
  });

  it("with the stream of its call goes to that call, whatever is open beside it", async () => {
    const stage = shared();
    const one = await calling(stage);
    await calling(stage);
    stage.server.say(question, 2);
    stage.server.say({ ...question, id: 10 }, 99);
    await stage.settle();
    expect(stage.server.got.map(plain)).toMatchObject([{ id: 10, error: { code: -32601 } }]);
    expect(one.client.got.map(plain)).toMatchObject([{ result: { resultType: "input_required" } }]);
  });

  it("is never put to a list that the gateway itself asks for, where nobody could answer it", async () => {
    const stage = shared();
    stage.client.say({ id: 1, method: "tools/call", params: { _meta, name: "read_secret", arguments: {} } });
    expect(await served(stage, false)).toMatchObject([{ method: "tools/list" }]);
    stage.server.say(question);
    await stage.settle();
    expect(stage.server.got.map(plain)).toMatchObject([{ id: 9, error: { code: -32601 } }]);
  });
});
