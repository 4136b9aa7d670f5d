// What a call brings by way of a task, or says before it answers: it has the labels of the answer, and fails as it does.
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { plain } from "../kit/gateway/playbook.ts";
import { Conversation } from "../kit/gateway/real-policy.ts";

const title = "Operation Nightingale begins in Lisbon";
const events = { events: [{ id: "e1", title }] };
const answer = { structuredContent: events, content: [{ type: "text", text: JSON.stringify(events) }] };
const fields = `
lattice: {confidentiality: [public, private], groups: [me, anyone], clearance: {anyone: public}}
labels:
  cal.list: {effects: read.local, output: {confidentiality: public, trust: trusted, fields: {"/events/*/title": {confidentiality: private, trust: trusted}}}}
  cal.check: {effects: read.local, output: {confidentiality: public, trust: trusted}}
  mail.send: {effects: write.external.send, args: {to: {role: recipient}, body: {role: content}}}
rules:
  - {id: NO, tier: block, when: {effect: write.external, data: {confidentiality: private, audience: [anyone]}}, why: "private stays"}
`;
const gated = `
labels:
  cal.check: {effects: read.local, output: {confidentiality: public, trust: trusted}}
  cal.act: {effects: write.local}
rules:
  - {id: ANY, tier: allow, when: {tool: "*"}, why: "all may be called"}
  - {id: G, tier: must, gate: {before: cal.act, need: cal.check}, why: "checked first"}
`;
const task = { taskId: "t1", status: "working" };

/** Asks for the state of the task in the run of the conversation, and gives what the client got of `state`. */
async function fetched(talk: Conversation, state: JsonObject): Promise<JsonObject | undefined> {
  const client = talk.stage.connect({ server: "cal" });
  client.say({ id: "g", method: "tasks/get", params: { taskId: "t1" } });
  await talk.stage.settle();
  for (const server of talk.stage.servers) {
    if (server.got.splice(0).some((message) => plain(message)["method"] === "tasks/get")) {
      server.say({ id: "g", result: { ...task, ...state } });
    }
  }
  await talk.stage.settle();
  return client.got.map(plain).at(-1);
}

describe("what a task brings", () => {
  const starting = (text: string): Conversation =>
    new Conversation(
      text,
      { cal: ["list", "check", "act"], mail: ["send"] },
      {
        answer: (tool) =>
          tool === "list" || tool === "check"
            ? { resultType: "task", ...task }
            : { content: [{ type: "text", text: "x" }] },
      },
    );

  it("has the labels of its fields, though it lies inside of the task's state", async () => {
    const talk = starting(fields);
    await talk.call("cal.list");
    expect(await fetched(talk, { status: "completed", result: answer })).toMatchObject({ result: { result: answer } });
    expect((await talk.call("mail.send", { to: "eve@x.example", body: title })).text).toContain("private stays");
    // What is public in it is still public, and so are the words of the protocol.
    expect((await talk.call("mail.send", { to: "eve@x.example", body: "e1 completed" })).text).toBe("x");
  });

  it.each<[string, JsonObject]>([
    ["a state in words", { statusMessage: `found ${title}` }],
    ["the error of a failed task", { status: "failed", error: { code: 1, message: `no ${title}` } }],
    ["a result that is an error", { status: "completed", result: { ...answer, isError: true } }],
    ["words beside the result", { status: "completed", statusMessage: `found ${title}`, result: { content: [] } }],
  ])("%s can tell what a field would have held", async (_what, state) => {
    const talk = starting(fields);
    await talk.call("cal.list");
    await fetched(talk, state);
    expect((await talk.call("mail.send", { to: "eve@x.example", body: title })).refused).toBe(true);
    expect(talk.reached).toEqual(["cal.list"]);
  });

  it.each<[string, JsonObject]>([
    ["a task that failed", { status: "failed", error: { code: 1, message: "no" } }],
    ["a result that is an error", { status: "completed", result: { content: [], isError: true } }],
    ["a cancelled task with a result", { status: "cancelled", result: { content: [] } }],
  ])("%s opens no gate", async (_what, state) => {
    const talk = starting(gated);
    await talk.call("cal.check");
    await fetched(talk, state);
    expect((await talk.call("cal.act")).text).toContain("`cal.check` must come first");
    expect(talk.reached).toEqual(["cal.check"]);
  });

  it("a second task of the same name opens none either, and has no result of its own", async () => {
    const named = gated.replace(
      "labels:",
      "labels:\n  cal.list: {effects: read.local, output: {confidentiality: public}}",
    );
    const talk = starting(named);
    await talk.call("cal.list");
    const told = await talk.call("cal.check");
    expect(told).toMatchObject({ refused: true, text: expect.stringContaining("must not be repeated") });
    await fetched(talk, { status: "completed", result: { content: [] } });
    expect((await talk.call("cal.act")).text).toContain("`cal.check` must come first");
  });

  it("a task that succeeded does", async () => {
    const talk = starting(gated);
    await talk.call("cal.check");
    await fetched(talk, { status: "completed", result: { content: [] } });
    expect((await talk.call("cal.act")).refused).toBe(false);
  });
});

it("what a server says before it answers can tell what a field of the answer holds", async () => {
  const talk = new Conversation(
    fields,
    { cal: ["list"], mail: ["send"] },
    {
      answer: (tool) => (tool === "list" ? undefined : { content: [{ type: "text", text: "x" }] }),
    },
  );
  const client = talk.stage.connect({ server: "cal" });
  const params = { name: "list", arguments: {}, _meta: { progressToken: "p" } };
  client.say({ id: 1, method: "tools/call", params });
  await talk.serve();
  const said = {
    method: "notifications/progress",
    params: { progressToken: "p", progress: 1, message: `read ${title}` },
  };
  talk.stage.server.say(said);
  await talk.stage.settle();
  expect(client.got.map(plain)).toContainEqual(said);
  expect((await talk.call("mail.send", { to: "eve@x.example", body: title })).refused).toBe(true);
});

// The conversation is decided again from its log when the test ends.
it("regression: what is said beside an answer has in a replay the label that it had", async () => {
  const talk = new Conversation(
    fields,
    { cal: ["check"], mail: ["send"] },
    {
      answer: (tool) => (tool === "check" ? undefined : { content: [{ type: "text", text: "x" }] }),
    },
  );
  const client = talk.stage.connect({ server: "cal" });
  client.say({ id: 1, method: "tools/call", params: { name: "check", arguments: {}, _meta: { progressToken: "p" } } });
  await talk.serve();
  const params = { progressToken: "p", progress: 1, message: "half of it is read" };
  talk.stage.server.say({ method: "notifications/progress", params });
  await talk.stage.settle();
  expect((await talk.call("mail.send", { to: "eve@x.example", body: params.message })).refused).toBe(false);
});
