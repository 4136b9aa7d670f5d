import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../json.ts";
import type { Answer, Question } from "../opinion.ts";
import { forecastAmong, forecastNamesMax, predictionKind } from "./prediction.ts";

function question(kind: string, content: JsonObject): Question {
  return { key: JSON.stringify(content), mechanism: "regulate", kind, content, mode: "advisory", without: "allow" };
}

const known = (about: Question, value: Json): Answer => ({ kind: "known", question: about, value });
const among = (...answers: readonly Answer[]) =>
  forecastAmong(new Map(answers.map((answer) => [answer.question.key, answer])));

const aboutCall = question(predictionKind, { pending: {} });
const nextState = { labels: ["private"], effects: ["write.external.send"], text: "sent" };

describe("the forecast among the answers of a call", () => {
  it("is the next state that a model expected of it", () => {
    expect(among(known(aboutCall, { nextState }))).toEqual({ labels: ["private"], effects: ["write.external.send"] });
  });

  it("is none where nobody was asked, nobody answered, or a list or something else was asked about", () => {
    expect(among()).toBeUndefined();
    expect(among({ kind: "unavailable", question: aboutCall, cause: "slow" })).toBeUndefined();
    expect(among(known(question(predictionKind, {}), { nextState }))).toBeUndefined();
    expect(among(known(question("judge", { pending: {} }), { nextState }))).toBeUndefined();
  });

  it("is none where the answer cannot be read, and bounded where it can", () => {
    for (const value of [null, 7, {}, { nextState: {} }, { nextState: { labels: "private", effects: [] } }]) {
      expect(among(known(aboutCall, value))).toBeUndefined();
    }
    const many = Array.from({ length: forecastNamesMax + 8 }, (_, index) => `l${index}`);
    const found = among(known(aboutCall, { nextState: { labels: [7, ...many], effects: [] } }));
    expect(found?.labels).toHaveLength(forecastNamesMax - 1);
  });
});
