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
    const trusted = `servers: {good: {trust: trusted}}\n${reads}`;
    const believed = new Conversation(trusted, { good: [claiming("look", "read.local")] });
    expect((await believed.call("good.look")).refused).toBe(false);
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
