import { expect, test } from "vitest";
import { fitLogistic, scoreOf } from "./fit.ts";
import { isRight } from "./right.ts";
import { scoreLabels } from "./score.ts";

const pull = { known: 0.1, word: 0.1, bias: 0.1 };
const row = (signs: readonly string[], yes: boolean) => ({ signs, yes, weight: 1 });

test("a fit finds the sign that tells, is the same each time, and leaves what no row shows at its prior", () => {
  const rows = Array.from({ length: 20 }, (_, index) =>
    row(index % 2 === 0 ? ["a", "c"] : ["b", "c"], index % 2 === 0),
  );
  const weights = fitLogistic(rows, { never: 2 }, pull);
  expect(scoreOf(weights, ["a"])).toBeGreaterThan(1);
  expect(scoreOf(weights, ["b"])).toBeLessThan(-1);
  expect(weights["never"]).toBeCloseTo(2, 2);
  expect(fitLogistic(rows, { never: 2 }, pull)).toEqual(weights);
});

const label = (must: readonly string[], may: readonly string[], sink: boolean) => ({
  tool: "t",
  effects: { must, may },
  args: new Map([["to", ["recipient"]]]),

  sink,
});

test("a tool that may act is never right as one that reads", () => {
  expect(isRight(["read.local"], label(["read.local"], ["read.local", "write.local"], true))).toBe(false);
  expect(isRight(["read.local", "read.external"], label(["read.local"], ["read.local"], false))).toBe(true);
  expect(isRight(["read.external"], label(["read.local"], ["read.local"], false))).toBe(false);
  expect(isRight(["write.local"], label([], ["write.external"], true))).toBe(false);
  // What is accepted permits nothing that it does not name, and a path covers its longer forms.
  expect(isRight(["write.external"], label([], ["write.external.send"], true))).toBe(true);
});

test("sinks that are read are counted by name, and rules without a reading stand beside", () => {
  const listed = [
    { name: "send_mail", description: "Sends a mail.", inputSchema: { properties: { to: { type: "string" } } } },
  ];
  const tools = [{ ...label(["write.external.send"], ["write.external.send"], true), tool: "send_mail" }];
  const wrongly = { server: "s", listed, tool: { name: "get_weather", description: "Gets the weather." } };
  const score = scoreLabels({
    servers: [{ server: "mail", seen: false, listed, tools }],
    sinks: [wrongly, { server: "mail", listed, tool: listed[0] ?? {} }],
    absent: ["x"],
  });
  expect(score.rows.map(({ part, variant, tools: count }) => [part, variant, count])).toEqual([
    ...["reading", "nothing known", "first verb", "annotations believed"].map((variant) => ["seen", variant, 0]),
    ...["reading", "nothing known", "first verb", "annotations believed"].map((variant) => ["unseen", variant, 1]),
  ]);
  const read = score.rows[4];
  expect(read).toMatchObject({ effects: { f1: 1 }, critical: { f1: 1 }, reads: { all: 0, stated: 0 }, sinksRead: [] });
  expect(score.sinks).toEqual({ all: 2, read: ["s.get_weather"] });
});
