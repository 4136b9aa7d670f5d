import { expect, it } from "vitest";
import { serverQuestionsMin, serverRequestsOpenMax } from "../ports/limits.ts";
import { OpenQuestions } from "./open-questions.ts";

const fill = (questions: OpenQuestions, server: string, prefix = ""): number => {
  let opened = 0;
  while (questions.open({ server, id: `${prefix}${opened}` }) !== undefined) opened += 1;
  return opened;
};

it("a server that asks without end leaves the others their shares, and the gateway its own", () => {
  const questions = new OpenQuestions(4);
  expect(fill(questions, "a")).toBe(serverRequestsOpenMax / 4);
  expect(fill(questions, "b")).toBe(serverRequestsOpenMax / 4);
  // A question of the gateway goes over the server that it is about.
  expect(fill(questions, "a", "sluicegate:ask-")).toBe(serverRequestsOpenMax);
});

it("a question that is over gives its place back, once", () => {
  const questions = new OpenQuestions(1);
  const id = questions.open({ server: "a", id: 7 }) ?? "";
  fill(questions, "a");
  expect(questions.idOf("a", 7)).toBe(id);
  expect(questions.idOf("b", 7)).toBeUndefined();
  expect(questions.take(id)).toEqual({ server: "a", id: 7 });
  expect([questions.take(id), questions.take(null), questions.take(3)]).toEqual([undefined, undefined, undefined]);
  expect(fill(questions, "a")).toBe(1);
});

it("among very many servers each has a few places", () => {
  expect(fill(new OpenQuestions(256), "a")).toBe(serverQuestionsMin);
});
