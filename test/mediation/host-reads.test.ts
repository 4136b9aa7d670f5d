// What the client reads by itself passes no gateway, and still counts as held (formal.md 4.1, `host`).
import { describe, expect, it } from "vitest";
import { Conversation } from "../kit/gateway/real-policy.ts";

const policy = (mode: string, read: string): string => `
flow: {mode: ${mode}}
lattice: {confidentiality: [public, private], groups: [me, anyone]}
host: {read: ${read}}
stores: {"desk:notes": {audience: me, label: {confidentiality: public, trust: trusted}}}
labels:
  desk.read_private: {effects: [read.local], output: {confidentiality: private, trust: trusted}}
  desk.write_note: {effects: [write.local], args: {text: {role: content}}, writes: [desk:notes]}
  desk.send: {effects: [write.external.send], args: {text: {role: content}}, output: {confidentiality: public, trust: trusted}}
  desk.tell: {effects: [write.local]}
hazards:
  H1: {consent: never, why: "secrets stay here", never: {flow: {from: {confidentiality: private}, to: {effect: write.external}}}}
rules:
  - {id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}
  - {id: R1, tier: block, when: {tool: desk.tell, held: private}, why: "nobody tells what is private"}
`;
const tools = { desk: ["read_private", "write_note", "send", "tell"] };
const secret = "the code of the vault is 4711-ALPHA";

/** The agent reads the private text, notes it down, and another run of the same person begins. */
async function noted(mode: string, read: string): Promise<Conversation> {
  const talk = new Conversation(policy(mode, read), tools, {
    answer: (tool) => ({ content: tool === "read_private" ? [{ type: "text", text: secret }] : [] }),
  });
  await talk.call("desk.read_private", {}, 7);
  await talk.call("desk.write_note", { text: secret }, 7);
  return talk;
}

describe.each(["strict", "provenance"])("in the mode %s", (mode) => {
  it("a gated host has read nothing: another run may send", async () => {
    const talk = await noted(mode, "gated");
    expect((await talk.call("desk.send", { text: "hello there" }, 8)).refused).toBe(false);
    expect((await talk.call("desk.tell", {}, 8)).refused).toBe(false);
  });

  it("a host that reads the store by itself may have the note: what another run sends is stopped", async () => {
    const talk = await noted(mode, '{open: ["desk:notes"]}');
    expect((await talk.call("desk.send", { text: "hello there" }, 8)).refused).toBe(true);
    expect((await talk.call("desk.tell", {}, 8)).refused).toBe(true);
  });

  it("before anything private was noted the same host sends as it likes", async () => {
    const talk = new Conversation(policy(mode, '{open: ["desk:notes"]}'), tools);
    expect((await talk.call("desk.send", { text: "hello there" }, 8)).refused).toBe(false);
  });

  it("a host that reads everything may hold anything from the start", async () => {
    const talk = new Conversation(policy(mode, "open"), tools);
    expect((await talk.call("desk.send", { text: "hello there" }, 8)).refused).toBe(true);
  });
});
