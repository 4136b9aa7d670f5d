// What an untrusted server says of its own tools restricts them, and permits nothing.
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { Conversation } from "../kit/gateway/real-policy.ts";

const claiming = (name: string, effects: string): JsonObject => ({
  name,
  _meta: { "io.github.sluicegate/labels": { version: 1, effects: [effects] } },
});
const sending = `labels: {post.send: {effects: write.external.send, args: {text: {role: content}}}}\n`;

describe("a tool of which only its server says what it does", () => {
  it("is not allowed by a rule for what it says that it does", async () => {
    const reads = `rules: [{id: READS, tier: allow, when: {effect: read}, why: "reading is fine"}]\n`;
    const talk = new Conversation(reads, { evil: [claiming("grab", "read.local")] });
    expect((await talk.call("evil.grab", { to: "eve" })).refused).toBe(true);
    expect(talk.reached).toEqual([]);
    // Nor of a server that the operator trusts: that lets its names and hints narrow what it may do, and no label.
    const trusted = `servers: {good: {trust: trusted}}\n${reads}`;
    const believed = new Conversation(trusted, { good: [claiming("grab", "read.local")] });
    expect((await believed.call("good.grab")).refused).toBe(true);
    const labelled = `labels: {good.grab: {effects: read.local}}\n${trusted}`;
    const told = new Conversation(labelled, { good: [claiming("grab", "read.local")] });
    expect((await told.call("good.grab")).refused).toBe(false);
  });

  it("meets no condition of a gate, although it may be called", async () => {
    const gated = `${sending}rules:
  - {id: ANY, tier: allow, when: {tool: "*"}, why: "all may be called"}
  - {id: G, tier: must, gate: {before: post.send, need: {effect: write.local}}, why: "saved first"}
`;
    const talk = new Conversation(gated, { evil: [claiming("save", "write.local")], post: ["send"] });
    expect((await talk.call("evil.save")).refused).toBe(false);
    expect((await talk.call("post.send", { text: "x" })).refused).toBe(true);
    expect(talk.reached).toEqual(["evil.save"]);
  });

  it("is stopped for certain by a rule against what it says", async () => {
    const stops = `rules: [{id: NO, tier: block, when: {effect: write.local.delete}, why: "nothing is deleted"}]\n`;
    const talk = new Conversation(stops, { evil: [claiming("wipe", "write.local.delete")] });
    expect((await talk.call("evil.wipe")).text).toContain("nothing is deleted");
  });
});

describe("D28: labels that a server puts on its own tools", () => {
  const rules = `rules:
  - {id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}
  - {id: R, tier: block, when: {tool: post.send, data: {confidentiality: private}}, why: "private stays"}
`;
  const policy = (trust: string): string => `
lattice: {confidentiality: [public, private], groups: [me, anyone]}
flow: {mode: strict}
servers: {box: {trust: ${trust}}}
labels: {post.send: {effects: write.external, args: {body: {role: content, sink: true, audience: [anyone]}}}}
${rules}`;
  const output = (confidentiality: string): JsonObject => ({
    name: "read",
    annotations: { readOnlyHint: true },
    _meta: { "io.github.sluicegate/labels": { output: { confidentiality, trust: "trusted" } } },
  });

  it.each(["trusted", "untrusted"])("of a server that is %s, restrict and permit nothing", async (trust) => {
    const leaves = async (confidentiality: string): Promise<string> => {
      const talk = new Conversation(policy(trust), { box: [output(confidentiality)], post: ["send"] });
      await talk.call("box.read");
      return (await talk.call("post.send", { body: "figures" })).text;
    };
    expect(await leaves("private")).toMatch(/^Not executed: `body` would carry private/);
    // What the server calls public may be anything, so the rule may hold.
    expect(await leaves("public")).toMatch(/`body` may carry/);
  });

  it.each(["trusted", "untrusted"])("a bound in the schema of a server that is %s holds", async (trust) => {
    const tool = (property: JsonObject): JsonObject => ({
      name: "put",
      inputSchema: { type: "object", properties: { body: property } },
    });
    const text = `
lattice: {confidentiality: [public, private], groups: [me, anyone]}
flow: {mode: provenance}
servers: {desk: {trust: ${trust}, operator: me}}
stores: {own: {audience: me}}
labels:
  files.read: {effects: [read.local], output: {confidentiality: private, trust: trusted}}
  desk.put: {effects: [write.external.publish], writes: own}
`;
    const sent = async (property: JsonObject): Promise<boolean> => {
      const talk = new Conversation(text, { files: ["read"], desk: [tool(property)] });
      talk.answer = () => ({ content: [{ type: "text", text: "the launch code is 7731-ALPHA" }] });
      await talk.call("files.read");
      return !(await talk.call("desk.put", { body: "the launch code is 7731-ALPHA" })).refused;
    };
    expect(await sent({ type: "string" })).toBe(true);
    expect(await sent({ type: "string", "x-sluicegate-bound": "public" })).toBe(false);
    expect(await sent({ type: "string", labels: { confidentiality: "public" } })).toBe(false);
    expect(await sent({ type: "string", "x-sluicegate-bound": "private" })).toBe(true);
  });
});

describe("a policy that admits declared labels alone", () => {
  const only = `admission: {labels: declared}\nrules: [{id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}]\n`;

  it("keeps a tool without labels in quarantine, and no other", async () => {
    const hinted: JsonObject = { name: "look", annotations: { readOnlyHint: true } };
    const labelled = `labels: {own.look: {effects: read.local}}\n${only}`;
    const talk = new Conversation(labelled, { plain: [hinted], own: [hinted], said: [claiming("look", "read.local")] });
    expect([await talk.list("plain"), await talk.list("own")]).toEqual([[], ["look"]]);
    expect((await talk.call("plain.look")).refused).toBe(true);
    expect((await talk.call("own.look")).refused).toBe(false);
    expect((await talk.call("said.look")).refused).toBe(false);
    expect(talk.reached).toEqual(["own.look", "said.look"]);
  });

  it("does not take the trust of a server for labels", async () => {
    const talk = new Conversation(`servers: {good: {trust: trusted}}\n${only}`, { good: [{ name: "get_time" }] });
    expect((await talk.call("good.get_time")).text).toContain("so it is in quarantine");
  });
});
