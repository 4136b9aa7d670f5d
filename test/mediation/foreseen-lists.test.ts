// D25: what models say of lists and calls is on record in the run: the next list costs no second question, and what was hidden
// stays hidden as `filter.mode` says, also over a restart.
import { expect, it } from "vitest";
import { member, stringMember } from "../../src/core/json.ts";
import type { Answer, Question } from "../../src/core/opinion.ts";
import { FakeLog } from "../kit/gateway/fake-log.ts";
import { Conversation } from "../kit/gateway/real-policy.ts";

const policy = (regulation = ""): string => `
servers: {desk: {trust: trusted}}
labels:
  desk.read: {effects: read.local, output: {confidentiality: public, trust: trusted}}
  desk.write: {effects: write.local, args: {text: {role: content, sink: false}}, output: {confidentiality: public, trust: trusted}}
  desk.share: {effects: write.local, args: {text: {role: content, sink: false}}, output: {confidentiality: public, trust: trusted}}
regulation: {models: {embedded: true}${regulation}}
rules: [{id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}]
`;
const tools = { desk: ["read", "write", "share"] };

/** A model that hides some tools, and counts its questions: `list`, or the name of the tool that is called. */
class Model {
  readonly asked: string[] = [];
  hides: readonly string[] = [];

  readonly oracle = async (questions: readonly Question[]): Promise<readonly Answer[]> =>
    questions.map((question) => {
      this.asked.push(stringMember(member(question.content, "pending"), "tool") ?? "list");
      const filteredTools = [...this.hides];
      return { kind: "known", question, value: { safety: "critical", pUnsafe: 0, filteredTools } };
    });

  /** The questions since the last time. */
  news(): readonly string[] {
    return this.asked.splice(0);
  }
}

function talking(regulation?: string, log = new FakeLog()) {
  const model = new Model();
  return { model, log, talk: new Conversation(policy(regulation), tools, { oracle: model.oracle, log }) };
}

it("a list is asked about once for a state, and not again after a call that was predicted", async () => {
  const { model, talk } = talking();
  expect(await talk.list("desk")).toEqual(["read", "write", "share"]);
  expect(model.news()).toEqual(["list"]);
  model.hides = ["desk.share"];
  expect((await talk.call("desk.write", { text: "a" })).refused).toBe(false);
  expect(model.news()).toEqual(["write"]);
  expect(await talk.list("desk")).toEqual(["read", "write"]);
  expect((await talk.call("desk.share", { text: "a" })).refused).toBe(true);
  expect(model.news()).toEqual([]);
});

it("a call without a list before it asks about both at once, and the next call about itself alone", async () => {
  const { model, talk } = talking();
  await talk.call("desk.write", { text: "a" });
  expect(model.news().toSorted()).toEqual(["list", "write"]);
  await talk.call("desk.write", { text: "b" });
  expect(model.news()).toEqual(["write"]);
});

it("a plain read is not judged, so the list after it is asked about", async () => {
  const { model, talk } = talking();
  await talk.call("desk.write", { text: "a" });
  model.news();
  await talk.call("desk.read");
  expect(model.news()).toEqual([]);
  expect(await talk.list("desk")).toHaveLength(3);
  expect(model.news()).toEqual(["list"]);
});

it.each([
  ["replace", ["read", "write", "share"], ["read", "write", "share"]],
  ["accumulate", ["read", "write"], ["read", "write"]],
  ["lease, ttl: 1m", ["read", "write"], ["read", "write", "share"]],
])("a tool that a model hid in a list comes back as the mode says: %s", async (mode, soon, later) => {
  const { model, talk } = talking(`, filter: {mode: ${mode}}`);
  model.hides = ["desk.share"];
  expect(await talk.list("desk")).toEqual(["read", "write"]);
  model.hides = [];
  await talk.call("desk.write", { text: "a" });
  expect(await talk.list("desk")).toEqual(soon);
  expect((await talk.call("desk.share", { text: "b" })).refused).toBe(soon.length === 2);
  talk.stage.clock.pass(61_000);
  expect(await talk.list("desk")).toEqual(later);
});

it("what a list hid is on record with the answer, and is still hidden after a restart", async () => {
  const { model, log, talk } = talking(", filter: {mode: accumulate}");
  model.hides = ["desk.share"];
  await talk.list("desk");
  const entry = log.entries.find(({ events }) => events.some(({ kind }) => kind === "foreseen"));
  expect(entry?.events).toMatchObject([{ kind: "foreseen", filter: { hides: ["desk.share"], asks: [] } }]);
  expect(Object.values(entry?.answers ?? {})).toMatchObject([{ value: { filteredTools: ["desk.share"] } }]);
  await talk.call("desk.write", { text: "a" });
  const again = talking(", filter: {mode: accumulate}", log);
  await again.talk.stage.gateway.restore();
  expect(await again.talk.list("desk")).toEqual(["read", "write"]);
  expect((await again.talk.call("desk.share", { text: "b" })).refused).toBe(true);
});

it("a refused call is asked about at once with its list, and the list after it is known", async () => {
  const { model, talk } = talking();
  model.hides = ["desk.share"];
  expect((await talk.call("desk.share", { text: "a" })).refused).toBe(true);
  expect(model.news().toSorted()).toEqual(["list", "share"]);
  expect(await talk.list("desk")).toEqual(["read", "write"]);
  expect(model.news()).toEqual([]);
});
