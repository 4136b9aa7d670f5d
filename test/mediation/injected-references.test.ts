// Injected calls (M3) whose arguments refer to the call that needs them (docs/decisions/0039): "snapshot X before drop X".
import { describe, expect, it } from "vitest";
import { Conversation } from "../kit/gateway/real-policy.ts";

const tools = { db: ["read", "drop", "snapshot"], post: ["note"] };
const policy = (call: string, more = ""): string => `
flow: {mode: provenance}
servers: {db: {trust: trusted}, post: {}}
labels:
  db.read: {effects: [read.local], output: {confidentiality: private, trust: trusted}}
  db.drop: {effects: [write.local], args: {table: {role: identifier}}}
  db.snapshot: {effects: [write.local], args: {of: {role: identifier}, how: {role: content}}}
  post.note: {effects: [write.external.send], args: {text: {role: content, bound: public}}}
rules:
  - {id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}
  - {id: FIRST, tier: must, inject: {before: db.drop, call: ${call}}, why: "what is dropped was saved"}
${more}`;
const snapshot = '{tool: db.snapshot, arguments: {of: "{call/table}", how: "copy of {call/table}, {call/rows}"}}';
const given = { table: "orders", rows: 3 };

/** Arguments with which a tool was really called, in order. */
const sentTo = (talk: Conversation, tool: string) =>
  talk.stage.log
    .events()
    .flatMap((event) => (event.kind === "dispatched" && event.option.class.tool === tool ? [event.arguments] : []));

describe("D27: an injected call refers to the call that needs it", () => {
  it("what is dropped is what was saved first", async () => {
    const talk = new Conversation(policy(snapshot), tools);
    expect((await talk.call("db.drop", given)).text).toBe("drop done");
    await talk.call("db.drop", { table: "users", rows: 7 });
    expect(talk.reached).toEqual(["db.snapshot", "db.drop", "db.snapshot", "db.drop"]);
    expect(sentTo(talk, "snapshot")).toEqual([
      { of: "orders", how: "copy of orders, 3" },
      { of: "users", how: "copy of users, 7" },
    ]);
  });

  it("a reference alone keeps the type of the value", async () => {
    const whole =
      '{tool: db.snapshot, arguments: {of: ["{call/table}"], how: {rows: "{call/rows}", all: "{call/filter}"}}}';
    const talk = new Conversation(policy(whole), tools);
    await talk.call("db.drop", { ...given, filter: { since: null, tags: [1, "a"] } });
    expect(sentTo(talk, "snapshot")).toEqual([
      { of: ["orders"], how: { rows: 3, all: { since: null, tags: [1, "a"] } } },
    ]);
  });

  it.each([
    ["is absent", { table: "orders" }, /`\/rows`/],
    ["is nested deeper than it should be", { table: "orders", rows: { of: 3 } }, /`\/rows` as a text/],
    ["is larger than the limit", { table: "x".repeat(70_000), rows: 3 }, /shorter `\/table`/],
  ])("a call whose argument %s is refused, names the place, and nothing leaves", async (_, wrong, place) => {
    const talk = new Conversation(policy(snapshot), tools);
    const answer = await talk.call("db.drop", wrong);
    expect(answer.refused).toBe(true);
    expect(answer.text).toMatch(place);
    expect(talk.reached).toEqual([]);
  });

  it("what the agent gives is no reference, and names no other argument", async () => {
    const talk = new Conversation(policy(snapshot), tools);
    await talk.call("db.drop", { table: "{call/rows}", rows: "{call/table}" });
    expect(sentTo(talk, "snapshot")).toEqual([{ of: "{call/rows}", how: "copy of {call/rows}, {call/table}" }]);
  });

  it.each(["{call/table}", "dropped table {call/table} today"])(
    "data that must not leave does not leave in `%s`: the call that needs it is refused as well",
    async (text) => {
      const block = '  - {id: LEAK, tier: block, when: {tool: post.note, data: private}, why: "private data stays"}\n';
      const note = `{tool: post.note, arguments: {text: "${text}"}}`;
      const content = [{ type: "text", text: "tables: salaries-of-the-board-2026" }];
      const talk = new Conversation(policy(note, block), tools, { answer: () => ({ content }) });
      await talk.call("db.read");
      await talk.call("post.note", { text: "hello" });
      talk.reached.length = 0;
      expect((await talk.call("db.drop", { table: "salaries-of-the-board-2026" })).refused).toBe(true);
      expect(talk.reached).toEqual([]);
      expect((await talk.call("db.drop", { table: "weather" })).refused).toBe(false);
      expect(talk.reached).toEqual(["post.note", "db.drop"]);
    },
  );

  it("a rule that only observes neither makes the call nor refuses for it", async () => {
    const observing = policy(snapshot).replace("id: FIRST, tier: must,", "id: FIRST, tier: must, mode: observe,");
    const talk = new Conversation(observing, tools);
    expect((await talk.call("db.drop", { table: "orders" })).refused).toBe(false);
    expect(talk.reached).toEqual(["db.drop"]);
  });

  it("a call from the outbox is saved with the arguments with which it was held", async () => {
    const hold = '  - {id: HELD, tier: must, byEnd: {after: db.drop, by: db.read, action: hold}, why: "read first"}\n';
    const talk = new Conversation(policy(snapshot, hold), tools);
    await talk.call("db.drop", given);
    await talk.call("db.read");
    expect(talk.reached).toEqual(["db.read", "db.snapshot", "db.drop"]);
    expect(sentTo(talk, "snapshot")).toMatchObject([{ of: "orders" }]);
  });
});
