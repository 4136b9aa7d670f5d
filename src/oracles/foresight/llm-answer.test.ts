import { expect, it } from "vitest";
import { answerSchema, readJson } from "./llm-answer.ts";

const tools = [
  { shown: "mail.send", name: "mail.send", effects: ["write.external.send"] },
  { shown: "tool-2", name: "odd name", effects: [] },
];

it("offers nothing but listed tools, under the names that are shown", () => {
  expect(answerSchema(tools)).toMatchObject({
    properties: { filtered_tools: { items: { enum: ["mail.send", "tool-2"] } } },
    additionalProperties: false,
  });
  // An empty enumeration is no schema.
  expect(answerSchema([])).toMatchObject({ properties: { filtered_tools: { items: { type: "string" } } } });
});

const answer = '{"next_state": "n", "reasoning": "r", "safety": "critical", "filtered_tools": ["mail.send"]}';

it.each([answer, `\`\`\`json\n${answer}\n\`\`\``, `Here it is: ${answer} Anything else?`])("reads %j", (text) => {
  const value = { nextState: "n", reasoning: "r", safety: "critical", filtered: ["mail.send"] };
  expect(readJson(text)).toEqual({ ok: true, value });
});

it.each([
  ["", "its answer is not a JSON object"],
  ["safe", "its answer is not a JSON object"],
  ['{"safety": "safe"', "its answer is not a JSON object"],
  ['{"safety": "safe", "filtered_tools": [}', "its answer is not a JSON object"],
  ['{"safety": "fine", "filtered_tools": []}', "its answer has no label"],
  ['{"safety": ["safe"], "filtered_tools": []}', "its answer has no label"],
  ['{"safety": "unsafe", "safety": "safe", "filtered_tools": []}', "its answer can be read in two ways"],
])("reads nothing from %j", (text, error) => {
  expect(readJson(text)).toEqual({ ok: false, error });
});

it("tells an empty list from none, and counts what is no name", () => {
  const listOf = (list: string) => {
    const read = readJson(`{"safety": "safe", "filtered_tools": ${list}}`);
    return read.ok ? read.value.filtered : "?";
  };
  expect(listOf("[]")).toEqual([]);
  expect(listOf('"mail.send"')).toBeUndefined();
  expect(listOf("[1, null]")).toEqual(["", ""]);
});
