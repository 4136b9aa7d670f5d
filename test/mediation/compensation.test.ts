// Calls that the gateway makes up for at the end of a run (M4 of formal.md 4.3; docs/decisions/0039).
import { describe, expect, it } from "vitest";
import { FakeLog } from "../kit/gateway/fake-log.ts";
import { Conversation, type ConversationOptions } from "../kit/gateway/real-policy.ts";

const tools = { shop: ["book", "pay", "cancel", "look"] };
const cancel = 'call: {tool: shop.cancel, arguments: {of: "{call/id}"}}';
const policy = (more = cancel, rules = ""): string => `
flow: {mode: none}
labels:
  shop.book: {effects: [write.local]}
  shop.pay: {effects: [write.local]}
  shop.cancel: {effects: [write.local]}
  shop.look: {effects: [read.local]}
rules:
  - {id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}
  - {id: PAID, tier: must, byEnd: {after: shop.book, by: shop.pay, action: compensate, ${more}}, why: "bookings are paid"}
${rules}`;
const keyed = `key: id, ${cancel}`;

const talking = (text: string, options: ConversationOptions = {}) => new Conversation(text, tools, options);

/** Tool names, each with an id behind a colon where one is given. */
async function play(talk: Conversation, calls: string): Promise<Conversation> {
  for (const call of calls.split(" ")) {
    const [tool = "", id] = call.split(":");
    await talk.call(`shop.${tool}`, id === undefined ? {} : { id });
  }
  return talk;
}

/** Ids that were cancelled, in order. */
const cancelled = ({ stage }: Conversation) =>
  stage.log
    .events()
    .flatMap((event) =>
      event.kind === "dispatched" && event.option.class.tool === "cancel" ? [event.arguments["of"] ?? null] : [],
    );

describe("D27: compensation at the end of a run", () => {
  it.each([
    ["book:a", ["a"]],
    ["book:a pay", []],
    ["pay book:a", ["a"]],
    ["book:a pay book:b", ["b"]],
    ["book:a book:b", ["b", "a"]],
    ["book:a book:b pay", []],
    ["look", []],
  ])("[%s] cancels %j", async (calls, wanted) => {
    const talk = await play(talking(policy()), calls);
    expect(await talk.end()).toEqual([]);
    expect(cancelled(talk)).toEqual(wanted);
  });

  it.each([
    ["book:a book:b pay:a", ["b"]],
    ["book:a pay:b", ["a"]],
    ["book:a book:a pay:a", []],
    ["pay:a book:a", ["a"]],
  ])("by key: [%s] cancels %j", async (calls, wanted) => {
    const talk = await play(talking(policy(keyed)), calls);
    expect(await talk.end()).toEqual([]);
    expect(cancelled(talk)).toEqual(wanted);
  });

  it("is on record before it is sent, with its outcome, and nothing of its result is released", async () => {
    const talk = await play(talking(policy()), "book:a");
    await talk.end();
    const kinds = talk.stage.log.events().flatMap((event) => (event.kind === "begun" ? [] : [event.kind]));
    expect(kinds.slice(-4)).toEqual(["dispatched", "succeeded", "released", "ended"]);
    expect(talk.stage.log.events().at(-2)).toMatchObject({ kind: "released", tool: "cancel", how: "reject" });
  });

  it("what the agent cancels itself is not cancelled again, and nothing is cancelled for it twice", async () => {
    const talk = talking(policy());
    await play(talk, "book:a book:b");
    await talk.call("shop.cancel", { of: "a" });
    await talk.call("shop.cancel", { of: "other" });
    talk.reached.length = 0;
    expect(await talk.end()).toEqual([]);
    expect(cancelled(talk)).toEqual(["a", "other", "b"]);
    expect(talk.reached).toEqual(["shop.cancel"]);
  });

  it("a call that surely had no effect is not made up for; one that failed is", async () => {
    const failing = { content: [], isError: true };
    const talk = talking(policy(), { answer: (tool) => (tool === "book" ? failing : { content: [] }) });
    await play(talk, "book:a");
    await talk.end();
    expect(cancelled(talk)).toEqual(["a"]);
  });

  it.each([
    ["fails", { answer: (tool: string) => ({ content: [], isError: tool === "cancel" }) }, "", /it did not succeed/],
    ["is refused", {}, '  - {id: NO, tier: block, when: {tool: shop.cancel}, why: "never"}', /does not permit it/],
    ["asks", {}, '  - {id: NO, tier: confirm, when: {tool: shop.cancel}, why: "ask"}', /does not permit it/],
  ])("one that %s is told, stays owed, and shows in the log and in the state", async (_, options, rules, cause) => {
    const talk = await play(talking(policy(cancel, rules), options), "book:a");
    const told = await talk.end();
    expect(told).toEqual([expect.stringMatching(cause), expect.stringMatching(/SG-BY-END \(rule PAID\)/)]);
    expect(talk.stage.notices.join("\n")).toMatch(cause);
    const notes = talk.stage.log.entries.flatMap(({ notes: one }) => (one?.["moment"] === "compensation" ? [one] : []));
    expect(notes).toMatchObject([{ failed: [expect.stringMatching(/^PAID shop.cancel: /)] }]);
    expect(talk.stage.gateway.state.runObligations.left().map(({ sentence }) => sentence)).toEqual(told);
  });

  it("over a restart the run still knows what it owes, and of which call", async () => {
    const log = new FakeLog();
    await play(talking(policy(), { log }), "book:a");
    const talk = await play(talking(policy(), { log }), "look");
    expect(await talk.end()).toEqual([]);
    expect(cancelled(talk)).toEqual(["a"]);
  });

  it("where no server is connected any more, it is told that the call was not made", async () => {
    const log = new FakeLog();
    await play(talking(policy(), { log }), "book:a");
    const talk = talking(policy(), { log });
    await talk.stage.gateway.restore();
    const [row] = talk.stage.gateway.runs.dormant.all();
    await talk.stage.gateway.runs.endDormant(row?.key ?? "", "expired");
    expect(talk.stage.notices.join("\n")).toMatch(
      /`cancel` of `shop`, .* did not verifiably succeed: its server is not connected. Check before/,
    );
  });

  it("a call whose compensation could not be written is refused, and names the place", async () => {
    const talk = talking(policy());
    const answer = await talk.call("shop.book");
    expect(answer.refused).toBe(true);
    expect(answer.text).toMatch(/`\/id`/);
    expect(talk.reached).toEqual([]);
  });

  it("an injected call goes ahead of it", async () => {
    const first = "  - {id: FIRST, tier: must, inject: {before: shop.cancel, call: {tool: shop.look}}, why: looked at}";
    const talk = await play(talking(policy(cancel, first)), "book:a");
    expect(await talk.end()).toEqual([]);
    expect(talk.reached).toEqual(["shop.book", "shop.look", "shop.cancel"]);
  });

  it.each([
    ["the rule", (text: string) => text.replace("id: PAID, tier: must,", "id: PAID, tier: must, mode: observe,")],
    ["the policy", (text: string) => `mode: observe\n${text}`],
  ])("makes no call of its own where %s only observes", async (_, change) => {
    const talk = await play(talking(change(policy())), "book:a");
    expect((await talk.end()).some((sentence) => sentence.includes("PAID"))).toBe(true);
    expect(cancelled(talk)).toEqual([]);
  });
});
