// Labels that a server puts on its results: they restrict what may be done with them, and loosen nothing.
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { Conversation } from "../kit/gateway/real-policy.ts";

const policy = (output: string): string => `
lattice: {confidentiality: [public, private], groups: [me, anyone]}
flow: {mode: strict}
labels:
  box.read: {effects: [read.local], output: ${output}}
  mail.send: {effects: [write.external], args: {body: {role: content, sink: true, audience: [anyone]}}}
rules:
  - {id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}
  - {id: R, tier: block, when: {tool: mail.send, data: {confidentiality: private}}, why: "private stays"}
`;
const tools = { box: ["read"], mail: ["send"] };
const result = (meta: JsonObject): JsonObject => ({ content: [{ type: "text", text: "figures" }], _meta: meta });
const own = { "io.github.sluicegate/labels": { confidentiality: "private" } };
const open = "{confidentiality: [public, private], trust: trusted}";

describe("D28: labels in the _meta of a result", () => {
  it.each([
    ["ours", own],
    ["ifc", { ifc: { confidentiality: "private" } }],
  ])("%s: a result that says it is private does not leave", async (_, meta) => {
    const talk = new Conversation(policy(open), tools);
    talk.answer = () => result(meta);
    await talk.call("box.read");
    const sent = await talk.call("mail.send", { body: "figures" });
    expect(sent).toMatchObject({
      refused: true,
      text: expect.stringMatching(/^Not executed: `body` would carry private/),
    });
    expect(talk.reached).toEqual(["box.read"]);
  });

  it("a result that says more than the labels of its tool allow is stopped, and nothing of it is held", async () => {
    const talk = new Conversation(policy("{confidentiality: public, trust: trusted}"), tools);
    talk.answer = () => result(own);
    expect((await talk.call("box.read")).text).not.toContain("figures");
    expect(await talk.call("mail.send", { body: "hello" })).toMatchObject({ refused: false });
  });

  it("a result that says it is public is as restricted as its tool", async () => {
    const talk = new Conversation(policy("{confidentiality: private, trust: trusted}"), tools);
    talk.answer = () => result({ "io.github.sluicegate/labels": { confidentiality: "public", trust: "trusted" } });
    await talk.call("box.read");
    expect((await talk.call("mail.send", { body: "figures" })).refused).toBe(true);
  });
});
