/** A call that acts and names nothing, after untrusted data came in (docs/semantics.md 6). */
import { describe, expect, it } from "vitest";
import { Conversation } from "../kit/gateway/real-policy.ts";

const policy = (mode: string, rules = "") => `
flow: {mode: ${mode}}
labels:
  web.read: {effects: [read.local], output: {confidentiality: public, trust: untrusted}}
  web.fetch:
    effects: [read.external]
    args: {url: {role: destination, sink: true}}
    output: {confidentiality: public, trust: trusted}
  own.read: {effects: [read.local], output: {confidentiality: public, trust: trusted}}
  desk.wipe:
    effects: [write.local.delete]
    args: {to: {role: identifier}, note: {role: content}}
    output: {confidentiality: public, trust: trusted}
  desk.publish: {effects: [write.external.publish]}
  desk.pay: {effects: [write.local], flags: [irreversible], args: {amount: {role: amount}}}
  desk.note: {effects: [write.local]}
${rules}`;
const tools = { web: ["read", "fetch"], own: ["read"], desk: ["wipe", "publish", "pay", "note"] };
const talking = (mode: string, rules?: string): Conversation => new Conversation(policy(mode, rules), tools);

const empty = [
  {},
  { to: null },
  { to: true },
  { to: [] },
  { to: {} },
  { to: [null, { a: false }] },
  { to: "" },
  { note: "x" },
];

describe.each(["strict", "provenance"])("in the mode %s", (mode) => {
  it.each(empty)("a call that acts with %j asks once untrusted data came in, and not before", async (given) => {
    const talk = talking(mode);
    expect((await talk.call("desk.wipe", given)).refused).toBe(false);
    await talk.call("own.read");
    expect((await talk.call("desk.wipe", given)).refused).toBe(false);
    await talk.call("web.read");
    const asked = await talk.call("desk.wipe", given);
    expect(asked.refused).toBe(true);
    expect(asked.text).toMatch(/names nothing|untrusted/);
  });

  it("so do a publication and a call that is hard to undo; what only reads or writes at home does not", async () => {
    const talk = talking(mode);
    await talk.call("web.read");
    expect((await talk.call("desk.publish")).refused).toBe(true);
    expect((await talk.call("desk.pay")).refused).toBe(true);
    for (const name of ["desk.note", "web.fetch", "own.read"]) expect((await talk.call(name)).refused).toBe(false);
  });

  it("an argument that the tool does not declare makes no call traceable", async () => {
    const talk = talking(mode);
    await talk.call("web.read");
    expect((await talk.call("desk.publish", { theme: "dark" })).refused).toBe(true);
    expect((await talk.call("desk.wipe", { theme: 1, to: null })).refused).toBe(true);
  });

  it("an allow rule for the tool lifts the question", async () => {
    const talk = talking(mode, 'rules: [{id: A, tier: allow, when: desk.wipe, why: "wiping is harmless"}]');
    await talk.call("web.read");
    expect((await talk.call("desk.wipe")).refused).toBe(false);
  });
});

it("where flows are not followed nothing of it is asked", async () => {
  const talk = talking("none");
  await talk.call("web.read");
  expect((await talk.call("desk.wipe")).refused).toBe(false);
});
