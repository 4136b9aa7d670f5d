// Two live runs and the state that they share: labels and audiences of stores (formal.md annex 13, example 7).
import { describe, expect, it } from "vitest";
import { FakeLog } from "../kit/gateway/fake-log.ts";
import { Conversation } from "../kit/gateway/real-policy.ts";

const policy = `
flow: {mode: strict}
lattice: {confidentiality: [public, private], groups: [me, anyone]}
stores: {"desk:notes": {audience: me}}
labels:
  desk.read_private: {effects: [read.local], output: {confidentiality: private, trust: trusted}}
  desk.write_note: {effects: [write.local], writes: [desk:notes]}
  desk.read_note: {effects: [read.local], reads: [desk:notes], output: {confidentiality: public, trust: trusted}}
  desk.open_notes: {effects: [write.local], opens: {store: "desk:notes", audience: anyone}}
  desk.send: {effects: [write.external.send], args: {text: {role: content}}}
hazards:
  H1: {consent: never, why: "secrets stay here", never: {flow: {from: {confidentiality: private}, to: {effect: write.external}}}}
rules:
  - {id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}
  - {id: R1, tier: block, when: {tool: desk.write_note, data: {confidentiality: private}, store: {name: "desk:notes", audience: anyone}}, why: "open notes hold nothing private"}
`;
const tools = { desk: ["read_private", "write_note", "read_note", "open_notes", "send"] };
const [first, second] = [7, 8];

describe("two live runs", () => {
  it("what one writes into a store labels the other's next read of it, and stops its next send", async () => {
    const talk = new Conversation(policy, tools);
    await talk.call("desk.read_note", {}, second);
    expect((await talk.call("desk.send", { text: "hello" }, second)).refused).toBe(false);
    await talk.call("desk.read_private", {}, first);
    await talk.call("desk.write_note", { text: "secret" }, first);
    await talk.call("desk.read_note", {}, second);
    expect((await talk.call("desk.send", { text: "hello" }, second)).refused).toBe(true);
  });

  it("the label has grown when the write was allowed, before the server has answered it", async () => {
    const talk = new Conversation(policy, tools);
    await talk.call("desk.read_note", {}, second);
    await talk.call("desk.read_private", {}, first);
    talk.answer = (tool) => (tool === "write_note" ? undefined : { content: [] });
    await talk.call("desk.write_note", { text: "secret" }, first);
    await talk.call("desk.read_note", {}, second);
    expect((await talk.call("desk.send", { text: "hello" }, second)).refused).toBe(true);
  });

  it("a store that one opens is open to the other's next decision", async () => {
    const talk = new Conversation(policy, tools);
    await talk.call("desk.read_private", {}, first);
    expect((await talk.call("desk.open_notes", {}, second)).refused).toBe(false);
    expect((await talk.call("desk.write_note", { text: "more" }, first)).refused).toBe(true);
  });

  it("a store in which one has put a secret is not opened by the other", async () => {
    const talk = new Conversation(policy, tools);
    await talk.call("desk.read_private", {}, first);
    expect((await talk.call("desk.write_note", { text: "secret" }, first)).refused).toBe(false);
    expect((await talk.call("desk.open_notes", {}, second)).text).toMatch(/^Not executed: `desk.open_notes` is hidden/);
  });

  it("labels held by one run are not held by the other: a clean run may still send", async () => {
    const talk = new Conversation(policy, tools);
    await talk.call("desk.read_private", {}, first);
    expect((await talk.call("desk.send", { text: "hello" }, first)).refused).toBe(true);
    expect((await talk.call("desk.send", { text: "hello" }, second)).refused).toBe(false);
  });

  it("the store keeps its label after both runs have ended, and over a restart", async () => {
    const log = new FakeLog();
    const before = new Conversation(policy, tools, { log });
    await before.call("desk.read_private", {}, first);
    await before.call("desk.write_note", { text: "secret" }, first);
    await before.end();
    const after = new Conversation(policy, tools, { log });
    await after.call("desk.read_note", {}, 9);
    expect((await after.call("desk.send", { text: "hello" }, 9)).refused).toBe(true);
  });
});
