// A judge that does not answer holds a list once, not once for each of its entries.
import { expect, it } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import type { Answer, Opinion, Question } from "../../core/opinion.ts";
import { type FakeMechanism, fakePolicy } from "../../../test/kit/gateway/fake-policy.ts";
import { plain, Stage } from "../../../test/kit/gateway/playbook.ts";
import { AskedOnce } from "./exposures.ts";

function question(key: string): Question {
  return { key, mechanism: "fake", kind: "foresight", content: {}, mode: "advisory", without: "allow" };
}

const about = question("the list");

/** Asks the same question about each entry; what is known of it does not matter. */
const asking: FakeMechanism = {
  consider: ({ moment }, _run, _memory, answers): Opinion =>
    moment.kind === "expose" && !answers.has(about.key)
      ? { kind: "needs", questions: [about] }
      : { kind: "settled", verdict: "allow", reasons: [], obligations: [] },
};

const tools = ["one", "two", "three"].map((name) => ({ name, inputSchema: { type: "object" } }));

const answers: Readonly<Record<string, JsonObject>> = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s" } },
  "tools/list": { tools },
};

async function settle(stage: Stage): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    await stage.settle();
    for (const server of stage.servers) {
      for (const { id, method } of server.got.splice(0).map(plain)) {
        const result = typeof method === "string" ? answers[method] : undefined;
        if (id !== undefined && id !== null && result !== undefined) server.say({ id, result });
      }
    }
  }
}

it("the entries of a list ask one question once, whether it is answered or not", async () => {
  let times = 0;
  const oracle = (): Promise<readonly Answer[]> => {
    times += 1;
    return Promise.resolve([]);
  };
  const stage = new Stage({ policy: fakePolicy([asking]), oracle });
  stage.client.say({ id: "i", method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {} } });
  await settle(stage);
  stage.client.say({ id: "l", method: "tools/list" });
  await settle(stage);
  const listed = stage.client.got.map(plain).find(({ id }) => id === "l");
  expect(listed).toMatchObject({ result: { tools: [{ name: "one" }, { name: "two" }, { name: "three" }] } });
  expect(times).toBe(1);
});

it("other questions are still asked, and a known answer is given again", async () => {
  const asked: string[] = [];
  const once = new AskedOnce({
    answer: async (questions) => {
      asked.push(...questions.map(({ key }) => key));
      return questions.map((each): Answer => ({ kind: "known", question: each, value: each.key }));
    },
  });
  const first = question("1");
  const second = question("2");
  expect(await once.answer([first], 1)).toEqual([{ kind: "known", question: first, value: "1" }]);
  expect(await once.answer([first, second], 1)).toMatchObject([{ value: "1" }, { value: "2" }]);
  expect(asked).toEqual(["1", "2"]);
});

it("an oracle that failed is not asked the same again", async () => {
  let times = 0;
  const once = new AskedOnce({
    answer: () => {
      times += 1;
      return Promise.reject(new Error("down"));
    },
  });
  await expect(once.answer([about], 1)).rejects.toThrow("down");
  expect(await once.answer([about], 1)).toEqual([{ kind: "unavailable", question: about, cause: "no answer" }]);
  expect(times).toBe(1);
});
