// The four kinds of must, through the gateway, under the real policy engine (formal.md 4.3).
import { describe, expect, it } from "vitest";
import { Conversation } from "../kit/gateway/real-policy.ts";

const labels = `
flow: {mode: none}
labels:
  desk.read: {effects: [read.local]}
  desk.pay: {effects: [write.local]}
  desk.notify: {effects: [write.local]}
  desk.backup: {effects: [write.local]}
  desk.delete: {effects: [write.local]}
  post.send: {effects: [write.local]}
`;
const open = `{id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}`;
const tools = { desk: ["read", "pay", "notify", "backup", "delete"], post: ["send"] };
const failed = { content: [{ type: "text", text: "secret words of the server" }], isError: true };

function underRule(rule: string, answer?: ConstructorParameters<typeof Conversation>[2]): Conversation {
  return new Conversation(`${labels}rules:\n  - ${open}\n  - ${rule}\n`, tools, answer);
}

describe("M1: a gate", () => {
  const gate = `{id: R1, tier: must, gate: {before: desk.delete, need: desk.backup}, why: "deletions are backed up"}`;

  it("refuses until the needed call has succeeded, and names it", async () => {
    const talk = underRule(gate);
    const early = await talk.call("desk.delete");
    expect(early.refused).toBe(true);
    expect(early.text).toMatch(/backup/);
    expect(talk.reached).toEqual([]);
    await talk.call("desk.backup");
    expect((await talk.call("desk.delete")).text).toBe("delete done");
    expect(talk.reached).toEqual(["desk.backup", "desk.delete"]);
  });

  it("a failed call unlocks nothing", async () => {
    const talk = underRule(gate, { answer: (tool) => (tool === "backup" ? failed : { content: [] }) });
    await talk.call("desk.backup");
    expect((await talk.call("desk.delete")).refused).toBe(true);
    expect(talk.reached).toEqual(["desk.backup"]);
  });

  it("a call that has not answered yet unlocks nothing", async () => {
    const talk = underRule(gate, { answer: (tool) => (tool === "backup" ? undefined : { content: [] }) });
    await talk.call("desk.backup");
    expect((await talk.call("desk.delete")).refused).toBe(true);
  });

  it("by key: only the thing that was backed up may be deleted", async () => {
    const keyed = gate.replace("need: desk.backup", "need: desk.backup, key: event_id");
    const talk = underRule(keyed);
    await talk.call("desk.backup", { event_id: "a1" });
    expect((await talk.call("desk.delete", { event_id: "b2" })).refused).toBe(true);
    expect((await talk.call("desk.delete", {})).refused).toBe(true);
    expect((await talk.call("desk.delete", { event_id: "a1" })).refused).toBe(false);
  });

  it("another run's success is no success of this one (example 11)", async () => {
    const talk = underRule(gate);
    await talk.call("desk.backup", {}, 7);
    expect((await talk.call("desk.delete", {}, 8)).refused).toBe(true);
    expect((await talk.call("desk.delete", {}, 7)).refused).toBe(false);
  });
});

describe("M2: owed", () => {
  const owed = `{id: R2, tier: must, owed: {after: desk.pay, owe: desk.notify, within: 1}, why: "payments are told"}`;

  it("stops the next consequential call until the debt is met, lets reads through, and names the call", async () => {
    const talk = underRule(owed);
    await talk.call("desk.pay");
    const stopped = await talk.call("post.send");
    expect(stopped.refused).toBe(true);
    expect(stopped.text).toMatch(/notify/);
    expect((await talk.call("desk.read")).refused).toBe(false);
    expect((await talk.call("desk.notify")).refused).toBe(false);
    expect((await talk.call("post.send")).refused).toBe(false);
    expect(await talk.end()).toEqual([]);
  });

  it("a debt left open is said at the end of the run", async () => {
    const talk = underRule(owed);
    await talk.call("desk.pay");
    const owes = await talk.end();
    expect(owes).toEqual([expect.stringMatching(/rule R2.*payments are told.*notify/)]);
    expect(talk.stage.notices.at(-1)).toMatch(/ended: .*R2/);
  });
});

