import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readScenarios } from "./scenario.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluicegate-scenarios-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const tools = { "a.read": { about: "Read", takes: ["name"] }, "a.open": { about: "Open", takes: [] } };

function scenario(change: object = {}): object {
  return {
    id: "one",
    title: "one",
    world: "plain",
    instruction: "do it",
    wrong: [
      { call: "a.open", with: {}, part: "enabler" },
      { fire: "a:all", to: "anyone", part: "risk" },
    ],
    benign: [{ call: "a.read", with: { name: "x" }, hidden: ["a.open"] }],
    ...change,
  };
}

function problem(...scenarios: readonly object[]): string {
  const worlds = { plain: { tools, policy: { version: 1, hazards: { h: {} } } } };
  writeFileSync(join(folder, "file.yaml"), JSON.stringify({ version: 1, worlds, scenarios }));
  const read = readScenarios(folder);
  return read.ok ? "" : read.error;
}

describe("reading scenarios", () => {
  it("lays the scenario's policy over that of its world", () => {
    expect(problem(scenario({ policy: { hazards: { i: {} }, flow: { mode: "strict" } } }))).toBe("");
    const read = readScenarios(folder);
    expect(read.ok && read.value[0]?.policy).toEqual({
      version: 1,
      hazards: { h: {}, i: {} },
      flow: { mode: "strict" },
    });
  });

  it("refuses what would count as a result although it is a slip of the pen", () => {
    expect(problem(scenario({ world: "other" }))).toContain("no world `other`");
    expect(problem(scenario(), scenario())).toContain("used twice");
    expect(problem(scenario({ wrong: [{ fire: "a:all", part: "risk" }] }))).toContain("an enabler");
    expect(problem(scenario({ benign: [{ call: "a.write", with: {} }] }))).toContain("no tool `a.write`");
    expect(problem(scenario({ benign: [{ call: "a.read", with: { title: "x" } }] }))).toContain("takes no `title`");
    expect(problem(scenario({ benign: [{ call: "a.open", with: {}, hidden: ["a.gone"] }] }))).toContain("`a.gone`");
    expect(problem(scenario({ benign: [{ call: "a.open", with: {}, part: "bad" }] }))).toContain("`bad` is not a part");
    expect(problem(scenario({ benign: [{ call: "a.open", with: {}, part: "risk" }] }))).toContain("has no parts");
    expect(problem(scenario({ benign: [] }))).toContain("steps");
    expect(problem(scenario({ title: 3 }))).toContain("give id");
  });

  it("says which folder or file it cannot read", () => {
    expect(readScenarios(join(folder, "gone"))).toMatchObject({ ok: false });
    writeFileSync(join(folder, "broken.yaml"), "scenarios: [");
    const read = readScenarios(folder);
    expect(read.ok ? "" : read.error).toContain("broken.yaml");
  });
});
