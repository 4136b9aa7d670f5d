import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../json.ts";
import type { Answer, Question } from "../opinion.ts";
import { filtersAmong, forecastAmong, forecastNamesMax, predictionKind, readFilter } from "./prediction.ts";

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

describe("the filters among the answers of a call", () => {
  const tools = ["s.a", "s.b", "s.c"].map((name) => ({ name, effects: [] }));
  const list = question(predictionKind, { tools });
  const call = question(predictionKind, { tools, pending: {} });
  const filters = (...answers: readonly Answer[]) =>
    filtersAmong(new Map(answers.map((answer) => [answer.question.key, answer])));

  it("are those of the list and of the call, apart, in the order of the question", () => {
    const asks = { filteredTools: ["s.a"] };
    expect(
      filters(known(list, { filteredTools: ["s.b"] }), known(call, { filteredTools: ["s.c", "s.a"], asks })),
    ).toEqual({ list: { hides: ["s.b"], asks: [] }, call: { hides: ["s.a", "s.c"], asks: ["s.a"] } });
    expect(filters()).toEqual({ list: undefined, call: undefined });
  });

  it("have tools of the question alone, each once", () => {
    const named = ["s.a", "s.a", "s.evil", 7, "x".repeat(10_000)];
    expect(filters(known(list, { filteredTools: named })).list).toEqual({ hides: ["s.a"], asks: [] });
    const odd = question(predictionKind, { tools: [7, {}] });
    expect(filters(known(odd, { filteredTools: ["s.a"] })).list).toEqual({ hides: [], asks: [] });
    expect(filters(known(question(predictionKind, {}), { filteredTools: ["s.a"] })).list).toEqual({
      hides: [],
      asks: [],
    });
  });

  it("are none where there is no answer, it cannot be read, a model was silent, or something else was asked", () => {
    const none = { list: undefined, call: undefined };
    expect(filters({ kind: "unavailable", question: list, cause: "slow" })).toEqual(none);
    for (const value of [
      null,
      "safe",
      {},
      { filteredTools: "s.a" },
      { filteredTools: ["s.a"], asks: { safety: "safe" } },
    ])
      expect(filters(known(list, value))).toEqual(none);
    expect(filters(known(list, { filteredTools: ["s.a"], silence: "late" }))).toEqual(none);
    expect(filters(known(question("judge", { tools }), { filteredTools: ["s.a"] }))).toEqual(none);
  });

  it("are read back from a log as they were written, and from nothing else", () => {
    const filter = { hides: ["s.a"], asks: ["s.b"] };
    expect(readFilter(filter)).toEqual(filter);
    expect(readFilter({ ...filter, policy: "p" })).toEqual({ ...filter, policy: "p" });
    for (const value of [undefined, null, [], {}, { hides: ["s.a"] }, { hides: "s.a", asks: [] }])
      expect(readFilter(value)).toBeUndefined();
  });
});
