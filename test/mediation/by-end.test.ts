// What must have happened by the end of a run (M4 of formal.md 4.3; docs/decisions/0039), under the real policy engine.
import { describe, expect, it } from "vitest";
import { FakeLog } from "../kit/gateway/fake-log.ts";
import { Conversation } from "../kit/gateway/real-policy.ts";

const tools = { desk: ["del", "log", "look"] };
const policy = (rule: string): string => `
flow: {mode: none}
labels:
  desk.del: {effects: [write.local]}
  desk.log: {effects: [write.local]}
  desk.look: {effects: [read.local]}
rules:
  - {id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}
  - {id: LOGGED, tier: must, ${rule}, why: "deletions are logged"}
`;
const byEnd = (action: string, more = ""): string =>
  policy(`byEnd: {after: desk.del, by: desk.log, action: ${action}${more}}`);

/** Tool names, each with an id behind a colon where one is given. */
async function play(talk: Conversation, calls: string): Promise<void> {
  for (const call of calls.split(" ")) {
    const [tool = "", id] = call.split(":");
    await talk.call(`desk.${tool}`, id === undefined ? {} : { id });
  }
}

const owes = async (text: string, calls: string): Promise<boolean> => {
  const talk = new Conversation(text, tools);
  await play(talk, calls);
  return (await talk.end()).some((sentence) => sentence.includes("LOGGED"));
};

describe("D27: what must follow by the end of a run", () => {
  it.each([
    ["del", true],
    ["del log", false],
    ["log del", true],
    ["del log del", true],
    ["del del log", false],
    ["del log del log", false],
    ["log log del", true],
    ["look", false],
    ["del look log look", false],
  ])("report: [%s] owes: %s", async (calls, wanted) => {
    expect(await owes(byEnd("report"), calls)).toBe(wanted);
  });

  it.each([
    ["del:a log:b", true],
    ["del:a log:a", false],
    ["del:a del:b log:a", true],
    ["del:a del:b log:b log:a", false],
    ["del:a log", true],
    ["del log:a", true],
    ["log:a del:a", true],
  ])("report with a key: [%s] owes: %s", async (calls, wanted) => {
    expect(await owes(byEnd("report", ", key: id"), calls)).toBe(wanted);
  });

  it("a log that failed, or has no answer, meets nothing; one that was sent before the deletion neither", async () => {
    const answer = (kept: unknown) => (tool: string) => (tool === "log" ? kept : { content: [] });
    for (const kept of [{ content: [], isError: true }, undefined]) {
      const talk = new Conversation(byEnd("report"), tools, { answer: answer(kept) as never });
      await play(talk, "del log");
      expect((await talk.end()).some((sentence) => sentence.includes("LOGGED"))).toBe(true);
    }
  });

  it("exactly once after another: a call that was made before it was due is no debt", async () => {
    const once = policy("exactlyOnce: {of: desk.log, after: desk.del}").replace(
      "tier: must, exactly",
      "tier: block, exactly",
    );
    expect(await owes(once, "log del")).toBe(false);
    expect(await owes(once, "del")).toBe(true);
  });
});

describe("D27: calls that are held until another has succeeded", () => {
  /** What left, in order. */
  const left = async (text: string, calls: string): Promise<string> => {
    const talk = new Conversation(text, tools);
    await play(talk, calls);
    const sent = talk.stage.log.events().filter(({ kind }) => kind === "dispatched");
    return sent.map((event) => (event.kind === "dispatched" ? event.option.class.tool : "")).join(" ");
  };

  it.each([
    ["del", ""],
    ["del log", "log del"],
    ["log del", "log"],
    ["del log del", "log del"],
    ["del:1 log del:2 log", "log del log del"],
    ["del:1 del:2 log", "log del del"],
    ["del:1 del:2 log del:3", "log del del"],
    ["del:1 look", "look"],
  ])("[%s] sends [%s]", async (calls, wanted) => {
    expect(await left(byEnd("hold"), calls)).toBe(wanted);
  });

  it("with a key each waits for its own", async () => {
    const keyed = byEnd("hold", ", key: id");
    expect(await left(keyed, "del:a del:b log:a")).toBe("log del");
    expect(await left(keyed, "del:a del:b log:a log:b")).toBe("log del log del");
    expect(await left(keyed, "log:a del:a")).toBe("log");
  });

  it("a call whose key cannot be read is refused at once, and says which argument it lacks", async () => {
    const talk = new Conversation(byEnd("hold", ", key: id"), tools);
    const answer = await talk.call("desk.del");
    expect(answer.refused).toBe(true);
    expect(answer.text).toMatch(/`id`/);
    expect(await talk.end()).toEqual([]);
  });

  it("over a restart a held call still waits for a success of after it was asked for", async () => {
    const log = new FakeLog();
    const text = byEnd("hold", ", key: id");
    const before = new Conversation(text, tools, { log });
    await play(before, "log:a del:a");
    const talk = new Conversation(text, tools, { log });
    await play(talk, "log:b look");
    expect(talk.reached).toEqual(["desk.log", "desk.look"]);
    await play(talk, "log:a");
    expect(talk.reached).toEqual(["desk.log", "desk.look", "desk.log", "desk.del"]);
  });

  it("a rule that only observes holds nothing, and tells what is owed", async () => {
    const observing = byEnd("hold").replace("tier: must,", "tier: must, mode: observe,");
    expect(await left(observing, "del log del")).toBe("del log del");
    expect(await owes(observing, "del log del")).toBe(true);
    expect(await owes(observing, "del log")).toBe(false);
  });
});