describe("M3: injected", () => {
  const inject = `{id: R3, tier: must, inject: {before: desk.delete, call: {tool: desk.backup, arguments: {all: true}}}, why: "backed up"}`;

  it("the injected call reaches the server first, and nothing of its result is released", async () => {
    const talk = underRule(inject, { answer: (tool) => ({ content: [{ type: "text", text: `${tool} secret` }] }) });
    const answer = await talk.call("desk.delete");
    expect(talk.reached).toEqual(["desk.backup", "desk.delete"]);
    expect(answer.text).toBe("delete secret");
    const released = talk.stage.log.events().filter(({ kind }) => kind === "released");
    expect(released).toMatchObject([
      { tool: "backup", how: "reject" },
      { tool: "delete", how: "pass" },
    ]);
    expect(released[0]).not.toHaveProperty("value");
  });

  it("its failure refuses the call, which never leaves", async () => {
    const talk = underRule(inject, { answer: () => failed });
    const answer = await talk.call("desk.delete");
    expect(answer.refused).toBe(true);
    expect(answer.text).not.toContain("secret words");
    expect(talk.reached).toEqual(["desk.backup"]);
  });

  it("it happens at another server too", async () => {
    const talk = underRule(inject.replace("before: desk.delete", "before: post.send"));
    await talk.call("desk.read");
    await talk.call("post.send");
    expect(talk.reached).toEqual(["desk.read", "desk.backup", "post.send"]);
  });

  it("where its server is not connected the call is refused", async () => {
    const talk = underRule(inject.replace("before: desk.delete", "before: post.send"));
    expect((await talk.call("post.send")).refused).toBe(true);
    expect(talk.reached).toEqual([]);
  });
});

describe("M4: by the end of the run", () => {
  const byEnd = (action: string): string =>
    `{id: R4, tier: must, byEnd: {after: post.send, by: desk.notify, action: ${action}}, why: "mails are recorded"}`;

  it("hold: the call waits, is judged again after a success at another server, and then really leaves", async () => {
    const talk = underRule(byEnd("hold"));
    const held = await talk.call("post.send", { to: "bob" });
    expect(held.text).toMatch(/outbox.*notify/i);
    await talk.call("desk.read");
    expect(talk.reached).toEqual(["desk.read"]);
    await talk.call("desk.notify");
    expect(talk.reached).toEqual(["desk.read", "desk.notify", "post.send"]);
    expect(await talk.end()).toEqual([]);
  });

  it("hold: what is still held at the end never leaves, and the operator is told which call", async () => {
    const talk = underRule(byEnd("hold"));
    await talk.call("post.send", { to: "bob" });
    const owed = await talk.end();
    expect(owed[0]).toMatch(/`send` of `post` was held and never sent/);
    expect(talk.reached).toEqual([]);
    const records = talk.stage.log.entries.filter(({ notes }) => notes?.["moment"] === "outbox");
    expect(records).toMatchObject([
      { notes: { held: "post.send" }, details: { arguments: { to: "bob" } } },
      { notes: { dropped: [expect.stringMatching(/ held$/)] } },
    ]);
  });

  it("hold: the flush obeys the other rules of that moment", async () => {
    const limit = `{id: R6, tier: block, absence: {after: desk.pay, never: post.send}, why: "no mail after paying"}`;
    const talk = underRule(`${byEnd("hold")}\n  - ${limit}`);
    await talk.call("post.send", { to: "bob" });
    await talk.call("desk.pay");
    await talk.call("desk.notify");
    expect(talk.reached).toEqual(["desk.pay", "desk.notify"]);
    expect(talk.stage.notices).toEqual([expect.stringMatching(/never sent: the policy does not permit it any more/)]);
  });

  it("hold: an injected call goes ahead of the flushed one", async () => {
    const inject = `{id: R7, tier: must, inject: {before: post.send, call: {tool: desk.backup}}, why: "backed up"}`;
    const talk = underRule(`${byEnd("hold")}\n  - ${inject}`);
    await talk.call("post.send", { to: "bob" });
    expect(talk.reached).toEqual([]);
    await talk.call("desk.notify");
    expect(talk.reached).toEqual(["desk.notify", "desk.backup", "post.send"]);
  });

  it.each(["compensate", "report"])("%s: the call goes out, and what is owed is said at the end", async (action) => {
    const call = action === "compensate" ? "compensate, call: {tool: desk.notify}" : action;
    const talk = underRule(byEnd(call));
    expect((await talk.call("post.send")).refused).toBe(false);
    // The desk is not connected, so nothing can be made up for.
    expect((await talk.end()).slice(-1)).toEqual([
      expect.stringMatching(/SG-BY-END \(rule R4\): mails are recorded; call .*notify/),
    ]);
  });
});
