// Facts in doubt of a tool that is accepted by one key (decision 0055).
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../core/json.ts";
import { readTools } from "../../oracles/labels/reading.ts";
import { answered } from "./card-acts.ts";
import { cardLines, toolLines } from "./card-text.ts";
import { type CardTool, type SeenTool, makeCard, reviewedTools, toolsOf } from "./card.ts";

const listed: readonly JsonObject[] = [
  {
    name: "list_issues",
    description: "List issues of a repository.",
    inputSchema: {
      type: "object",
      properties: { repository_id: { type: "string" }, blorp: { type: "string" } },
      required: ["repository_id", "blorp"],
    },
  },
  { name: "frobnicate", description: "Frobnicates." },
];

const tools = readTools({ server: "app", tools: listed }).map((reading, place): SeenTool => ({
  name: reading.tool,
  digest: String(place).repeat(64),
  entry: listed[place] ?? {},
  source: "unknown",
  reading,
  findings: [],
  change: undefined,
}));

const card = makeCard({
  server: "app",
  facts: undefined,
  declared: undefined,
  listed: true,
  earlier: [],
  digest: "d".repeat(64),
  tools,
  isolation: undefined,
  scope: [],
  network: { wants: [], opened: [], decided: undefined },
  packs: [],
  probe: undefined,
  answer: undefined,
  until: undefined,
});

function acceptedArguments(reviewed: readonly string[]): readonly unknown[] {
  const done = answered(card, { choice: "accept", reviewed, days: 1, by: "os:1" }, 0);
  if (!done.ok) throw new Error(done.error);
  const state = done.value.change({ readings: [], servers: new Map() });
  if (!state.ok) throw new Error(state.error);
  return state.value.readings.map(({ tool, label }) => [tool, label.args]);
}

describe("a role in doubt", () => {
  it("keeps no tool from being accepted, and is named on the card", () => {
    expect(toolsOf(card).map(({ name, standing }) => [name, standing])).toEqual([
      ["list_issues", "ready"],
      ["frobnicate", "doubtful"],
    ]);
    const [first] = toolsOf(card) as [CardTool];
    const text = cardLines(card).join("\n");
    expect(text).toMatch(/\+ list_issues .*; 1 fact in doubt/);
    expect(text).toMatch(/In doubt, accepted as the worst that it could be[^\n]*\n {2}list_issues: argument `blorp`\n/);
    expect(toolLines(first).join("\n")).toMatch(/\n {2}\? argument `blorp`: /);
  });

  it("is accepted as the worst, and taken at its word after a review", () => {
    // The review asks about it after the tools that stay unknown.
    expect(reviewedTools(card).map(({ name }) => name)).toEqual(["frobnicate", "list_issues"]);
    const repository = { repository_id: "identifier" };
    expect(acceptedArguments([])).toEqual([["list_issues", { ...repository, blorp: "unsure" }]]);
    const [[, reviewed] = []] = acceptedArguments(["list_issues"]) as [string, object][];
    expect(reviewed).toMatchObject(repository);
    expect(reviewed).not.toMatchObject({ blorp: "unsure" });
  });
});
