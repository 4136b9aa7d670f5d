// Counters, budgets, keys, timers and hazards, through the gateway, under the real policy engine (formal.md 4.3).
import { describe, expect, it } from "vitest";
import { Conversation } from "../kit/gateway/real-policy.ts";

const head = `
flow: {mode: none}
labels:
  desk.read: {effects: [read.local]}
  desk.pay: {effects: [write.local]}
  desk.approve: {effects: [write.local]}
  desk.send: {effects: [write.local]}
`;
const open = `{id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}`;
const tools = { desk: ["read", "pay", "approve", "send"] };

function underRule(rule: string): Conversation {
  return new Conversation(`${head}rules:\n  - ${open}\n  - ${rule}\n`, tools);
}

describe("at most", () => {
  it("counts from dispatch: the third leaves the gateway never", async () => {
    const talk = underRule(`{id: R1, tier: block, atMost: {of: desk.send, count: 2}, why: "two mails"}`);
    talk.answer = () => undefined;
    await talk.call("desk.send");
    await talk.call("desk.send");
    const third = await talk.call("desk.send");
    expect(third).toMatchObject({ refused: true, text: expect.stringMatching(/Not executed/) });
    expect(talk.reached).toEqual(["desk.send", "desk.send"]);
  });

  it("in a window: later it is allowed again", async () => {
    const talk = underRule(`{id: R1, tier: block, atMost: {of: desk.send, count: 1, within: 10m}, why: "one"}`);
    await talk.call("desk.send");
    expect((await talk.call("desk.send")).refused).toBe(true);
    talk.stage.clock.pass(10 * 60_000);
    expect((await talk.call("desk.send")).refused).toBe(false);
  });

  it("by key: once for each recipient, whatever the case of its domain (example 15)", async () => {
    const rule = `{id: R1, tier: block, atMost: {of: desk.send, count: 1, key: {argument: to, form: email}}, why: "one each"}`;
    const talk = underRule(rule);
    expect((await talk.call("desk.send", { to: "bob@X.com" })).refused).toBe(false);
    expect((await talk.call("desk.send", { to: "bob@x.com" })).refused).toBe(true);
    expect((await talk.call("desk.send", { to: ["eve@x.com", "bob@x.com"] })).refused).toBe(true);
    expect((await talk.call("desk.send", { to: "eve@x.com" })).refused).toBe(false);
  });
});

describe("budget", () => {
  it("adds up exactly and refuses what no longer fits", async () => {
    const talk = underRule(
      `{id: R2, tier: block, budget: {of: desk.pay, argument: amount, limit: "1.00"}, why: "one euro"}`,
    );
    for (let time = 0; time < 9; time += 1) expect((await talk.call("desk.pay", { amount: 0.1 })).refused).toBe(false);
    expect((await talk.call("desk.pay", { amount: "0.11" })).refused).toBe(true);
    expect((await talk.call("desk.pay", { amount: "0.10" })).refused).toBe(false);
    expect((await talk.call("desk.pay", { amount: "0.01" })).refused).toBe(true);
    expect(talk.reached).toHaveLength(10);
  });

  it("an amount that is no number does not pass", async () => {
    const talk = underRule(`{id: R2, tier: block, budget: {of: desk.pay, argument: amount, limit: 5}, why: "five"}`);
    for (const given of [{}, { amount: "many" }, { amount: -3 }, { amount: { value: 1 } }]) {
      expect((await talk.call("desk.pay", given)).refused, JSON.stringify(given)).toBe(true);
    }
    expect(talk.reached).toEqual([]);
  });
});

describe("timers", () => {
  it("a permission ends with its time", async () => {
    const talk = underRule(
      `{id: R3, tier: must, gate: {before: desk.pay, need: desk.approve, within: 5m}, why: "approved first"}`,
    );
    await talk.call("desk.approve");
    talk.stage.clock.pass(5 * 60_000 - 1);
    expect((await talk.call("desk.pay")).refused).toBe(false);
    talk.stage.clock.pass(1);
    const late = await talk.call("desk.pay");
    expect(late.refused).toBe(true);
    expect(late.text).toMatch(/approve/);
  });

  it("a lock opens with its time", async () => {
    const talk = underRule(
      `{id: R4, tier: block, absence: {after: desk.read, never: desk.send, within: 10m}, why: "not at once"}`,
    );
    await talk.call("desk.read");
    expect((await talk.call("desk.send")).refused).toBe(true);
    talk.stage.clock.pass(10 * 60_000);
    expect((await talk.call("desk.send")).refused).toBe(false);
  });
});

describe("hazards without any rule", () => {
  const leak = `
flow: {mode: strict}
lattice: {confidentiality: [public, private]}
labels:
  desk.read: {effects: [read.local], output: {confidentiality: public, trust: trusted, fields: {"/structuredContent/secret": private}}}
  desk.send: {effects: [write.external.send], args: {text: {role: content}}}
  desk.pay: {effects: [write.local]}
  desk.approve: {effects: [write.local]}
hazards:
  H1: {consent: never, why: "secrets stay here", never: {flow: {from: {confidentiality: private}, to: {effect: write.external}}}}
  H2: {consent: never, why: "no mail after paying", never: {sequence: {after: desk.pay, never: desk.send}}}
rules:
  - ${open}
`;

  it("a flow is stopped before it leaves, and the sentence names the hazard's rule, never the value", async () => {
    const talk = new Conversation(leak, tools, {
      answer: (tool) =>
        tool === "read" ? { content: [], structuredContent: { secret: "the code is 4711" } } : { content: [] },
    });
    expect((await talk.call("desk.send", { text: "hello" })).refused).toBe(false);
    await talk.call("desk.read");
    const stopped = await talk.call("desk.send", { text: "the code is 4711" });
    expect(stopped.refused).toBe(true);
    expect(stopped.text).not.toContain("4711");
    expect(talk.reached).toEqual(["desk.send", "desk.read"]);
  });

  it("a field's label holds for the field: a result without it raises nothing", async () => {
    const talk = new Conversation(leak, tools, {
      answer: () => ({ content: [], structuredContent: { title: "lunch" } }),
    });
    await talk.call("desk.read");
    expect((await talk.call("desk.send", { text: "lunch" })).refused).toBe(false);
  });

  it("a sequence is stopped", async () => {
    const talk = new Conversation(leak, tools);
    await talk.call("desk.pay");
    expect((await talk.call("desk.send", { text: "hello" })).refused).toBe(true);
    expect(talk.reached).toEqual(["desk.pay"]);
  });
});
