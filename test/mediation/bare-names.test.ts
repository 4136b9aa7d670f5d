/** A rule that names a tool without a server, against a server that the policy does not label (docs/semantics.md 3). */
import { describe, expect, it } from "vitest";
import { Conversation } from "../kit/gateway/real-policy.ts";

const labels = `
flow: {mode: none}
labels:
  shop.drop: {effects: [write.local]}
  shop.list: {effects: [read.local]}
  shop.save: {effects: [write.local]}
`;
const open = `{id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}`;
const tools = { shop: ["drop", "list", "save"], other: ["drop", "list", "save"] };

function under(rule: string): Conversation {
  return new Conversation(`${labels}rules:\n  - ${open}\n  - ${rule}\n`, tools);
}

describe("a bare name in a rule that restricts is a tool of any server", () => {
  it.each(["block", "confirm"])("%s: an unlabelled server that offers the tool is stopped as well", async (tier) => {
    const talk = under(`{id: R, tier: ${tier}, when: drop, why: "tables stay"}`);
    expect((await talk.call("shop.drop")).refused).toBe(true);
    expect((await talk.call("other.drop")).refused).toBe(true);
    expect((await talk.call("other.list")).refused).toBe(false);
    expect(talk.reached).toEqual(["other.list"]);
  });

  it("a counter counts the calls of all servers together", async () => {
    const talk = under(`{id: R, tier: block, atMost: {of: drop, count: 1}, why: "one only"}`);
    expect((await talk.call("other.drop")).refused).toBe(false);
    expect((await talk.call("shop.drop")).refused).toBe(true);
  });

  it("a gate stands before the tool of every server, and only the known tool opens it", async () => {
    const talk = under(`{id: R, tier: must, gate: {before: drop, need: save}, why: "saved first"}`);
    await talk.call("other.save");
    expect((await talk.call("other.drop")).refused).toBe(true);
    await talk.call("shop.save");
    expect((await talk.call("other.drop")).refused).toBe(false);
  });

  it("an allow rule stays with the known tool", async () => {
    const talk = new Conversation(`${labels}rules:\n  - {id: A, tier: allow, when: drop, why: "known"}\n`, tools);
    expect((await talk.call("other.drop")).refused).toBe(true);
    expect((await talk.call("shop.drop")).refused).toBe(false);
  });
});
