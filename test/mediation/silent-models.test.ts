// D25: a call that acts and that a configured model does not judge asks, whatever way the model fails; the policy may want
// otherwise. No model configured, or a game that has decided: nothing is asked for the model's sake.
import { expect, it } from "vitest";
import { member, stringMember } from "../../src/core/json.ts";
import type { Answer, Question, Silence } from "../../src/core/opinion.ts";
import { Conversation } from "../kit/gateway/real-policy.ts";

const policy = (regulation: string): string => `
servers: {desk: {trust: trusted}}
labels:
  desk.read: {effects: read.local, output: {confidentiality: public, trust: trusted}}
  desk.write: {effects: write.local, args: {text: {role: content, sink: false}}, output: {confidentiality: public, trust: trusted}}
${regulation}
rules: [{id: ALL, tier: allow, when: {tool: "*"}, why: "all may pass"}]
`;
const judged = "regulation: {models: {embedded: true}}";
type Answering = (questions: readonly Question[]) => Promise<readonly Answer[]>;
const tools = { desk: ["read", "write"] };

const none =
  (silence: Silence): Answering =>
  async (questions) =>
    questions.map((question): Answer => ({ kind: "unavailable", question, cause: "it says nothing", silence }));

async function asked(oracle: Answering, regulation = judged) {
  const talk = new Conversation(policy(regulation), tools, { oracle });
  const { refused, text } = await talk.call("desk.write", { text: "hello" });
  return { refused, text, reached: talk.reached };
}

it.each<[string, Answering, RegExp]>([
  ["does not answer in time", none("late"), /the model that judges `desk\.write` did not answer in time/],
  ["answers what cannot be read", none("garbled"), /the answer of the model that judges `desk\.write` cannot be read/],
  ["is down", none("down"), /the model that judges `desk\.write` cannot be reached/],
  ["is not asked", none("unasked"), /the model that judges `desk\.write` could not be asked/],
  ["fails", () => Promise.reject(new Error("secret")), /the model that judges `desk\.write` cannot be reached/],
  ["leaves the question out", async () => [], /the model that judges `desk\.write` did not answer in time/],
])("a call that acts asks where the model %s, and the question says so", async (_how, oracle, sentence) => {
  const { refused, text, reached } = await asked(oracle);
  expect(text).toMatch(sentence);
  expect(text).not.toContain("secret");
  expect([refused, reached]).toEqual([true, []]);
});

it.each([
  ["allow", [false, ["desk.write"]]],
  ["confirm", [true, []]],
  ["deny", [true, []]],
])("`onSilence: %s` is what the policy wants", async (onSilence, outcome) => {
  const { refused, reached } = await asked(
    none("down"),
    `regulation: {models: {embedded: true}, onSilence: ${onSilence}}`,
  );
  expect([refused, reached]).toEqual(outcome);
});

it("a read passes, a list stays whole, and without a model nothing is asked", async () => {
  const questions: Question[] = [];
  const oracle: Answering = (all) => {
    questions.push(...all);
    return none("down")(all);
  };
  const talk = new Conversation(policy(judged), tools, { oracle });
  expect((await talk.call("desk.read")).refused).toBe(false);
  expect(questions).toHaveLength(1);
  const without = await asked(oracle, "");
  expect([without.refused, without.reached, questions.length]).toEqual([false, ["desk.write"], 1]);
});

it("an approver who consents lets the call through, once for all of its reasons", async () => {
  let cards = 0;
  const human = async () => {
    cards += 1;
    return { choice: "once", by: "ann" } as const;
  };
  const talk = new Conversation(policy(judged), tools, { oracle: none("late"), human });
  expect((await talk.call("desk.write", { text: "hello" })).refused).toBe(false);
  expect([cards, talk.reached]).toEqual([1, ["desk.write"]]);
});

it("a call that a rule refuses is refused without a word about the model", async () => {
  const closed = policy(judged).replace("tier: allow", "tier: block");
  const talk = new Conversation(closed, tools, { oracle: none("down") });
  const { text } = await talk.call("desk.write", { text: "hello" });
  expect(text).toMatch(/rule ALL|all may pass/);
  expect(text).not.toMatch(/model/);
});

it("`judge: all` has the model asked about reads, whose silence is no question by itself", async () => {
  const pending: string[] = [];
  const oracle: Answering = (all) => {
    for (const { content } of all) pending.push(stringMember(member(content, "pending"), "tool") ?? "the list");
    return none("down")(all);
  };
  const talk = new Conversation(policy("regulation: {models: {embedded: true}, judge: all}"), tools, { oracle });
  expect((await talk.call("desk.read")).refused).toBe(false);
  expect(pending.toSorted()).toEqual(["read", "the list"]);
  const unsafe: Answering = async (all) =>
    all.map((question) => ({ kind: "known", question, value: { safety: "unsafe", pUnsafe: 1, filteredTools: [] } }));
  const careful = new Conversation(policy("regulation: {models: {embedded: true}, judge: all}"), tools, {
    oracle: unsafe,
  });
  expect((await careful.call("desk.read")).text).toMatch(/may lead to looks unsafe/);
  expect(careful.reached).toEqual([]);
});
